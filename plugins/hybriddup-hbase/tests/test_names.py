"""Who holds a name, when several processes claim it at the same moment, and some end on the way."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random

import pytest
from hybriddup_hbase.names import OUTCOME, Names, claims_in, row_of
from plain_table import Content, KilledError, PlainTable

from hybriddup.shared_windows import Holder

NAMES = [b"a", b"b", b"c", b"d", b"e"]
N_PROCESSES = 5


@pytest.fixture(autouse=True)
def _quick_turns() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def claim_all(content: Content, seed: int, number: int, n_calls: int | None) -> dict[bytes, list[int]]:
    """Claim names three times, each time instead of the last holder; return what was answered, by name."""
    answers: dict[bytes, list[int]] = defaultdict(list)
    random = Random(1000 * seed + number)
    names = Names(PlainTable(content, 1000 * seed + number, n_calls))  # type: ignore[arg-type]
    with suppress(KilledError):
        for turn in range(3):
            some = random.sample(NAMES, random.randint(1, len(NAMES)))
            held = dict(zip(some, names.positions_of(some), strict=True))
            wanted = [Holder(name, 100 * turn + number + 1, held[name]) for name in some]
            for name, position in zip(some, names.hold(wanted), strict=True):
                answers[name].append(position)
    return answers


@pytest.mark.parametrize("seed", range(40))
def test_a_name_has_one_holder_after_another_in_whatever_order_processes_come(seed: int) -> None:
    """Each answer is a holder, each holder but the first replaced another one, and no two replaced the same."""
    content, random = Content(), Random(seed)
    ends = [random.choice([None, random.randint(1, 60)]) for _ in range(N_PROCESSES - 1)]
    with ThreadPoolExecutor(N_PROCESSES) as threads:
        answers = list(
            threads.map(lambda number: claim_all(content, seed, number, [None, *ends][number]), range(N_PROCESSES))
        )
    names = Names(PlainTable(content, seed))  # type: ignore[arg-type]
    for name in NAMES:
        holders = chain_of(content, name)
        assert {position for found in answers for position in found[name]} <= set(holders)
        assert names.positions_of([name]) == [holders[-1] if holders else None]


def chain_of(content: Content, name: bytes) -> list[int]:
    """Return the holders that a name had, in order."""
    claims = claims_in(content.rows.get(row_of(name), {}))
    outcomes = {one: content.rows.get(b"t" + one.transaction, {}).get(OUTCOME) for one in claims}
    won = [one for one, outcome in outcomes.items() if outcome is not None and one.has_won(outcome)]
    next_of = {one.replaces: one.position for one in won}
    assert len(next_of) == len(won), "two posts replaced one holder, or both got a free name"
    holders: list[int] = []
    while (following := next_of.get(holders[-1] if holders else None)) is not None:
        holders.append(following)
    assert len(holders) == len(won)
    return holders


def test_names_that_a_process_claimed_before_it_ended_are_free() -> None:
    """Whenever it ends: if it has them, all of them are its own, and else another process gets them soon."""
    for n_calls in range(30):
        content = Content()
        first = Names(PlainTable(content, n_calls, n_calls))  # type: ignore[arg-type]
        with suppress(KilledError):
            first.hold([Holder(name, 1, None) for name in NAMES])
        held = Names(PlainTable(content, 0)).hold([Holder(name, 2, None) for name in NAMES])  # type: ignore[arg-type]
        assert set(held) in ({1}, {2})


def test_only_the_contested_names_of_a_batch_are_claimed_again() -> None:
    """A rival that has ended costs neither the other names nor those that it has."""
    content = Content()
    ended = Names(PlainTable(content, 0, 3))  # type: ignore[arg-type]
    with pytest.raises(KilledError):
        ended.hold([Holder(NAMES[0], 1, None)])
    names = Names(PlainTable(content, 1))  # type: ignore[arg-type]
    assert names.hold([Holder(name, 2, None) for name in NAMES]) == [2] * len(NAMES)
    assert names.hold([Holder(name, 3, None) for name in NAMES]) == [2] * len(NAMES)
