"""The choice: a fast shape of those that find enough and fit, exact where it may; what is said about the others."""

from __future__ import annotations

import json
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.planner.choosing import EXACT_IS_WORTH, MOST_BUCKET_BITS_OF_A_RUN, Plan, make_plan
from hybriddup.planner.question import make_question
from hybriddup.planner.shapes import pigeonhole_shapes, probing_shapes, sampled_shapes, scan_shape
from hybriddup.steps.blocks.pigeonhole import MAX_BUCKET_BITS

FIFTY_MILLION = 50_000_000


def verdicts(plan: Plan) -> dict[str, str]:
    return {judged.shape.name: judged.verdict for judged in plan.judged}


@st.composite
def questions(draw: st.DrawFn) -> dict:
    """Numbers that a question may ask, of every size."""
    bits = draw(st.sampled_from([64, 128]))
    distance, share = draw(st.integers(0, 40)), draw(st.floats(0.01, 0.3))
    wanted = draw(st.sampled_from([{"max_hamming_distance": distance}, {"edit_share": share}]))
    memory = draw(st.none() | st.integers(10**3, 10**11))
    recall = draw(st.floats(0.5, 0.999))
    return {"n_posts": draw(st.integers(1, 10**8)), "bits": bits, "recall": recall, "memory": memory, **wanted}


@settings(max_examples=25)
@given(questions())
def test_chosen_shape_is_the_fastest_that_finds_enough_and_fits_or_nearly_so_and_exact(numbers: dict) -> None:
    """Of all shapes that hybriddup has, shown or not: an exact one may take a quarter longer."""
    question = make_question(**numbers)
    shapes = [*pigeonhole_shapes(question), *probing_shapes(question), *sampled_shapes(question), scan_shape(question)]
    fitting = [
        shape
        for shape in shapes
        if shape.recall >= question.recall and (question.memory is None or shape.n_bytes <= question.memory)
    ]
    chosen = make_plan(question).chosen
    if chosen is None:
        assert fitting == []
    else:
        assert chosen in fitting
        fastest = min(shape.cost for shape in fitting)
        fastest_exact = min((shape.cost for shape in fitting if shape.blocks["use"] != "tables"), default=inf)
        assert chosen.cost == (fastest_exact if fastest_exact <= EXACT_IS_WORTH * fastest else fastest)


@settings(max_examples=25)
@given(questions())
def test_every_shape_has_a_verdict_and_one_at_most_is_chosen(numbers: dict) -> None:
    """Those that are there for comparison are never chosen, and the sentence names the shape."""
    plan = make_plan(make_question(**numbers))
    assert all(judged.verdict for judged in plan.judged)
    assert [judged.shape for judged in plan.judged if judged.chosen] == ([plan.chosen] if plan.chosen else [])
    assert plan.chosen is None or (plan.chosen.blocks is not None and plan.chosen.name in plan.why)


def test_memory_rules_out_what_is_too_large() -> None:
    """What is fastest for 500 million posts takes 10.1 GB, and ten tables take more; a single one fits."""
    numbers = {"n_posts": 10 * FIFTY_MILLION, "bits": 64, "max_hamming_distance": 3, "recall": 1}
    limited = make_plan(make_question(**numbers, memory=10_000_000_000))
    assert verdicts(make_plan(make_question(**numbers)))["probing: 3 within 0-1 bit"] == "chosen"
    assert verdicts(limited)["probing: 3 within 0-1 bit"] == "over memory"
    assert verdicts(limited)["blocks: 5 choose 2"] == "over memory"
    assert verdicts(limited)["probing: 1 within 3 bits"] == "chosen"


def test_recall_rules_out_what_misses_too_much() -> None:
    """Only exact shapes find every pair, and the fastest is taken where memory is no matter."""
    plan = make_plan(make_question(FIFTY_MILLION, 64, max_hamming_distance=3, recall=1))
    sampled = [verdict for name, verdict in verdicts(plan).items() if name.startswith("tables")]
    assert sampled
    assert all(verdict.startswith("under recall") for verdict in sampled)
    assert verdicts(plan)["probing: 3 within 0-1 bit"] == "chosen"


def test_slower_shapes_say_by_how_much() -> None:
    """As a multiple of the time of the chosen one."""
    plan = make_plan(make_question(FIFTY_MILLION, 64, max_hamming_distance=3, recall=1))
    assert plan.chosen is not None
    scan = next(judged for judged in plan.judged if judged.shape.name == "scan")
    assert scan.verdict == f"{scan.shape.cost / plan.chosen.cost:,.0f} x slower"


def test_exact_shape_is_chosen_though_tables_are_a_little_faster() -> None:
    """The sentence says which are, and why they were not taken; their line says that they are not exact."""
    plan = make_plan(make_question(FIFTY_MILLION, 64, max_hamming_distance=8, memory=1_500_000_000))
    assert verdicts(plan)["probing: 3 within 2 bits"] == "chosen"
    assert verdicts(plan)["tables: 5 of 18, 6 weak"] == "1.2 x faster, not exact"
    assert plan.why == (
        "probing: 3 within 2 bits is chosen: of those that find at least 0.99 of the pairs in at most 1.5 GB it is the "
        "fastest that misses nothing within the limit; tables: 5 of 18, 6 weak, which misses some, is 1.2 x as fast as "
        "it, and below 1.25 x estimates do not tell which is faster."
    )


def test_tables_that_are_hardly_faster_are_said_to_be_so() -> None:
    """Not 1.0 times as fast."""
    plan = make_plan(make_question(FIFTY_MILLION, 64, max_hamming_distance=3, memory=1_500_000_000))
    assert verdicts(plan)["probing: 3 within 0-1 bit"] == "chosen"
    assert verdicts(plan)["tables: 3 of 22, 3 weak"] == "no faster"
    assert "; tables: 3 of 22, 3 weak, which misses some, is hardly faster than it, and below 1.25 x" in plan.why


def test_few_posts_are_scanned() -> None:
    """Where distances are large, comparing with a few hundred is cheaper than any table."""
    plan = make_plan(make_question(300, 128, max_hamming_distance=40))
    assert plan.chosen is not None
    assert plan.chosen.blocks == {"use": "scan"}


def test_approximate_choice_is_compared_with_the_fastest_exact_shape() -> None:
    """So that its price in missed pairs can be weighed."""
    plan = make_plan(make_question(FIFTY_MILLION, 64, max_hamming_distance=8))
    assert plan.why.endswith("the next one that misses nothing within the limit, probing: 3 within 2 bits.")


def test_where_nothing_fits_the_sentence_says_what_would() -> None:
    """The smallest shape that finds enough, and what to change."""
    plan = make_plan(make_question(FIFTY_MILLION, 128, max_hamming_distance=20, memory=10**6))
    assert plan.chosen is None
    assert plan.why == (
        "No shape finds at least 0.99 of the pairs in at most 1.0 MB: scan needs least, 800 MB. Allow more memory, or "
        "plan for fewer posts or bits."
    )


@pytest.mark.parametrize("wanted", [{"max_hamming_distance": 40}, {"edit_share": 0.1}])
def test_plan_is_plain_data(wanted: dict) -> None:
    """JSON holds it, with the configuration of the chosen shape."""
    plan = make_plan(make_question(10**6, 128, **wanted))
    data = json.loads(json.dumps(plan.to_dict()))
    chosen = next(shape for shape in data["shapes"] if shape["verdict"] == "chosen")
    assert (chosen["name"], chosen["blocks"]) == (data["chosen"], data["blocks"])
    assert data["edit_share"] == wanted.get("edit_share")
    assert [len(shape) for shape in data["shapes"]] == [10] * len(data["shapes"])


def test_modeled_distances_are_stated_as_an_assumption() -> None:
    """With the mean and the limit that follow from the share of edited characters."""
    plan = make_plan(make_question(10**6, 128, edit_share=0.1))
    stated = next(line for line in plan.assumptions if "0.1 of the characters edited" in line)
    assert "by a model" in stated
    assert f"in at most {plan.question.distances.limit}," in stated


def test_bound_on_buckets_of_a_run_is_stated_where_it_is_met() -> None:
    """And is that of the block indexes."""
    assert MOST_BUCKET_BITS_OF_A_RUN == MAX_BUCKET_BITS
    for n_posts, stated in ((2**22 - 1, False), (2**22, True)):
        assumptions = make_plan(make_question(n_posts, 64, max_hamming_distance=3)).assumptions
        assert any("uses at most 22" in line for line in assumptions) == stated
