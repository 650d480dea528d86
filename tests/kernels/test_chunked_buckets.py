"""Chains of chunks against dictionaries of lists, and the ring's kernels against plain loops."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.chain_look_ups import find_in_chains, texts_of_octets, without_repeats
from hybriddup.kernels.chunked_buckets import (
    FREE,
    FRESH,
    N_BOOK,
    N_FREE,
    OCTET_BITS,
    Chains,
    Live,
    LiveEntries,
    add_to_chains,
    drop_residues,
    is_live,
    live_entries,
    sweep_chains,
)
from hybriddup.kernels.residues import residues_of
from hybriddup.kernels.ring_texts import (
    IN_BLOCK,
    LARGEST_OFFSET,
    TOLD_BITS,
    LaterTexts,
    Partners,
    number_texts,
    slot_of,
)
from tests.builders import make_limits
from tests.reference import lee_distance

PARTNERS = Partners(np.full(50, 3, np.int32), np.zeros(50, np.int32))
WINDOW = 50
CAPACITY = 64
NO_BITS = np.zeros((0, 1), np.uint64)


def empty_chains(
    n_buckets: int,
    n_chunks: int,
    chunk_bits: int,
    number_bits: int = 32,
    by_residues: bool = False,
    by_octets: bool = False,
) -> Chains:
    """Chains with nothing in them."""
    book = np.zeros(N_BOOK, np.int64)
    book[FRESH] = 1
    heads, pool = np.zeros(n_buckets + 1, np.uint32), np.zeros(n_chunks << chunk_bits, np.uint32)
    return Chains(heads, pool, book, chunk_bits, number_bits, by_residues, by_octets)


def numbers_in(chains: Chains, bucket: int) -> list[int]:
    """The numbers in a bucket, the newest first."""
    size, numbers, chunk = 1 << chains.chunk_bits, list[int](), int(chains.heads[bucket])
    while chunk:
        words = chains.pool[chunk * size : (chunk + 1) * size].tolist()
        numbers += [number for number in reversed(words[1:]) if number]
        chunk = words[0]
    return numbers


def chunks_in_use(chains: Chains) -> tuple[set[int], set[int]]:
    """The chunks of all buckets, and those of the free list."""
    size, used, free = 1 << chains.chunk_bits, set[int](), set[int]()
    for head in chains.heads.tolist():
        chunk = head
        while chunk:
            assert chunk not in used
            used.add(chunk)
            chunk = int(chains.pool[chunk * size])
    chunk = int(chains.book[FREE])
    while chunk:
        assert chunk not in free
        free.add(chunk)
        chunk = int(chains.pool[chunk * size])
    return used, free


@given(st.integers(0, 2**32), st.sampled_from([2, 3, 4]), st.lists(st.integers(1, 30), max_size=12), st.integers(1, 5))
def test_chains_hold_what_is_live_and_chunks_are_used_again(
    seed: int, chunk_bits: int, sizes: list[int], n_buckets: int
) -> None:
    """Whatever is added and swept: the live numbers of each bucket, newest first, and every chunk in one place."""
    rng, first_number = np.random.default_rng(seed), int(seed) % 1000 + 1
    chains, added, number = empty_chains(n_buckets, 2000, chunk_bits), defaultdict[int, list[int]](list), first_number
    for size in sizes:
        listed = rng.integers(0, n_buckets, (size, 1), np.uint64)
        add_to_chains(chains, listed, np.arange(number, number + size), NO_BITS)
        for row, bucket in enumerate(listed[:, 0].tolist()):
            added[bucket].append(number + row)
        number += size
        live = LiveEntries(np.uint64(number), min(WINDOW, number - first_number), 0)
        swept = int(rng.integers(0, n_buckets + 1))
        sweep_chains(chains, swept, n_buckets, live)
        for bucket in range(n_buckets):
            expected = [one for one in reversed(added[bucket]) if number - one <= WINDOW]
            held = numbers_in(chains, bucket)
            assert held[: len(expected)] == expected
            if bucket >= swept:  # only a chunk with something live may hold others
                assert len(held) - len(expected) < (1 << chunk_bits) - 1
        used, free = chunks_in_use(chains)
        assert not used & free
        assert used | free == set(range(1, int(chains.book[FRESH])))
        assert len(free) == chains.book[N_FREE]


@pytest.mark.parametrize("by_octets", [False, True])
def test_a_look_up_has_room_for_all_that_is_near(by_octets: bool) -> None:
    """However often it has to make more, in the midst of a text's buckets, nothing is left out or counted twice."""
    n, n_later, n_probes = WINDOW, 9, 40
    chains = empty_chains(1, 500, 3, by_octets=by_octets)
    bits = np.zeros((CAPACITY, 1), np.uint64)
    numbers = np.arange(IN_BLOCK, IN_BLOCK + n)
    add_to_chains(chains, np.zeros((n, 1), np.uint64), numbers, bits[:n])
    limits = make_limits(n_later, max_hamming_distances=3, lengths=20, max_partner_lengths=30)
    later = LaterTexts(np.arange(n_later) + 1000, bits[:n_later], *limits, np.zeros((0, 2), np.uint64))
    listed, live = np.zeros((n_later, n_probes), np.uint64), Live(np.uint64(IN_BLOCK + n), n, 0)

    near, counts = find_in_chains(chains, listed, bits, live, later, PARTNERS)

    assert len(near) == n * n_later * n_probes > 3 * 4096
    assert counts.n_comparisons == len(near) * (8 if by_octets else 1)
    assert counts.n_look_ups == listed.size
    assert (np.diff((near >> np.uint64(32)).astype(np.int64)) >= 0).all()
    near, n_times = np.unique(near, return_counts=True)
    texts = texts_of_octets(near, bits, live, later, PARTNERS) if by_octets else near
    assert texts.tolist() == [row << 32 | place for row in range(n_later) for place in range(n)]
    assert set(n_times.tolist()) == ({8 * n_probes, 2 * n_probes} if by_octets else {n_probes})


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize(
    ("start", "number_bits", "by_residues", "by_octets"),
    [
        (IN_BLOCK, 32, False, False),
        (2**32 - 100, 32, False, False),
        (IN_BLOCK, 23, True, False),
        (2**12 + IN_BLOCK, 12, True, False),
        *((IN_BLOCK + more, 23, True, True) for more in range(8)),
        (2**12 + IN_BLOCK, 12, True, True),
        (IN_BLOCK, 32, False, True),
    ],
)
def test_looking_up_finds_what_is_live_and_near(
    words: int, start: int, number_bits: int, by_residues: bool, by_octets: bool
) -> None:
    """Every live text within the limit that is in a bucket looked into, once for each of them, the newest first.

    So it is when numbers begin anew. Where there are residues of fingerprints, those that can be within the limit.
    Where entries are of octets, also what is near in these.
    """
    rng, n_buckets, n, limit = np.random.default_rng(words), 3, 200, 3 if by_residues else 31 * words
    chains = empty_chains(n_buckets, 500, 3, number_bits, by_residues, by_octets)
    bits = rng.integers(0, 2**64, (CAPACITY, words), np.uint64)
    numbers = np.arange(start, start + n)
    numbers[numbers >= 2**32] += IN_BLOCK
    buckets = rng.integers(0, n_buckets, (n, 2), np.uint64)
    first_slot = 40 + int(numbers[n - WINDOW]) % 8
    slots = (first_slot + np.arange(n) - (n - WINDOW)) % CAPACITY
    add_to_chains(chains, buckets, numbers, bits[slots])
    live = Live(np.uint64(numbers[-1] + 1), WINDOW, first_slot)
    later_bits = rng.integers(0, 2**64, (5, words), np.uint64)
    if by_residues:  # so that something is near
        later_bits = bits[slots[-5:]] ^ np.array([0b1011, 0][:words], np.uint64)
    limits = make_limits(5, max_hamming_distances=limit, lengths=20, max_partner_lengths=30)
    later = LaterTexts(np.arange(5) + 1000, later_bits, *limits, np.zeros((0, 2), np.uint64))
    listed = rng.integers(0, n_buckets, (5, 2), np.uint64)

    near, counts = find_in_chains(chains, listed, bits, live, later, PARTNERS)

    apart = np.bitwise_count(bits[(first_slot + np.arange(WINDOW)) % CAPACITY] ^ later_bits[:, None]).sum(axis=2)
    within = set(zip(*(each.tolist() for each in np.nonzero(apart <= limit)), strict=True))
    n_before = first_slot % 8 if by_octets else 0  # texts that are not live, of an octet that is
    expected, n_compared = list[tuple[int, int]](), 0
    for row in range(5):
        for probe in range(2):
            in_bucket = [
                place for place in range(n) for bucket in buckets[place].tolist() if bucket == listed[row, probe]
            ]
            read = [place - (n - WINDOW) for place in in_bucket if place >= n - WINDOW - n_before][::-1]
            if by_residues:
                own = residues_of(later_bits, row)
                of_places = {place: residues_of(bits, (first_slot + place) % CAPACITY) for place in read}
                read = [place for place in read if lee_distance(int(own), int(of_places[place])) <= limit]
            n_compared += len(read) * (8 if by_octets else 1)
            expected += [(row, place) for place in read if (row, place) in within]
    if by_octets:
        near = texts_of_octets(without_repeats(near), bits, live, later, PARTNERS)
    found = [(int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in near.tolist()]
    if by_octets:
        assert set(expected) <= set(found) <= within
        assert found == sorted(set(found))
    else:
        assert sorted(found) == sorted(expected)
    assert counts.n_comparisons == n_compared
    assert expected


@given(
    st.lists(st.sampled_from([1, 2, 500, 70_000, 2**33]), min_size=1, max_size=300),
    st.sampled_from([0, 2**TOLD_BITS, 2**32]),
)
def test_numbers_rise_and_tell_positions(gaps: list[int], start: int) -> None:
    """In batches as at once, no offset too large, and no number of the first block."""
    positions = np.cumsum(np.array(gaps, np.int64))
    first = start + IN_BLOCK if start == 0 else start - 100 - (start - 100) % IN_BLOCK
    numbers, anchors = number_texts(positions, first, 0)
    half = len(positions) // 2
    before = number_texts(positions[:half], first, 0)
    last, anchor = (int(before[0][-1]), int(before[1][-1])) if half else (first - 1, 0)
    after = number_texts(positions[half:], last + 1, anchor)

    assert np.array_equal(numbers, np.concatenate([before[0], after[0]]))
    assert np.array_equal(anchors, np.concatenate([before[1], after[1]]))
    assert (np.diff(numbers) > 0).all()
    assert ((positions - anchors >= 0) & (positions - anchors <= LARGEST_OFFSET)).all()
    assert ((numbers & (1 << TOLD_BITS) - 1) >= IN_BLOCK).all()
    assert all(len(set(anchors[numbers // IN_BLOCK == block].tolist())) == 1 for block in set(numbers // IN_BLOCK))


@given(st.integers(2**20, 2**40), st.integers(1, 1000), st.integers(0, 100))
def test_an_octet_is_live_while_any_of_its_texts_is(first: int, span: int, first_block: int) -> None:
    """Octets follow each other as texts do, in numbers and in slots."""
    live = Live(np.uint64(first + span), span, IN_BLOCK * first_block + first % IN_BLOCK)
    octets = live_entries(live, True)

    expected = sorted({number // 8 for number in range(first, first + span)})
    assert list(range(int(octets.next_number) - octets.span, int(octets.next_number))) == expected
    assert octets.first_slot == live.first_slot // 8
    assert tuple(live_entries(live, False)) == tuple(live)


def test_slots_go_around() -> None:
    """A number before the one in slot 0 is at the end, and one a round later at the beginning."""
    assert [slot_of(number, 128, 64) for number in (127, 128, 191, 192)] == [63, 0, 63, 0]


@pytest.mark.parametrize("by_octets", [False, True])
def test_entries_without_residues_are_of_the_same_texts(by_octets: bool) -> None:
    """What is live stays so, in the same order; what is not is never taken for live."""
    rng, n = np.random.default_rng(3), 300
    chains = empty_chains(4, 500, 2, 10, by_residues=True, by_octets=by_octets)
    first = (2**10 - 150) << (OCTET_BITS if by_octets else 0)
    numbers, buckets = np.arange(first, first + n), rng.integers(0, 4, (n, 1), np.uint64)
    add_to_chains(chains, buckets, numbers, rng.integers(0, 2**64, (n, 1), np.uint64))
    live = Live(np.uint64(numbers[-1] + 1), WINDOW, 0)

    drop_residues(chains, live)

    entries = live_entries(live, by_octets)
    named = numbers >> (OCTET_BITS if by_octets else 0)
    for bucket in range(4):
        expected = [int(number) for number, own in zip(named, buckets[:, 0], strict=True) if own == bucket][::-1]
        held = numbers_in(chains, bucket)
        n_live = sum(number >= int(entries.next_number) - entries.span for number in expected)
        assert held[:n_live] == expected[:n_live]
        assert len(held) == len(expected)
        assert not any(is_live(np.uint32(entry), entries, 32) for entry in held[n_live:])
