"""The contract checks call components in another process, with another hash seed."""

import sys

import pytest

from tests.processes import python_program


@pytest.fixture(autouse=True)
def _warm_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", python_program())
