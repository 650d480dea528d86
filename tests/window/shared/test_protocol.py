"""The protocol of shared windows: in every order in which several processes come, stop and end, its promises hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from hybriddup.window.shared import protocol
from hybriddup.window.shared.protocol import Steps
from hybriddup.window.shared.store import UNDECIDED, State
from tests.window.shared.exploring import Explorer, ToyBatch

NO_IDS: Mapping[str, str] = {}


@pytest.mark.parametrize(
    ("batches", "matching", "ids", "crashes", "lapses"),
    [
        ([("a",), ("b",)], ["ab"], NO_IDS, 2, 2),
        ([("a", "b"), ("c",)], ["ab", "bc"], NO_IDS, 1, 1),
        ([("a", "b"), ("c",)], ["ac", "bc"], NO_IDS, 1, 1),
        ([("a",), ("b",)], [], {"a": "1", "b": "1"}, 1, 1),
        ([("a",), ("b",)], ["ab"], {"a": "1", "b": "1"}, 1, 1),
        pytest.param([("a",), ("b",), ("c",)], ["ab", "bc"], NO_IDS, 2, 0, marks=pytest.mark.slow),
        pytest.param([("a",), ("b",), ("c",)], ["ab", "bc", "ac"], NO_IDS, 2, 0, marks=pytest.mark.slow),
        pytest.param([("a",), ("b",), ("c",)], ["ab", "bc"], NO_IDS, 1, 1, marks=pytest.mark.slow),
        pytest.param([("a",), ("b",), ("c",)], ["ab", "bc", "ac"], NO_IDS, 0, 1, marks=pytest.mark.slow),
    ],
    ids=[
        "two",
        "chain in a batch",
        "between two of a batch",
        "one id",
        "one id and alike",
        "three in a chain",
        "three alike",
        "three in a chain, one too slow",
        "three alike, one too slow",
    ],
)
def test_in_every_order_the_promises_hold(
    batches: Sequence[tuple[str, ...]], matching: Sequence[str], ids: Mapping[str, str], crashes: int, lapses: int
) -> None:
    """No two kept posts match, a duplicate names a kept one, and each living process has its answers."""
    assert Explorer(batches, matching, ids).explore(crashes, lapses) > 50


@pytest.mark.parametrize(
    ("batches", "matching", "ids"),
    [
        ([("a",), ("b",)], ["ab"], NO_IDS),
        ([("a", "b"), ("c",)], ["ab", "bc"], NO_IDS),
        ([("a",), ("b",)], ["ab"], {"a": "1", "b": "1"}),
        pytest.param([("a",), ("b",), ("c",)], ["ab", "bc", "ac"], NO_IDS, marks=pytest.mark.slow),
    ],
    ids=["two", "chain in a batch", "one id and alike", "three alike"],
)
def test_posts_may_be_deleted_at_any_moment(
    batches: Sequence[tuple[str, ...]], matching: Sequence[str], ids: Mapping[str, str]
) -> None:
    """No two kept posts match, and no post names one that was deleted before it came."""
    assert Explorer(batches, matching, ids).explore(crashes=1, deletions=2) > 50


def never_challenges(batch: ToyBatch) -> Steps:
    """The protocol without its fifth rule."""
    rivals = batch.rivals
    batch.rivals = lambda positions, records: {  # type: ignore[method-assign]
        one: state for one, state in rivals(positions, records).items() if one < min(batch.position.values())
    }
    return protocol.decide(batch)


def never_waits(batch: ToyBatch) -> Steps:
    """The protocol without its fourth rule."""
    rivals = batch.rivals
    batch.rivals = lambda positions, records: {  # type: ignore[method-assign]
        one: state for one, state in rivals(positions, records).items() if one > min(batch.position.values())
    }
    return protocol.decide(batch)


def looks_once(batch: ToyBatch) -> Steps:
    """The protocol without looking again after a challenge."""
    steps, answer, found = protocol.decide(batch), None, None
    while True:
        try:
            asked = steps.send(answer)
        except StopIteration:
            return
        if isinstance(asked, protocol.Call) and asked.method == "enter" and found is not None:
            answer = found
            continue
        answer = yield asked
        if isinstance(asked, protocol.Call) and asked.method == "enter":
            found = answer


def keeps_what_was_challenged(batch: ToyBatch) -> Steps:
    """The protocol with keepers that heed no challenge."""
    steps, answer = protocol.decide(batch), None
    while True:
        try:
            asked = steps.send(answer)
        except StopIteration:
            return
        if isinstance(asked, protocol.Call) and asked.method == "change":
            changes = [one._replace(expected=UNDECIDED) if one.to is State.KEPT else one for one in asked.arguments[0]]
            asked = protocol.call("change", changes)
        answer = yield asked


@pytest.mark.parametrize("broken", [never_challenges, never_waits, looks_once, keeps_what_was_challenged])
def test_without_one_of_its_rules_it_breaks_a_promise(broken: Callable[[ToyBatch], Steps]) -> None:
    """So that each rule is needed, and its lack is seen."""
    with pytest.raises(AssertionError, match="are kept"):
        Explorer([("a",), ("b",)], ["ab"], decide=broken).explore(crashes=1, lapses=1)
