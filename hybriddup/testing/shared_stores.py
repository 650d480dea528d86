"""Contract check for stores of shared windows: the effect of each call, for the caller and for another client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from hybriddup.data.records import NO_KEY, Int64s, UInt64s
from hybriddup.errors import StoreError
from hybriddup.shared_windows.packing import id_name, text_name
from hybriddup.shared_windows.store import (
    UNDECIDED,
    Change,
    Holder,
    Keyed,
    Needs,
    PostRecord,
    SharedStore,
    State,
    entry_type,
)
from hybriddup.testing.contract import require, require_equal, require_error
from hybriddup.testing.texts import NASTY_IDS, NASTY_TEXTS
from hybriddup.window.records import Evidence, PostId, StoredPost

Opens = Callable[[str, Needs], SharedStore]
NEEDS = Needs(words=2, max_bucket_size=8, horizon=1000.0)
NEVER = float("-inf")
EVIDENCE = Evidence("keeper \udc00", 3, "near", 9, "edit", 0.1 + 0.2, 0.3, "7-20")


def check_shared_store(open_store: Opens) -> None:
    """Check that stores of shared windows keep the contract of `hybriddup.shared_windows.SharedStore`.

    Parameters
    ----------
    open_store
        Function that takes a name and the `Needs` of a window, and returns a store. The check chooses the names; equal
        names must give the same store.

    Raises
    ------
    ContractError
        If a clause does not hold; the message names it.
    """
    for check in (_check_positions, _check_records, _check_holders, _check_buckets, _check_limits, _check_changes,
                  _check_late_records, _check_late_entries, _check_values, _check_times):  # fmt: skip
        name = check.__name__.removeprefix("_check_")
        one, other = open_store(name, NEEDS), open_store(name, NEEDS)
        try:
            check(one, other)
        finally:
            one.close()
            other.close()
    one.close()
    require_error(StoreError, partial(one.take, 1), "a closed store raises StoreError")


def _check_positions(one: SharedStore, other: SharedStore) -> None:
    taken = [(store.take(n), n) for store, n in ((one, 1), (other, 3), (one, 256), (other, 1))]
    positions = [position for found, n in taken for position in range(found.first, found.first + n)]
    require_equal(positions, sorted(set(positions)), "positions rise, and no position is given twice")
    require_equal(taken[0][0].watermark, NEVER, "the time of a new window is minus infinity")
    firsts = [found.first for found, _ in taken]
    clause = "a block is unfinished, for all clients, until it is finished"
    require_equal([block.first for block in taken[-1][0].unfinished], firsts, clause)
    covered = all(block.n >= n for block, (_, n) in zip(taken[-1][0].unfinished, taken, strict=True))
    require(covered, "a block has all positions that were taken", taken[-1])
    for first in firsts[:2]:
        other.finish(first, NEVER, NEVER, [], keyed([], []))
    last = one.take(1)
    require_equal([block.first for block in last.unfinished], [*firsts[2:], last.first], clause)
    require_equal(last.watermark, NEVER, "finishing a block without a watermark leaves the time unchanged")


def _record(position: int, post_id: PostId, text: str = "text") -> PostRecord:
    return PostRecord(State.PENDING, StoredPost(position, post_id, -1.5, text, None), 2.5)


def _positions(*positions: int) -> Int64s:
    return np.array(positions, np.int64)


def _check_records(one: SharedStore, other: SharedStore) -> None:
    written = [_record(place, post_id) for place, post_id in enumerate(NASTY_IDS)]
    written += [_record(len(NASTY_IDS) + place, f"text {place}", text) for place, text in enumerate(NASTY_TEXTS)]
    require_equal(one.announce(written, []), [], "records can be announced without names")
    found = other.records(_positions(*reversed(range(len(written))), len(written)))
    clause = "a record comes back as it was written, with any characters in its id and text; None if it does not exist"
    wrong = [pair for pair in zip(found, [*reversed(written), None], strict=True) if pair[0] != pair[1]][:1]
    require(not wrong, clause, wrong)
    types = [type(record.post.id) for record in found if record is not None]
    require_equal(types, [type(record.post.id) for record in reversed(written)], "ids keep their type")


def _check_holders(one: SharedStore, other: SharedStore) -> None:
    names = [*map(id_name, NASTY_IDS), *(text_name((True, text)) for text in dict.fromkeys(NASTY_TEXTS))]
    holders = [Holder(name, place, None) for place, name in enumerate(names)]
    records = [_record(place, f"{place}") for place in range(len(names))]
    clause = "the first to claim a name holds it"
    require_equal(one.announce(records, holders), list(range(len(names))), clause)
    later = [_record(1000 + place, f"{place}") for place in range(len(names))]
    held = other.announce(later, [Holder(name, 1000 + place, None) for place, name in enumerate(names)])
    require_equal(held, list(range(len(names))), clause)
    found = other.positions_of([*names, id_name("nobody's"), id_name(2)])
    require_equal(found, [*range(len(names)), None, None], clause)
    text, number = names.index(id_name("1")), names.index(id_name(1))
    claims = [Holder(id_name("1"), 1100, text), Holder(id_name(1), 1101, number + 7),
              Holder(id_name("new"), 1102, None), Holder(id_name("forgotten"), 1103, 7)]  # fmt: skip
    taken = other.hold(claims)
    clause = "a name can be taken over from the expected holder only, or if it is free"
    require_equal(taken, [1100, number, 1102, 1103], clause)
    require_equal(one.positions_of([id_name("new"), id_name("forgotten")]), [1102, 1103], clause)


def keyed(positions: Sequence[int], keys: Sequence[Sequence[int]]) -> Keyed:
    """Return artificial entries of posts, with these positions and keys."""
    entries = np.zeros(len(positions), entry_type(2))
    entries["position"], entries["length"] = positions, [position + 10 for position in positions]
    entries["bits"][:, 0], entries["bits"][:, 1] = positions, [2**64 - 1 - position for position in positions]
    return Keyed(entries, np.array(keys, np.uint64).reshape(len(positions), len(keys[0]) if keys else 0))


def _keys(*keys: int) -> UInt64s:
    return np.array(keys, np.uint64)


FAR = 2**64 - 2
"""A key that differs from small keys in both its upper and lower 32 bits."""


def found_in(store: SharedStore, *keys: int) -> list[list[int]]:
    """Return the sorted positions in the bucket of each key, after checking that all entries are unchanged."""
    nothing = Keyed(np.zeros(0, entry_type(2)), np.zeros((0, 1), np.uint64))
    counts, entries = store.enter(nothing, _keys(*keys))
    expected = keyed(entries["position"].tolist(), [[0]] * len(entries)).entries
    require(bool((entries == expected).all()), "entries come back as they were written", entries)
    parts = np.split(entries["position"], np.cumsum(counts)[:-1])
    return [sorted(part.tolist()) for part in parts]


def _check_buckets(one: SharedStore, other: SharedStore) -> None:
    none = int(NO_KEY)
    one.take(500)
    other.take(500)
    one.enter(keyed([0, 1], [[5, FAR], [5, none]]), _keys())
    counts, entries = other.enter(keyed([2], [[5, 6]]), _keys(5, 6))
    first = sorted(entries["position"][: counts[0]].tolist())
    require_equal(first[:2], [0, 1], "a post that enters a bucket sees the posts in it")
    require_equal(found_in(one, 5, FAR, 6, 7), [[0, 1, 2], [0], [2], []], "all clients see the posts in a bucket")
    require_equal(found_in(other, 7, 5), [[], [0, 1, 2]], "all clients see the posts in a bucket")
    one.leave(keyed([1, 2], [[5, none], [6, none]]))
    require_equal(found_in(other, 5, 6), [[0, 2], []], "a post is removed from the named buckets")
    one.enter(keyed([300], [[11]]), _keys())
    for first_of_ten in range(310, 610, 10):
        leaving = keyed(range(first_of_ten, first_of_ten + 10), [[11]] * 10)
        one.enter(leaving, _keys())
        other.leave(leaving)
    require_equal(found_in(other, 11), [[300]], "removed entries do not displace others")


def _check_limits(one: SharedStore, other: SharedStore) -> None:
    most, blocks = NEEDS.max_bucket_size, list[int]()
    for _ in range(40):
        blocks.append(one.take(10).first)
        one.enter(keyed(range(blocks[-1], blocks[-1] + 10), [[9]] * 10), _keys())
    positions = [first + place for first in blocks for place in range(10)]
    clause = "a bucket holds every entry of an unfinished block"
    require_equal(found_in(other, 9)[0], positions, clause)
    for first in blocks[:30]:
        one.finish(first, NEVER, NEVER, [], keyed([], []))
    unfinished = set(positions[300:])
    for _ in range(30):
        last = other.take(1).first
        other.enter(keyed([last], [[9]]), _keys())
        unfinished.add(last)
    found = set(found_in(one, 9)[0])
    require(unfinished <= found, clause, found)
    newest = set(positions[300 - most : 300])
    require(newest <= found, "a bucket holds the newest max_bucket_size entries of finished blocks", found)
    gone = sorted(newest)[-1]
    other.leave(keyed([gone], [[9]]))
    require_equal(set(found_in(one, 9)[0]), found - {gone}, "a post can be removed from a large bucket too")


def _check_changes(one: SharedStore, other: SharedStore) -> None:
    one.announce([_record(position, f"{position}", "Text") for position in range(4)], [])
    pending, undecided = frozenset({State.PENDING}), UNDECIDED
    changes = [(0, State.KEPT), (1, State.CHALLENGED), (9, State.KEPT)]
    first = one.change([Change(position, pending, state) for position, state in changes])
    require_equal(first, [State.KEPT, State.CHALLENGED, State.GONE], "a change returns the resulting state")
    clause = "a state is changed only if it is as expected; else the current state is returned"
    second = other.change(
        [Change(0, undecided, State.GONE), Change(1, pending, State.KEPT), Change(2, undecided, State.GONE)]
    )
    require_equal(second, [State.KEPT, State.CHALLENGED, State.GONE], clause)
    third = one.change([Change(1, undecided, State.DUPLICATE, EVIDENCE), Change(2, pending, State.KEPT)])
    require_equal(third, [State.DUPLICATE, State.GONE], clause)
    found = other.records(_positions(0, 1, 2, 3))
    states = [record and record.state for record in found]
    require_equal(states, [State.KEPT, State.DUPLICATE, State.GONE, State.PENDING], "changes are stored")
    posts = [record.post for record in found if record is not None]
    require(posts[1].evidence == EVIDENCE and posts[1].text == "Text", "a duplicate has its evidence", posts[1])
    is_plain = posts[0].text == "Text" and posts[0].evidence is None
    require(is_plain, "a kept post keeps its text, and has no evidence", posts[0])
    block = one.take(1).first
    for _ in range(2):
        one.finish(block, NEVER, 5.0, [5.0, 5.0], keyed([], []))
    require_equal(one.n_kept_after(0.0), 2, "kept posts of a block are counted once")
    other.remove(0, 5.0)
    one.remove(1, None)
    require_equal(one.n_kept_after(0.0), 1, "a removed kept post is no longer counted")
    clause = "a removed record is gone for all clients"
    require_equal([record is not None for record in one.records(_positions(0, 1, 3))], [False, False, True], clause)
    require_equal(other.records(_positions(0, 1)), [None, None], clause)


def _check_late_records(one: SharedStore, other: SharedStore) -> None:
    first = one.take(2).first
    given_up = other.change([Change(first, UNDECIDED, State.GONE)])
    require_equal(given_up, [State.GONE], "a post can be given up before it is announced")
    late = [_record(first + place, f"late {place}") for place in range(2)]
    held = one.announce(late, [Holder(id_name(one.post.id), one.post.position, None) for one in late])
    require_equal(held, [], "announcing returns an empty list if a post was given up before")
    found = other.records(_positions(first))[0]
    clause = "a post that was given up before it is announced stays gone"
    require(found is None or found.state is State.GONE, clause, found)
    require_equal(one.change([Change(first, UNDECIDED, State.KEPT)]), [State.GONE], clause)


def _check_late_entries(one: SharedStore, other: SharedStore) -> None:
    kept, first = one.take(1).first, one.take(200).first
    late = keyed(range(first, first + 200), [[5, FAR]] * 200)
    one.enter(keyed([kept], [[5]]), _keys())
    one.enter(keyed([first], [[5, FAR]]), _keys())
    for block in (kept, first):
        other.leave(late)
        other.finish(block, NEVER, NEVER, [], keyed([], []))
    for _ in range(2):
        one.enter(late, _keys())
        last = other.take(1).first
        other.enter(keyed([last], [[FAR]]), _keys(5, FAR))  # a store may shorten the buckets that it reads
        found = found_in(other, 5)
        require_equal(found, [[kept]], "posts that left a bucket do not enter it later, and displace no other")
    require_equal(len(found_in(one, FAR)[0]), 2, "posts that left a bucket do not enter it later")


def _check_values(one: SharedStore, other: SharedStore) -> None:
    value = bytes(range(256))
    require(one.meta("recipe") is None, "a value that was never set is None", one.meta("recipe"))
    set_to = [one.set_first("recipe", value), other.set_first("recipe", b"other"), other.set_first("blocks", b"")]
    require_equal(set_to, [value, value, b""], "a value can be set once, and all clients get it")
    require_equal(other.meta("recipe"), value, "all clients see a value")


def _check_times(one: SharedStore, other: SharedStore) -> None:
    other.take(8)
    blocks = [one.take(8).first for _ in range(4)]
    one.enter(keyed([1, 2], [[5], [5]]), _keys())
    one.finish(blocks[0], NEVER, 100.0, [99.0, 100.0], keyed([1], [[5]]))
    require_equal(found_in(other, 5), [[2]], "a post that leaves with a block is removed from its buckets")
    require_equal(other.watermark(), 100.0, "finishing a block advances the time of the window")
    other.finish(blocks[1], 100.0, 90.0, [], keyed([], []))
    require_equal(one.take(0).watermark, 100.0, "the time of the window never goes back by itself")
    other.finish(blocks[2], 100.0, 1500.0, [1500.0], keyed([], []))
    require_equal([one.n_kept_after(time) for time in (0.0, 1400.0)], [3, 1], "kept posts are counted by time")
    one.rewind(50.0)
    other.finish(blocks[3], 1500.0, 1501.0, [], keyed([], []))
    require_equal(one.watermark(), 50.0, "a time that was set back stays, even if a batch read the earlier one")
