"""Progress away from a terminal."""

import re

import pytest

from hybriddup.run import terminal
from hybriddup.run.progress import Clock, Progress
from hybriddup.run.terminal import Bar, PlainLines, show_progress


@pytest.fixture
def logging() -> Clock:
    """A clock whose steps all have lines, however quick they are."""
    return Clock(PlainLines(least_seconds=0))


def test_a_finished_step_is_one_plain_line(logging: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with logging.step("weigh", 1200, "tokens"):
        pass
    with logging.step("read", 5):
        logging.advance(3)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"weigh: 1,200 tokens in \d+\.\d\d s", lines[0])
    assert re.fullmatch(r"read: 3 posts in \d+\.\d\d s", lines[1])


def test_a_step_that_fails_is_not_called_finished(logging: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    """As when it is interrupted."""
    with pytest.raises(KeyboardInterrupt), logging.step("weigh", 1200):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == ""


def test_a_quick_step_has_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock(PlainLines())
    with clock.step("weigh", 1200):
        clock.progress.note("compiling")
    assert capsys.readouterr().err == "compiling\n"


def shown_by(bar: Bar) -> tuple[float, str]:
    """Return the share of the bar that is full, and what stands beside it."""
    task = bar._bar.tasks[0]
    return round(task.completed / task.total, 6) if task.total else 0.0, f"{task.description}: {task.fields['detail']}"


def test_one_bar_goes_over_the_whole_course(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading is not in it; steps that were left out are passed over; the time left is what the time so far says."""
    now = iter([100.0, *[112.0] * 9])
    monkeypatch.setattr(terminal, "perf_counter", lambda: next(now))
    bar = Bar([("normalize", 0.1), ("exact", 0.1), ("index", 0.2), ("index", 0.6)])
    bar.start("read", None, "posts")
    bar.advance(8192)
    assert shown_by(bar) == (0.0, "read: 8,192 posts")
    bar.finish()
    bar.start("normalize", 10, "posts")
    assert shown_by(bar) == (0.0, "normalize: 0 %")
    bar.finish()
    bar.start("index", 10, "posts")
    bar.advance(5)
    assert shown_by(bar) == (0.3, "index: 30 %, about 28 s left")
    bar.finish()
    bar.start("index", 10, "posts")
    bar.finish()
    assert shown_by(bar) == (1.0, "index: 100 %, about 0 s left")
    bar.close()


def test_steps_without_a_course_have_the_bar_to_themselves() -> None:
    bar = Bar()
    bar.start("learn", 10, "posts")
    bar.advance(5)
    assert shown_by(bar) == (0.5, "learn: 5 of 10 posts")
    bar.start("verify", 4, "pairs")
    assert shown_by(bar) == (0.0, "verify: 0 of 4 pairs")
    bar.close()


def test_quiet_progress_is_silent() -> None:
    with show_progress(quiet=True) as progress:
        assert type(progress) is Progress
