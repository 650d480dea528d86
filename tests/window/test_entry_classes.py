"""Classes beside the numbers of a live index: nothing that could match is passed over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.config.settings import ComponentSettings
from hybriddup.kernels.chunked_buckets import BITS_OF_ENTRY
from hybriddup.kernels.ring_texts import TOLD_BITS
from hybriddup.records import Fingerprints, UInt64s
from hybriddup.steps.blocks import Expectation
from hybriddup.testing import check_live_index
from hybriddup.window.index import LiveIndex
from hybriddup.window.index.entry_classes import (
    LONGEST_TOLD,
    ONE_CLASS,
    RESIDUES,
    EntryClasses,
    cut_classes,
    partners_of,
)
from hybriddup.window.index.live_shapes import make_live_index
from hybriddup.window.index.live_tables import LiveShape, LiveTables
from tests.builders import make_limits
from tests.steps.block_runs import no_pilot

LENGTHS = st.lists(st.integers(0, 6000), min_size=1, max_size=40)


@given(LENGTHS, st.lists(st.integers(0, 9000), min_size=40, max_size=40), st.lists(st.integers(-1, 9), min_size=40))
def test_partners_are_all_that_may_match(lengths: list[int], reaches: list[int], limits: list[int]) -> None:
    """The shortest text that may match each length, and a limit as large as any that such a text has."""
    n = len(lengths)
    texts = make_limits(
        n, lengths=lengths, max_hamming_distances=limits[:n], max_partner_lengths=[max(each, 0) for each in reaches[:n]]
    )
    partners = partners_of(texts)
    for later in [*lengths, 0, 1, 50, LONGEST_TOLD + 7]:
        shorter = [
            (length, limit)
            for length, reach, limit in zip(lengths, reaches, limits, strict=False)
            if length <= later <= max(reach, length)
        ]
        told = min(later, LONGEST_TOLD)
        assert partners.shortest[told] <= min((length for length, _ in shorter), default=told)
        assert partners.max_distances[told] >= max((limit for _, limit in shorter), default=-1)


@given(LENGTHS, st.sampled_from([1, 1000, 5_000_000, 60_000_000]))
def test_classes_rise_with_length_and_leave_room_for_numbers(lengths: list[int], n_texts: int) -> None:
    """None is 0, so that no entry is; they fit above the numbers, of which there are several times the texts."""
    classes = cut_classes(np.array(lengths, np.int32), n_texts)

    assert (np.diff(classes.of_length.astype(np.int64)) >= 0).all()
    assert classes.of_length.min() >= 1
    assert int(classes.of_length.max()) < 1 << (BITS_OF_ENTRY - classes.number_bits)
    assert 1 << classes.number_bits >= 8 * n_texts


def test_lengths_in_use_are_told_apart() -> None:
    """With room for 63 classes, a text is of another class than one half as long again."""
    classes = cut_classes(np.arange(8, 400, dtype=np.int32), 5_000_000)

    for length in (10, 20, 50, 100, 200):
        assert classes.of_length[length * 3 // 2] > classes.of_length[length] + 3


def test_there_is_one_class_where_numbers_take_all_bits() -> None:
    """Or nearly all, or nothing is known of lengths."""
    assert cut_classes(np.arange(8, 400, dtype=np.int32), 100_000_000) is ONE_CLASS
    assert cut_classes(np.zeros(0, np.int32), 1000) is ONE_CLASS


CLASSES = [EntryClasses((np.arange(256) // 4 + 1).astype(np.uint8), number_bits) for number_bits in (8, 9, 10, 24)]


@pytest.mark.parametrize("classes", [*CLASSES, RESIDUES, ONE_CLASS])
@pytest.mark.parametrize("use", ["blocks", "tables"])
def test_tables_with_classes_keep_their_contract(use: str, classes: EntryClasses) -> None:
    """However few numbers are told apart: classes are given up in time, and old numbers that come again do no harm."""

    def make(expectation: Expectation) -> LiveIndex:
        options = {} if use == "blocks" else {"n_tables": 12, "key_bits": 8}
        index = make_live_index(ComponentSettings(use=use, options=options), expectation)
        assert isinstance(index, LiveTables)
        planned = index.shape
        shape = LiveShape(planned.keys, planned.description, planned.exact, planned.fits_any, classes)
        return LiveTables(shape, expectation, sketched=False)

    check_live_index(make)


def test_exact_tables_go_by_residues_as_far_as_there_is_room() -> None:
    """With more texts, the numbers take all bits."""

    def classes_for(n_texts: int) -> EntryClasses:
        index = make_live_index(ComponentSettings(use="blocks"), Expectation(n_texts, 1, 64, 3, no_pilot))
        assert isinstance(index, LiveTables)
        return index.shape.classes

    assert classes_for(1) is classes_for(50_000_000) is RESIDUES
    assert classes_for(60_000_000) is ONE_CLASS


@pytest.mark.parametrize(
    ("window", "number_bits", "by_octets"),
    [
        (2**16, TOLD_BITS - 2, False),
        (2**18, TOLD_BITS - 2, False),
        (2**16, TOLD_BITS - 3, True),
        (2**20, TOLD_BITS - 3, True),
    ],
)
def test_residues_stay_exact_while_numbers_come_again(window: int, number_bits: int, by_octets: bool) -> None:
    """And when they are given up, as more numbers are live than are told apart well: copies of any text are found."""
    rng, position, batch = np.random.default_rng(window), 0, 2**14
    classes = EntryClasses(ONE_CLASS.of_length, number_bits, by_residues=True, by_octets=by_octets)
    expectation = Expectation(window, 1, 64, 3, no_pilot)
    index = make_live_index(ComponentSettings(use="blocks", options={"n_blocks": 4}), expectation)
    assert isinstance(index, LiveTables)
    index = LiveTables(replace(index.shape, classes=classes), expectation)
    added = rng.integers(0, 2**64, (window + 2**20 + 2 * batch, 1), np.uint64)
    while position < len(added):
        index.add(prints_without_lengths(added[position : position + batch], position))
        position += batch
        index.forget_before(position - window)
        if position in (window, len(added)):  # just full, and when numbers have come again
            earlier = np.sort(rng.choice(window, batch, replace=False)) + position - window
            later = prints_without_lengths(added[earlier] ^ np.uint64(0b10011 << 17), position)
            found = index.candidates(later)
            pairs = set(zip(found.earlier.tolist(), found.later.tolist(), strict=True))
            assert set(zip(earlier.tolist(), later.positions.tolist(), strict=True)) <= pairs
            assert found.earlier.min() >= position - window
    assert (index._tables._classes.by_residues, index._tables._classes.by_octets) == (window < 2**18, by_octets)


def prints_without_lengths(bits: UInt64s, position: int) -> Fingerprints:
    """Fingerprints whose limit is 3 and nothing else, from a position on."""
    limits = make_limits(len(bits), max_hamming_distances=3)
    strengths = np.zeros((len(bits), 0), np.uint8)
    return Fingerprints(position + np.arange(len(bits)), bits, strengths, limits)
