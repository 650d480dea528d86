"""What is checked after faults tells a window that broke a promise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hybriddup
from hybriddup.testing import ContractError
from hybriddup.testing.faults import check_answers, make_posts
from hybriddup.testing.window_posts import CONFIG

N_TEXTS = 5


def sent(store: Path, posts: list[dict[str, str]], config: Any = CONFIG) -> list[list[Any]]:
    """Send posts to a window of one's own; return the answers as senders note them."""
    with hybriddup.Window.open(store, config=config) as window:
        return [[one.id, one.kept, one.evidence and one.evidence.of] for one in window.add_many(posts)]


def noted(folder: Path, answers: list[list[Any]]) -> Path:
    """Write what a sender noted."""
    folder.mkdir()
    (folder / "0.log").write_text("".join(json.dumps(one) + "\n" for one in answers))
    return folder


def test_a_window_that_keeps_its_promises_passes(tmp_path: Path) -> None:
    """All posts sent, and all answers as they were given."""
    answers = sent(tmp_path / "window", make_posts(N_TEXTS, 1))
    check_answers(str(tmp_path / "window"), noted(tmp_path / "logs", answers), N_TEXTS)


def test_a_post_that_is_lost_is_told(tmp_path: Path) -> None:
    """Though its sender got an answer."""
    answers = sent(tmp_path / "window", make_posts(N_TEXTS, 1)[:-1])
    with pytest.raises(ContractError, match="what was acknowledged is there"):
        check_answers(str(tmp_path / "window"), noted(tmp_path / "logs", answers), N_TEXTS)


def test_matching_posts_that_are_both_kept_are_told(tmp_path: Path) -> None:
    """Here by a window that finds equal texts only."""
    config = {**CONFIG, "lengths": [{"exact_only": True}]}
    answers = sent(tmp_path / "window", make_posts(N_TEXTS, 1), config)
    with pytest.raises(ContractError, match="exactly one is kept"):
        check_answers(str(tmp_path / "window"), noted(tmp_path / "logs", answers), N_TEXTS)


def test_an_answer_that_did_not_last_is_told(tmp_path: Path) -> None:
    """As senders have noted it."""
    answers = sent(tmp_path / "window", make_posts(N_TEXTS, 1))
    answers[3][1] = not answers[3][1]
    with pytest.raises(ContractError, match="an answer that was given stands"):
        check_answers(str(tmp_path / "window"), noted(tmp_path / "logs", answers), N_TEXTS)
