"""The crowds by which shared windows are checked: what they are, and that they find a store that loses its keepers.

The senders of the check are threads here. In place of kills, a call of the store fails before or after it was done, and
the sender goes on with another window.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from hybriddup import Window
from hybriddup.errors import StoreError
from hybriddup.shared_windows import Entries, Keyed
from hybriddup.steps.guards.opposites import opposites
from hybriddup.testing import ContractError
from tests.plugin_support.crowds import CROWD_CONFIG, MOST_SLOTS, N_TEMPLATES, Crowd, check_answers, make_crowd
from tests.plugin_support.faults import SEED, answers_in, send_posts
from tests.shared_windows.plain_store import LetsNamesGo, Opener, PlainContent, PlainStore

N_SENDERS = 4
LEASE = 0.05
MOST_IN_BUCKET = CROWD_CONFIG["blocks"]["max_bucket_size"]


CALLS = "take", "announce", "hold", "positions_of", "enter", "leave", "records", "change", "finish"


class Unreliable(PlainStore):
    """Does something else in place of a call now and then."""

    def __init__(self, content: PlainContent, words: int) -> None:
        super().__init__(content, words)
        for number, name in enumerate(CALLS):
            random = Random(f"{id(self)} {number}")  # noqa: S311  faults, not secrets
            setattr(self, name, partial(self.instead, getattr(self, name), random))


class Breaks(Unreliable):
    """Fails one of forty calls, before or after it is done."""

    def instead(self, call: Callable[..., Any], random: Random, *given: Any) -> Any:
        moment = random.random() * 80
        if moment < 1:
            raise StoreError("the connection broke before")
        answer = call(*given)
        if moment < 2:
            raise StoreError("the connection broke after")
        return answer


class TriesAgain(Unreliable):
    """Loses one of ten answers, and makes the call again."""

    def instead(self, call: Callable[..., Any], random: Random, *given: Any) -> Any:
        answer = call(*given)
        if random.random() < 0.1:
            time.sleep(random.choice([0.0, 0.01, 2 * LEASE]))
            answer = call(*given)
        return answer


class CutsBuckets(PlainStore):
    """Keeps the newest entries of a bucket, those of posts that are being decided, too."""

    def enter(self, texts: Keyed, keys: np.ndarray) -> Entries:
        found = super().enter(texts, keys)
        with self.content.lock:
            for bucket in self.content.buckets.values():
                for position in sorted(bucket)[:-MOST_IN_BUCKET]:
                    del bucket[position]
        return found


def check_crowd(make: Callable[[PlainContent, int], PlainStore], folder: Path, crowd: Crowd) -> None:
    """Send a crowd to a window over a plain store by several threads, and check the answers."""
    opener = Opener(make, LEASE)

    def send(number: int) -> None:
        window = Reopened(partial(opener, "crowd", config=CROWD_CONFIG, workers=1))
        random = Random(number)  # noqa: S311  posts, not secrets
        send_posts(window, crowd.of_sender(number, N_SENDERS), folder / f"{number}.log", random, 0.5)

    with ThreadPoolExecutor(N_SENDERS) as pool:
        list(pool.map(send, range(N_SENDERS)))
    answers = [answer for log in folder.glob("*.log") for answer in answers_in(log)]
    assert {answer[0] for answer in answers} == set(crowd.group)
    opener.make = PlainStore
    with opener("crowd", config=CROWD_CONFIG) as window:
        check_answers(window, crowd, answers)


class Reopened:
    """A window that is left, with what it began, when its store fails; then another one is opened."""

    def __init__(self, open_window: Callable[[], Window]) -> None:
        self.open_window = open_window

    def __call__(self) -> Reopened:
        self.window = self.open_window()
        return self

    def add_many(self, posts: Sequence[Any]) -> Any:
        try:
            return self.window.add_many(posts)
        except StoreError:
            self.window = self.open_window()
            raise


@pytest.mark.parametrize("make", [PlainStore, Breaks, TriesAgain])
def test_of_a_crowd_one_of_each_group_is_kept(make: type[PlainStore], tmp_path: Path) -> None:
    check_crowd(make, tmp_path, make_crowd(400, 1))


@pytest.mark.parametrize("make", [LetsNamesGo, CutsBuckets])
def test_a_store_that_loses_keepers_fails_the_check(make: type[PlainStore], tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="exactly one is kept"):
        check_crowd(make, tmp_path, make_crowd(400, 1))


def test_whichever_post_of_a_group_comes_first_the_others_repeat_it() -> None:
    crowd = make_crowd(400, SEED)
    assert len(crowd.posts) == len(crowd.group)
    for group in range(2, 2 + N_TEMPLATES):
        texts = list(dict.fromkeys(post["text"] for post in crowd.posts if crowd.group[post["id"]] == group))
        assert len(texts) > 20
        firsts = [text for text in texts if not opposites().keys().isdisjoint(text[-MOST_SLOTS:])]
        assert firsts
        for first in firsts:
            with Window.open(config=CROWD_CONFIG, workers=1) as window:
                assert not any(one.kept for one in window.add_many([first, *texts])[1:])
