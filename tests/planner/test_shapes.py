"""The shapes against the block indexes that they stand for: look-ups, comparisons, and what is found."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb, sqrt

import numpy as np
import pytest

from hybriddup.config import load_settings
from hybriddup.planner.distances import after_edits, at_distance
from hybriddup.planner.question import Question
from hybriddup.planner.shapes import (
    MAX_PROBES,
    Shape,
    naive_shapes,
    pigeonhole_groups,
    pigeonhole_shapes,
    probing_groups,
    probing_shapes,
    sampled_shape,
    sampled_shapes,
    scan_shape,
)
from hybriddup.planner.weak_bits import PairModel, found_by_tables
from hybriddup.records import Fingerprints, UInt8s
from hybriddup.steps.blocks import BlockIndex, Expectation
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing, cut_blocks
from hybriddup.steps.blocks.scan import Scan
from hybriddup.steps.blocks.tables import Tables
from tests.builders import make_limits, make_prints, numbers_of, words_of
from tests.steps.block_runs import expectation_of, no_pilot

N_POSTS, N_LATER = 3000, 400


def make_index(shape: Shape) -> BlockIndex:
    """The block index that a configuration with the shape's ``blocks`` makes."""
    options = dict(shape.blocks or {})
    use = options.pop("use")
    if use == "scan":
        return Scan()
    component = {"blocks": Blocks, "probing": Probing, "tables": Tables}[str(use)]
    return component(component.Options.model_validate(options))  # type: ignore[attr-defined, no-any-return]


def random_prints(rng: np.random.Generator, n: int, bits: int, distance: int, first: int = 0) -> Fingerprints:
    words = rng.integers(0, 2**64, (n, bits // 64), np.uint64)
    return prints_of(words, rng.integers(0, 16, (n, bits)).astype(np.uint8), distance, first)


def prints_of(words: np.ndarray, strengths: UInt8s, distance: int, first: int = 0) -> Fingerprints:
    n, bits = strengths.shape
    limits = make_limits(n, max_hamming_distances=distance)
    return make_prints(numbers_of(words), bits, limits=limits, strengths=strengths, positions=range(first, first + n))


def exact_shapes(question: Question) -> list[Shape]:
    few = [shape for shape in probing_shapes(question) if shape.look_ups < 2000]
    return [*(shape for shape in pigeonhole_shapes(question) if shape.n_tables < 60), *few, scan_shape(question)]


def some_sampled_shapes(question: Question) -> list[Shape]:
    return [sampled_shape(question, key_bits, weak, 5, 0.9) for key_bits, weak in ((6, 0), (10, 2), (12, 4))]


CASES = [
    pytest.param(question, shape, id=f"{question.bits} bits, {question.distances.limit}, {shape.name}")
    for question in (Question(N_POSTS, bits, at_distance(n), 0.99) for bits, n in ((64, 0), (64, 3), (64, 8), (128, 5)))
    for shape in (*exact_shapes(question), *some_sampled_shapes(question))
]


@pytest.mark.parametrize(("question", "shape"), CASES)
def test_look_ups_and_comparisons_are_those_that_the_index_reports(question: Question, shape: Shape) -> None:
    """Look-ups to the last one; comparisons of evenly spread fingerprints within 6 standard errors."""
    rng = np.random.default_rng(question.bits)
    earlier = random_prints(rng, N_POSTS, question.bits, question.distances.limit)
    later = random_prints(rng, N_LATER, question.bits, question.distances.limit, first=N_POSTS)
    index = make_index(shape)
    index.prepare(expectation_of(earlier, pilot=lambda: (earlier, earlier)))
    index.add(earlier)
    index.candidates(later)
    report, expected = index.report(), N_LATER * shape.candidates
    assert report.n_look_ups == N_LATER * shape.look_ups
    # Tables share blocks, so that a pair that meets in one meets in another more often than by chance.
    assert abs(report.n_comparisons - expected) <= 6 * sqrt(2 * expected)


# --- exact shapes find everything ---


NEIGHBOURS = list(chain.from_iterable(combinations(range(64), n) for n in range(4)))
"""All ways to flip up to 3 of 64 bits."""


@pytest.mark.parametrize("shape", exact_shapes(Question(1, 64, at_distance(3), 1.0)), ids=lambda shape: shape.name)
def test_exact_shapes_find_every_neighbour(shape: Shape) -> None:
    """One post, and every fingerprint that differs from it in at most 3 of 64 bits: all 43,745 find it."""
    origin = 0x0123_4567_89AB_CDEF
    numbers = [origin ^ sum(1 << bit for bit in flipped) for flipped in NEIGHBOURS]
    earlier, later = make_prints([origin]), make_prints(numbers, positions=range(1, len(numbers) + 1))
    index = make_index(shape)
    index.prepare(expectation_of(earlier))
    index.add(earlier)
    assert len(index.candidates(later)) == len(NEIGHBOURS) == 43_745
    assert index.report().exact


@pytest.mark.parametrize(("n_blocks", "n_key_blocks"), [(4, 1), (5, 2), (6, 3), (7, 4), (11, 3)])
@pytest.mark.parametrize("bits", [64, 128])
def test_tables_by_key_length_are_those_of_the_blocks(bits: int, n_blocks: int, n_key_blocks: int) -> None:
    """Wider and narrower blocks, chosen in every way."""
    keys = [sum(map(len, chosen)) for chosen in combinations(cut_blocks(bits, n_blocks), n_key_blocks)]
    groups = pigeonhole_groups(bits, n_blocks, n_key_blocks)
    assert sorted(keys) == sorted(key for group in groups for key in [group.key_bits] * group.n_tables)


@pytest.mark.parametrize(("n_blocks", "distance"), [(1, 0), (1, 2), (3, 7), (5, 3), (7, 17), (20, 40), (20, 10)])
def test_groups_of_probing_are_its_tables(n_blocks: int, distance: int) -> None:
    """Key lengths and radii, table by table, the farthest first."""
    index = Probing(Probing.Options(n_blocks=n_blocks))
    index.prepare(Expectation(1000, 1, 128, distance, no_pilot))
    groups = probing_groups(128, n_blocks, distance)
    made = [(len(table.key), table.neighbours.radius) for table in index.shape.tables]
    assert made == [(group.key_bits, group.radius) for group in groups for _ in range(group.n_tables)]


# --- sampled tables find what the formula says ---


def simulated_pairs(rng: np.random.Generator, n: int, n_tokens: int, n_kept: int) -> tuple[Fingerprints, Fingerprints]:
    """Posts and edited copies as simhash makes them of weighted tokens; strengths in 16 levels, as in a run."""
    votes = rng.integers(0, 2, (n, 2 * n_tokens - n_kept, 128), np.int8) * 2 - 1
    weights = rng.uniform(2, 5, (n, votes.shape[1], 1))
    of_copy = np.r_[:n_kept, n_tokens : votes.shape[1]]
    parts = [(votes[:, tokens], weights[:, tokens]) for tokens in (np.arange(n_tokens), of_copy)]
    sums, totals = [(part * weight).sum(axis=1) for part, weight in parts], [weight.sum(axis=1) for _, weight in parts]
    shares = [np.abs(part) / total for part, total in zip(sums, totals, strict=True)]
    strengths = [np.minimum(16 * np.sqrt(4 * share), 15).astype(np.uint8) for share in shares]
    words = [np.packbits(part > 0, axis=1, bitorder="little").view(np.uint64) for part in sums]
    return prints_of(words[0], strengths[0], 127), prints_of(words[1], strengths[1], 127, first=n)


@pytest.mark.parametrize(("key_bits", "n_weak_bits", "n_tables"), [(12, 0, 25), (14, 2, 10), (16, 4, 10), (18, 6, 4)])
def test_tables_find_the_expected_share(key_bits: int, n_weak_bits: int, n_tables: int) -> None:
    """The index itself, on pairs of simhashes, at the distances that these happen to have."""
    n_pairs = 1200
    post, copy = simulated_pairs(np.random.default_rng(7), n_pairs, 60, 51)
    question = Question(n_pairs, 128, at_distance(127), 0.9)
    index = make_index(sampled_shape(question, key_bits, n_weak_bits, n_tables, 0.9))
    index.prepare(expectation_of(post, pilot=lambda: (post, copy)))
    index.add(post)
    pairs = index.candidates(copy)
    n_found = np.count_nonzero(pairs.later - pairs.earlier == n_pairs)
    distances = np.bitwise_count(post.bits ^ copy.bits).sum(axis=1)
    by_table = PairModel(128, range(129)).found_by_table(key_bits, n_weak_bits)[n_weak_bits, distances]
    assert n_found / n_pairs == pytest.approx(found_by_tables(by_table, n_tables).mean(), abs=0.03)


def test_fewest_tables_are_taken_that_reach_the_recall() -> None:
    """One table less would miss it, unless one is all there are."""
    question = Question(10**6, 128, after_edits(0.1, 128, 0.95), 0.95)
    model = PairModel(128, range(question.distances.limit + 1))
    for shape in sampled_shapes(question):
        key_bits, weak, n_tables = (int(shape.option(name) or 0) for name in ("key_bits", "n_weak_bits", "n_tables"))
        by_table = model.found_by_table(key_bits, 6)[weak]
        fewer = float(question.distances.probabilities @ found_by_tables(by_table, n_tables - 1))
        assert fewer < question.recall
        assert shape.recall >= question.recall or n_tables == 64


# --- what configurations take ---


QUESTIONS = [Question(50_000_000, bits, at_distance(n), 0.99) for bits, n in ((64, 0), (64, 3), (128, 12), (512, 63))]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: f"{question.bits}-{question.distances.limit}")
def test_every_shape_is_one_that_a_configuration_may_have(question: Question) -> None:
    """Its options are in range, and the index promises the distance."""
    made = [*pigeonhole_shapes(question), *probing_shapes(question), *list(sampled_shapes(question))[::20]]
    band = {"max_hamming_distance": question.distances.limit, "verifier": {"use": "edit", "threshold": 0.8}}
    for shape in [*made, scan_shape(question)]:
        settings = load_settings({"fingerprint": {"bits": question.bits}, "blocks": shape.blocks, "lengths": [band]})
        assert settings.blocks.use == shape.blocks["use"]


def test_probing_stops_at_the_probes_that_are_allowed() -> None:
    """What a configuration refuses by default is not offered."""
    assert Probing.Options().max_probes == MAX_PROBES
    names = [shape.name for shape in probing_shapes(Question(1000, 128, at_distance(40), 1.0))]
    assert names[0] == "probing: 7 within 4-5 bits"


# --- for comparison ---


def test_naive_shapes_are_sums_of_binomials() -> None:
    """All neighbours looked up, or stored: 43,745 for 3 of 64 bits."""
    probing, storing = naive_shapes(Question(1000, 64, at_distance(3), 1.0))
    assert (probing.look_ups, storing.look_ups) == (sum(comb(64, n) for n in range(4)), 1)
    assert storing.n_bytes - probing.n_bytes == 1000 * 43_744 * (8 + 4)
    assert (probing.blocks, storing.blocks) == (None, None)


def test_neighbours_of_wide_fingerprints_are_numbers_too() -> None:
    """Hundreds of digits are no error, and JSON gets them as floats."""
    probing, storing = naive_shapes(Question(10**9, 512, at_distance(300), 1.0))
    assert probing.to_dict()["look_ups"] > 1e140
    assert isinstance(storing.to_dict()["n_bytes"], float)


def test_words_of_prints_are_those_of_the_builders() -> None:
    """The simulated pairs pack their bits as fingerprints do: bit ``b`` is bit ``b % 64`` of word ``b // 64``."""
    bits = np.zeros((1, 128), np.uint8)
    bits[0, [0, 70]] = 1
    assert np.packbits(bits, axis=1, bitorder="little").view(np.uint64).tolist() == words_of([1 | 1 << 70], 2).tolist()
