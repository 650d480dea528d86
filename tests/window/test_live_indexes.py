"""Every live index finds what a comparison of everything finds, while texts come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.config.settings import ComponentSettings
from hybriddup.records import CandidatePairs, Fingerprints
from hybriddup.steps.blocks import Expectation
from hybriddup.testing.contract import ContractError
from hybriddup.testing.live_indexes import check_live_index
from hybriddup.window.index import LiveIndex
from hybriddup.window.index.live_shapes import make_live_index
from hybriddup.window.index.live_tables import LiveTables
from tests.builders import as_triples, clustered_numbers, make_limits, make_prints
from tests.steps.block_runs import no_pilot

BLOCKS: list[Any] = [
    pytest.param("scan", {}, 40, id="scan"),
    pytest.param("blocks", {}, 3, id="blocks"),
    pytest.param("blocks", {"n_blocks": 5, "n_key_blocks": 2}, 3, id="blocks-5-choose-2"),
    pytest.param("probing", {"n_blocks": 4}, 9, id="probing"),
    pytest.param("tables", {"key_bits": 8}, 20, id="tables"),
    pytest.param("tables", {}, 20, id="tables-of-a-small-window"),
]


def live_index(use: str, options: dict[str, Any], expectation: Expectation, *, sketched: bool = False) -> LiveIndex:
    """An index made from settings."""
    return make_live_index(ComponentSettings(use=use, options=options), expectation, sketched=sketched)


@pytest.mark.parametrize(("use", "options", "distance"), BLOCKS)
def test_live_indexes_keep_their_contract(use: str, options: dict[str, Any], distance: int) -> None:
    """The checks are those of `hybriddup.testing`."""
    check_live_index(lambda expectation: live_index(use, options, expectation), max_hamming_distance=distance)


@pytest.mark.parametrize("use", ["scan", "blocks"])
def test_live_indexes_with_sketches_keep_their_contract(use: str) -> None:
    """Where no characters are needed in common, sketches rule nothing out."""
    check_live_index(lambda expectation: live_index(use, {}, expectation, sketched=True), bits=[128])


class FindsTheForgotten(LiveTables):
    """Forgets nothing."""

    def forget_before(self, position: int) -> None:
        """Do nothing."""


class FindsTwice(LiveTables):
    """Finds each pair twice."""

    def candidates(self, later: Fingerprints, sketches: Any = None, shingles: Any = None) -> CandidatePairs:
        """Return each pair twice."""
        pairs = super().candidates(later, sketches, shingles)
        return pairs.take(np.repeat(np.arange(len(pairs)), 2))


@pytest.mark.parametrize(("broken", "clause"), [(FindsTheForgotten, "counts"), (FindsTwice, "no pair is found twice")])
def test_contract_check_finds_faults(broken: type[LiveTables], clause: str) -> None:
    """An index that breaks a clause is told which."""

    def make(expectation: Expectation) -> LiveIndex:
        index = live_index("blocks", {}, expectation)
        assert isinstance(index, LiveTables)
        return broken(index.shape, expectation)

    with pytest.raises(ContractError, match=clause):
        check_live_index(make, bits=[64])


@settings(max_examples=40, deadline=None)
@given(data=st.data(), use=st.sampled_from(["scan", "blocks", "probing"]), bits=st.sampled_from([64, 128]))
def test_exact_indexes_equal_brute_force(data: st.DataObject, use: str, bits: int) -> None:
    """Whatever is added, looked up and forgotten, and however far apart the positions are."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n_texts = data.draw(st.sampled_from([1, 10, 300]))
    index = live_index(use, {}, Expectation(n_texts, 1, bits, 3, no_pilot))
    position, edge = 0, 0
    texts: list[tuple[int, int, int]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        size, gap = data.draw(st.integers(0, 80)), data.draw(st.sampled_from([1, 3, 70_000, 2**40]))
        numbers = clustered_numbers(rng, size, bits, 4, n_patterns=2)
        positions = (position + np.cumsum(rng.integers(1, gap + 1, size))).tolist()
        lengths = rng.integers(3, 9, size).tolist()
        limits = make_limits(
            size, lengths=lengths, max_hamming_distances=[length // 2 - 1 for length in lengths], max_partner_lengths=7
        )
        batch = make_prints(numbers, bits, positions=positions, limits=limits)
        assert as_triples(index.candidates(batch)) == brute_force(
            texts, list(zip(positions, numbers, lengths, strict=True))
        )
        index.add(batch)
        texts += zip(positions, numbers, lengths, strict=True)
        position = positions[-1] if positions else position
        edge = max(edge, data.draw(st.sampled_from([edge, position - 5, position - 40 * gap, position + 1])))
        index.forget_before(edge)
        texts = [text for text in texts if text[0] >= edge]
        assert index.report().n_texts == len(texts)


def brute_force(earlier: list[tuple[int, int, int]], later: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Pairs of texts (position, number, length) within their limits, by the rule in plain Python."""
    pairs = []
    for position, number, length in later:
        for other_position, other, other_length in earlier:
            distance, shorter = (number ^ other).bit_count(), min(length, other_length)
            if distance <= shorter // 2 - 1 and max(length, other_length) <= 7:
                pairs.append((other_position, position, distance))
    return pairs


@pytest.mark.parametrize("use", ["scan", "blocks"])
def test_sketches_rule_out_what_lacks_characters(use: str) -> None:
    """A later text finds the earlier one with enough of its characters, and not the other."""
    index = live_index(use, {}, Expectation(10, 1, 64, 3, no_pilot), sketched=True)
    limits = make_limits(3, lengths=8, common_of_shorter=0.75)
    prints = make_prints([5, 5, 5], limits=limits)
    eight, seven, four = (0b1111_1111, 0), (0b1_0111_1111, 0), (0b1111_0000_1111, 0)
    sketches = np.array([seven, four, eight], np.uint64)
    index.add(prints.take(slice(0, 2)), sketches[:2])

    assert as_triples(index.candidates(prints.take(slice(2, 3)), sketches[2:])) == [(0, 2, 0)]


@pytest.mark.parametrize("use", ["scan", "blocks"])
def test_a_text_does_not_find_itself_or_later_ones(use: str) -> None:
    """Texts looked up again after they were added find earlier ones only."""
    index = live_index(use, {}, Expectation(10, 1, 64, 3, no_pilot))
    prints = make_prints([1, 1, 3])
    index.add(prints)

    assert as_triples(index.candidates(prints)) == [(0, 1, 0), (0, 2, 1), (1, 2, 1)]


def test_many_lengths_need_no_more_than_their_own_numbers() -> None:
    """With more lengths than 16 bits number, every one has its own limits still."""
    n = 2**16 + 100
    index = live_index("blocks", {}, Expectation(n, 1, 64, 3, no_pilot))
    limits = make_limits(n, lengths=list(range(1, n + 1)), max_partner_lengths=list(range(1, n + 1)))
    prints = make_prints([number << 17 | number for number in range(n)], limits=limits)
    index.add(prints)
    later = Fingerprints(prints.positions + n, prints.bits, prints.strengths, prints.limits)
    chosen = later.take(np.array([0, 70, n - 1]))

    assert as_triples(index.candidates(chosen)) == [(0, n, 0), (70, n + 70, 0), (n - 1, 2 * n - 1, 0)]
