"""Progress away from a terminal."""

from __future__ import annotations

import re

import pytest

from hybriddup.run.clock import Clock
from hybriddup.run.progress import Silent
from hybriddup.run.terminal import PlainLines, show_progress


def test_a_finished_step_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    """With what was counted, or the total where nothing was."""
    clock = Clock(PlainLines())
    with clock.step("weigh", 1200, "tokens"):
        pass
    with clock.step("read", 5):
        clock.progress.advance(3)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"weigh: 1,200 tokens in \d+\.\d\d s", lines[0])
    assert re.fullmatch(r"read: 3 posts in \d+\.\d\d s", lines[1])


def test_a_step_that_fails_is_not_called_finished(capsys: pytest.CaptureFixture[str]) -> None:
    """As when it is interrupted."""
    with pytest.raises(KeyboardInterrupt), Clock(PlainLines()).step("weigh", 1200):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == ""


def test_quiet_progress_is_silent() -> None:
    """Nothing is drawn, at a terminal or not."""
    with show_progress(quiet=True) as progress:
        assert isinstance(progress, Silent)
