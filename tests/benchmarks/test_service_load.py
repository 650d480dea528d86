"""The measurement of the service works from end to end."""

from __future__ import annotations

import json

import pytest

from tests.benchmarks.service_load import main


def test_both_parts_are_measured_without_errors(capfd: pytest.CaptureFixture[str]) -> None:
    """One post a request, and several; on a small window and for a moment."""
    main(["--window", "300", "--seconds", "0.3", "--connections", "8", "--batch", "16"])

    single, several = map(json.loads, capfd.readouterr().out.splitlines())
    assert (single["errors"], several["errors"]) == (0, 0)
    assert (single["posts_a_request"], several["posts_a_request"]) == (1, 16)
    assert several["posts_per_second"] > 0
