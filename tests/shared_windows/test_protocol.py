"""The protocol of shared windows: in every order in which several processes come, stop and end, its promises hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hybriddup.shared_windows.protocol import Steps
from hybriddup.shared_windows.store import UNDECIDED, State
from tests.shared_windows.broken_protocols import (
    LeadsWithoutHolding,
    NeverChallenges,
    NeverWaits,
    RepeatsWhatIsGone,
    ReplacesItsKeptPost,
    altered,
    enters_with_its_first_text_only,
    keeps_from,
    keeps_the_text_of_an_id_it_lost,
    looks_once,
    reads_before_entering,
    reads_keepers_with_their_duplicates,
    sees_as_gone,
    settles_all_at_once,
)
from tests.shared_windows.exploring import Explorer
from tests.shared_windows.toy_posts import Scene

ONE_ID = {"a": "1", "b": "1"}
ONE_ID_EQUAL = {"a": "1", "a2": "1"}
TWO_NEAR = Scene([("a",), ("b",)], ["ab"])
TWO_EQUAL = Scene([("a",), ("a2",)])
CHAIN = Scene([("a", "b"), ("c",)], ["ab", "bc"])
CHAIN_OF_THREE = Scene([("a",), ("b",), ("c",)], ["ab", "bc"])
THREE_NEAR = Scene([("a",), ("b",), ("c",)], ["ab", "bc", "ac"])
TWO_EQUAL_ONE_NEAR = Scene([("a",), ("a2",), ("b",)], ["ab"])
EQUAL_TO_A_DUPLICATE = Scene([("a",), ("b",), ("a2", "b2")], ["ab"])
ONE_OF_ID = Scene([("a",), ("b",)], [], ONE_ID)
EQUAL_OF_ID = Scene([("a",), ("a2",)], [], ONE_ID_EQUAL)
CROSSED_IDS = Scene([("a", "b"), ("b2", "a2")], [], {"a": "1", "b": "2", "b2": "1", "a2": "2"})


def scene(name: str, scene: Scene, slow: bool = False, **events: int) -> object:
    return pytest.param(scene, events, id=name, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(
    ("scene", "events"),
    [
        scene("two near", TWO_NEAR, crashes=2, lapses=2),
        scene("chain in a batch", CHAIN, crashes=1, lapses=1),
        scene("between two of a batch", Scene([("a", "b"), ("c",)], ["ac", "bc"]), crashes=1, lapses=1),
        scene("two equal", TWO_EQUAL, crashes=2, lapses=2),
        scene("a text twice in two batches", Scene([("a", "a2"), ("a3", "a4")]), crashes=1, lapses=2),
        scene("equal to one that is near another", Scene([("a", "b"), ("a2",)], ["ab"]), crashes=1, lapses=1),
        scene("two texts in opposite orders", Scene([("a", "b"), ("b2", "a2")], ["ab"]), sweeps=1),
        scene("two near, given up by others", TWO_NEAR, crashes=1, sweeps=2),
        scene("two of an id, one given up by others", EQUAL_OF_ID, sweeps=1),
        scene("two equal and one near", TWO_EQUAL_ONE_NEAR),
        scene("equal to a post and to its duplicate", EQUAL_TO_A_DUPLICATE),
        scene("one id", ONE_OF_ID, crashes=1, lapses=1),
        scene("one id and near", Scene([("a",), ("b",)], ["ab"], ONE_ID), crashes=1, lapses=1),
        scene("one id and equal", EQUAL_OF_ID, crashes=1, lapses=1),
        scene("one id and two texts", Scene([("a", "b"), ("a2", "b2")], [], {"a": "1", "b2": "1"}), crashes=1),
        scene("two ids and two texts", CROSSED_IDS),
        scene("equal to one that is too old", Scene([("a",), ("a2",)], times={"a2": 20}), crashes=1, lapses=1),
        scene("two equal, and a third too old", Scene([("a",), ("a2",), ("a3",)], times={"a2": 20, "a3": 20})),
        scene("three near in a chain", CHAIN_OF_THREE, slow=True, crashes=2),
        scene("three near", THREE_NEAR, slow=True, crashes=2),
        scene("three near in a chain, one slow", CHAIN_OF_THREE, slow=True, crashes=1, lapses=1),
        scene("three near, one slow", THREE_NEAR, slow=True, lapses=1),
        scene("three equal, one slow", Scene([("a",), ("a2",), ("a3",)]), slow=True, crashes=1, lapses=1),
        scene("two equal and one near, one ends", TWO_EQUAL_ONE_NEAR, slow=True, crashes=1),
        scene("two equal and one near, one slow", TWO_EQUAL_ONE_NEAR, slow=True, lapses=1),
        scene("two equal, given up by others", TWO_EQUAL, slow=True, crashes=1, lapses=1, sweeps=2),
        scene("two near, deleted", TWO_NEAR, crashes=1, deletions=2),
        scene("chain in a batch, deleted", CHAIN, crashes=1, deletions=2),
        scene("two equal, deleted", TWO_EQUAL, crashes=1, deletions=2),
        scene("equal to one near another, deleted", Scene([("a", "b"), ("a2",)], ["ab"]), crashes=1, deletions=1),
        scene("one id and near, deleted", Scene([("a",), ("b",)], ["ab"], ONE_ID), crashes=1, deletions=2),
        scene("one id and equal, deleted", EQUAL_OF_ID, deletions=2),
        scene("three near, deleted", THREE_NEAR, slow=True, crashes=1, deletions=2),
        scene("two equal and one near, deleted", TWO_EQUAL_ONE_NEAR, slow=True, deletions=1),
    ],
)
def test_in_every_order_the_promises_hold(scene: Scene, events: dict[str, int]) -> None:
    assert Explorer(scene).explore(**events) > 50


@pytest.mark.parametrize(
    ("broken", "scene", "events", "message"),
    [
        (NeverChallenges, TWO_NEAR, {}, "are kept"),
        (NeverWaits, TWO_NEAR, {}, "are kept"),
        (looks_once, TWO_NEAR, {}, "are kept"),
        (reads_before_entering, TWO_NEAR, {}, "are kept"),
        (keeps_from(UNDECIDED), TWO_NEAR, {}, "are kept"),
        (keeps_from(UNDECIDED | {State.GONE}), TWO_NEAR, {"lapses": 1}, "are kept"),
        (settles_all_at_once, Scene([("a", "b")], ["ab"]), {"sweeps": 1}, "is not kept"),
        (LeadsWithoutHolding, TWO_EQUAL, {}, "are kept"),
        (sees_as_gone(lambda posts: posts.following().values()), TWO_EQUAL, {}, "a text is taken from"),
        (sees_as_gone(lambda posts: posts.repeated().values()), ONE_OF_ID, {}, "an id is taken from"),
        (enters_with_its_first_text_only, TWO_EQUAL_ONE_NEAR, {"crashes": 1}, "are kept"),
        (ReplacesItsKeptPost, Scene([("a", "c", "a2")]), {"sweeps": 1}, "a text is taken from"),
        (keeps_the_text_of_an_id_it_lost, EQUAL_OF_ID, {}, "waits for ever"),
        (reads_keepers_with_their_duplicates, EQUAL_TO_A_DUPLICATE, {}, "a text is taken from"),
        (RepeatsWhatIsGone, Scene([("a",), ("b",), ("b2",)], ["ab"]), {"deletions": 1}, "was deleted before"),
    ],
)
def test_without_one_of_its_rules_it_breaks_a_promise(
    broken: Callable[..., Steps], scene: Scene, events: dict[str, int], message: str
) -> None:
    is_batch = isinstance(broken, type)
    explorer = Explorer(scene, batch=broken) if is_batch else Explorer(scene, altered(broken))  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match=message):
        explorer.explore(**events)
