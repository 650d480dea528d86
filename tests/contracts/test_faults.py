"""The check after faults finds a window that broke a promise."""

from collections.abc import Iterator
from typing import Any

import pytest

import hybriddup
from hybriddup.testing import ContractError
from hybriddup.window.window import Window
from tests.plugin_support.crowds import CROWD_CONFIG, check_answers, make_crowd

CROWD = make_crowd(12, 1)


@pytest.fixture
def window() -> Iterator[Window]:
    with hybriddup.Window.open(config=CROWD_CONFIG) as opened:
        yield opened


def sent(window: Window, posts: list[dict[str, str]]) -> list[list[Any]]:
    """Send posts; return the answers as senders note them."""
    return [[one.id, one.kept, one.evidence and one.evidence.duplicate_of] for one in window.add_many(posts)]


def test_a_window_that_keeps_its_promises_passes(window: Window) -> None:
    answers = sent(window, CROWD.posts)
    check_answers(window, CROWD, answers)
    assert {answer[1] for answer in answers} == {True, False}


def test_a_post_that_is_lost_is_found(window: Window) -> None:
    answers = sent(window, CROWD.posts[:-1])
    with pytest.raises(ContractError, match="what was acknowledged is there"):
        check_answers(window, CROWD, answers)


def test_matching_posts_that_are_both_kept_are_found() -> None:
    with hybriddup.Window.open(config={**CROWD_CONFIG, "lengths": [{"exact_only": True}]}) as window:
        answers = sent(window, CROWD.posts)
        with pytest.raises(ContractError, match="exactly one is kept"):
            check_answers(window, CROWD, answers)


def test_an_answer_that_did_not_last_is_found(window: Window) -> None:
    answers = sent(window, CROWD.posts)
    answers[3][1] = not answers[3][1]
    with pytest.raises(ContractError, match="an answer that was given stands"):
        check_answers(window, CROWD, answers)
