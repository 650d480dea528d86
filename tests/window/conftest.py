"""What the tests of windows share."""

from __future__ import annotations

import pytest

from tests.window.plugins import LEARN_AT


@pytest.fixture
def learns_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have windows learn after a few posts."""
    for module in ("maintenance", "learning"):
        monkeypatch.setattr(f"hybriddup.window.{module}.FIT_AT", LEARN_AT)
