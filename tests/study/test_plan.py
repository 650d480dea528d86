"""Planning a block index: what is counted, measured and chosen."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from hybriddup.config import Settings, load_settings
from hybriddup.config.rules import limit_warning
from hybriddup.data.records import SKETCH_WORDS
from hybriddup.errors import ConfigError
from hybriddup.steps.blocks.pigeonhole import Blocks, count_neighbours
from hybriddup.study import plan as planning
from hybriddup.study.edited_posts import measure_edits
from hybriddup.study.plan import Plan, Question, Shape, choose, make_plan
from hybriddup.window.index import WindowSize, live_indexes
from hybriddup.window.index.live_indexes import make_live_index
from tests.builders import Fingerprints, make_batch, make_limits

CLOSE = Question(50_000_000, 64, max_hamming_distance=3)


def shapes_of(plan: Plan) -> dict[str, Shape]:
    """The shapes by the first words of their names."""
    return {shape.name.split(",")[0]: shape for shape in plan.shapes}


def made_shape(window_ns: float, *, exact: bool, blocks: Mapping[str, Any] | None = None) -> Shape:
    """A shape of which only what `choose` looks at matters."""
    use = {"use": "blocks" if exact else "shingles"} if blocks is None else dict(blocks)
    return Shape("made", use, 1, 1, 1, window_ns, 1, 1, 1.0, exact)


def test_keys_and_look_ups_are_those_of_the_block_indexes() -> None:
    shapes = shapes_of(make_plan(CLOSE))
    assert (shapes["blocks: 5 choose 2"].keys, shapes["blocks: 4 choose 1"].keys) == (10, 4)
    assert (shapes["probing: 3 keys"].keys, shapes["probing: 3 keys"].look_ups) == (3, 25)
    assert (shapes["shingles: 16 of each text"].keys, shapes["scan: every pair compared"].look_ups) == (16, 1)


def test_buckets_are_crowded_and_hold_no_more_than_all_posts() -> None:
    four = shapes_of(make_plan(CLOSE))["blocks: 4 choose 1"]
    every = [shape.comparisons for shape in make_plan(Question(100, 64, 30)).shapes if shape.blocks]
    assert four.comparisons == pytest.approx(2 * 4 * 50_000_000 / 2**16)
    assert all(comparisons <= 100 * 100_000 for comparisons in every)
    assert shapes_of(make_plan(Question(100, 64, 30)))["scan: every pair compared"].comparisons == 100


def test_naive_shapes_have_every_neighbor_and_are_never_chosen() -> None:
    plan = make_plan(CLOSE)
    probing, storing = plan.shapes[-2:]
    assert probing.look_ups == storing.keys == count_neighbours(64, 3)
    assert probing.verdict == storing.verdict == "for comparison"


@pytest.mark.parametrize(("n_posts", "comparisons"), planning.COMPARISONS.items())
def test_comparisons_by_shingles_are_those_measured(n_posts: int, comparisons: float) -> None:
    shingles = make_plan(Question(n_posts, max_hamming_distance=40)).shapes[0]
    assert shingles.comparisons == pytest.approx(comparisons)


def test_times_in_a_window_are_near_those_measured() -> None:
    shapes = shapes_of(make_plan(CLOSE))
    assert shapes["shingles: 16 of each text"].window_ns == pytest.approx(70_000, rel=0.1)
    cost = planning.COSTS["tables"]
    even = cost.look_up * 4 + cost.comparison * 3052 + cost.addition * 4
    assert even == pytest.approx(80_000, rel=0.1)


def test_memory_of_large_windows_is_near_that_measured() -> None:
    shapes = shapes_of(make_plan(CLOSE))
    sketches = 32 * CLOSE.posts
    shingles = make_plan(Question(50_000_000, 128, 40)).shapes[0]
    a_key = (shingles.n_bytes / 50_000_000 - 16 - planning.BYTES_BESIDE_BITS) / 16
    assert shapes["blocks: 4 choose 1"].n_bytes - sketches == pytest.approx(1.48e9, rel=0.05)
    assert (12 * a_key + 16 + planning.BYTES_BESIDE_BITS) * 50_000_000 - sketches == pytest.approx(3.10e9, rel=0.02)


@pytest.mark.parametrize(("n_blocks", "n_key_blocks"), [(4, 1), (5, 2)])
def test_memory_is_near_that_of_a_real_window(n_blocks: int, n_key_blocks: int) -> None:
    n = 50_000
    index = Blocks(Blocks.Options(n_blocks=n_blocks, n_key_blocks=n_key_blocks))
    index.prepare(64, 3)
    live = make_live_index(index, WindowSize(n, 64, sketched=True))
    bits = np.random.default_rng(1).integers(0, 2**63, (n, 1)).astype(np.uint64) * np.uint64(2)
    keys, prints = index.keys([""] * n, bits), Fingerprints(np.arange(n), bits, make_limits(n))
    live.add(make_batch(prints, np.zeros((n, SKETCH_WORDS), np.uint64), keys, keys), np.ones(n, np.bool_))
    planned = shapes_of(make_plan(Question(n, 64, 3)))[f"blocks: {n_blocks} choose {n_key_blocks}"]
    assert planned.n_bytes == pytest.approx(live.n_bytes, rel=0.25)


def test_a_window_has_tables_for_the_keys_that_plans_say() -> None:
    """The window's own limit, which study cannot import."""
    assert live_indexes.MOST_KEY_BITS == planning.MOST_KEY_BITS_OF_TABLES


@pytest.mark.parametrize("question", [CLOSE, Question(1_000_000, 128, 20), Question(200_000, 64, 8)])
def test_configuration_of_an_exact_shape_loads(question: Question) -> None:
    plan = make_plan(question)
    settings = load_settings(plan.configuration)
    assert settings.max_hamming_distance == question.max_hamming_distance
    assert settings.blocks.use == plan.configuration["blocks"]["use"]


@pytest.mark.parametrize("share", [0.05, 0.2])
@pytest.mark.parametrize("n_posts", [1000, 1_000_000, 50_000_000])
def test_plan_for_edited_short_posts_is_the_default(share: float, n_posts: int) -> None:
    plan = make_plan(Question(n_posts, edit_share=share))
    assert plan.configuration == {"blocks": {"use": "shingles"}}
    assert load_settings(plan.configuration) == load_settings({})


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_harder_edits_have_no_plan(share: float) -> None:
    plan = make_plan(Question(1_000_000, edit_share=share))
    assert (plan.chosen, plan.configuration) == (None, {})
    assert "shingles find 0." in plan.why


def test_other_widths_leave_the_limits_to_their_defaults() -> None:
    """The limits of 128 bits would let unrelated texts pass."""
    settings = load_settings(make_plan(Question(1_000_000, 64, edit_share=0.1)).configuration)
    assert [band.max_hamming_distance for band in settings.lengths] == [22, 22, 22, 20]
    assert settings.warnings() == []


def test_edits_are_measured_the_same_each_time() -> None:
    few, many = measure_edits(0.05, 128), measure_edits(0.4, 128)
    assert few == measure_edits(0.05, 128)
    assert few.share_a_key > many.share_a_key
    assert few.median < few.limit < many.limit
    assert few.within_limit >= 0.99


def test_exact_shapes_win_ties() -> None:
    lossy, scan = made_shape(100, exact=False), made_shape(50, exact=True, blocks={"use": "scan"})
    near, far = made_shape(120, exact=True), made_shape(130, exact=True)
    assert choose([lossy, near]) is near
    assert choose([lossy, far]) is lossy
    assert choose([scan, lossy]) is lossy
    assert choose([scan, far]) is scan
    assert choose([]) is None


def test_limits_over_three_eighths_are_warned_of() -> None:
    plan = make_plan(Question(1_000_000, 128, 49))
    assert plan.notes[-1].startswith("warning: the Hamming limit is 49 of 128 bits.")
    assert make_plan(Question(1_000_000, 128, 48)).notes == []
    assert limit_warning("x", 24, 64) is None


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Question(2**31, 64, 3), "--posts must be at most 2,147,483,647"),
        (Question(9, 100, 3), "--bits must be a multiple of 64 from 64 to 512; got 100"),
        (Question(9, 64), "give either --max-hamming-distance, in bits, or --edit-share"),
        (Question(9, 64, 3, 0.1), "got both of them"),
        (Question(9, 64, 64), "--max-hamming-distance must be from 0 to 63"),
        (Question(9, 64, None, 0.6), "--edit-share must be above 0 and at most 0.5"),
        (Question(9, 64, None, 0.1, 1.0), "--recall must be below 1 with --edit-share"),
        (Question(9, 64, 3, None, 0.0), "--recall must be above 0 and at most 1; got 0"),
    ],
)
def test_numbers_out_of_range_are_refused(question: Question, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_plan(question)


@pytest.mark.parametrize("bits", [64, 128, 512])
@pytest.mark.parametrize("distance", [0, 1, 20, 63])
def test_every_distance_can_be_planned_for(bits: int, distance: int) -> None:
    plan = make_plan(Question(300_000, bits, distance))
    assert plan.chosen is not None
    assert len(plan.configuration["lengths"]) == len(Settings().lengths)
