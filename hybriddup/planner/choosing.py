"""Which shape suits: a fast one that finds enough and fits into memory, exact where it may; and why others do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hybriddup.planner.formulas import COST_OF_COMPARISON, COST_OF_LOOK_UP, COST_OF_SCANNING, COST_OF_TABLE
from hybriddup.planner.quantities import show_bytes, show_times
from hybriddup.planner.question import Question
from hybriddup.planner.shapes import (
    MAX_WEAK_BITS,
    Shape,
    naive_shapes,
    pigeonhole_shapes,
    probing_shapes,
    sampled_shapes,
    scan_shape,
)

MOST_OF_A_KIND = 4
"""Shapes of a kind that are shown."""
EXACT_IS_WORTH = 1.25
"""An exact shape is preferred to an approximate one unless that is more than so many times as fast. What is missed is
sure, and a small gain is not: of 24 shapes that were measured with 300,000 random fingerprints, the middle half took
0.75 to 1.02 of the time estimated, so that a smaller difference between two estimates may be none."""
ALIKE = 1.05
"""Estimates that differ by less are called the same."""
MOST_BUCKET_BITS_OF_A_RUN = 22
"""A run over files numbers buckets with at most this many bits."""


@dataclass(frozen=True)
class JudgedShape:
    """A shape, and what speaks for or against it."""

    shape: Shape
    chosen: bool
    verdict: str
    """``chosen``, or why not, such as ``over memory`` or ``3.1 x slower``."""


@dataclass(frozen=True)
class Plan:
    """Every shape worth showing, and the one to use."""

    question: Question
    judged: list[JudgedShape]
    chosen: Shape | None
    """None where no shape finds enough in the memory allowed."""
    why: str
    """One sentence about the choice."""
    assumptions: list[str]
    """What the numbers rest on, a sentence each."""

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data that JSON can hold."""
        question = self.question
        return {
            "posts": question.n_posts,
            "bits": question.bits,
            "max_hamming_distance": question.distances.limit,
            "edit_share": question.distances.edit_share,
            "recall": question.recall,
            "memory": question.memory,
            "chosen": self.chosen.name if self.chosen else None,
            "blocks": self.chosen.blocks if self.chosen else None,
            "why": self.why,
            "shapes": [judged.shape.to_dict() | {"verdict": judged.verdict} for judged in self.judged],
            "assumptions": self.assumptions,
        }


def make_plan(question: Question) -> Plan:
    """Return every shape worth showing, judged, and which of those that find enough in the memory allowed suits."""
    shapes = candidate_shapes(question)
    fitting = [shape for shape in shapes if shape.blocks and not faults(shape, question)]
    chosen = choose(fitting)
    judged = [JudgedShape(shape, shape is chosen, verdict(shape, chosen, question)) for shape in shapes]
    return Plan(question, judged, chosen, explain(chosen, fitting, shapes, question), list_assumptions(question))


def choose(fitting: Sequence[Shape]) -> Shape | None:
    """Return the fastest, or the fastest exact one where it takes at most `EXACT_IS_WORTH` times as long."""
    fastest = fastest_of(fitting)
    exact = fastest_of([shape for shape in fitting if shape.is_exact])
    return exact if exact and fastest and exact.cost <= EXACT_IS_WORTH * fastest.cost else fastest


def fastest_of(shapes: Sequence[Shape]) -> Shape | None:
    """Return the shape that costs least, of equal ones the smallest; None where there are no shapes."""
    return min(shapes, key=lambda shape: (shape.cost, shape.n_bytes), default=None)


def candidate_shapes(question: Question) -> list[Shape]:
    """Return the shapes to show: of each kind those that suit best, kind by kind."""
    kinds = (pigeonhole_shapes(question), probing_shapes(question), best_sampled(question))
    tables = [shape for kind in kinds for shape in best(kind, question)]
    return [*tables, scan_shape(question), *naive_shapes(question)]


def best(shapes: Iterable[Shape], question: Question) -> list[Shape]:
    """Return the shapes that suit best, at most `MOST_OF_A_KIND`, in the order in which they were made."""
    made = list(shapes)
    ranked = sorted(made, key=lambda shape: shortfall(shape, question))
    return [shape for shape in made if shape in ranked[:MOST_OF_A_KIND]]


def best_sampled(question: Question) -> Iterator[Shape]:
    """Yield the shape of `tables` that suits best for each number of weak bits."""
    made = list(sampled_shapes(question))
    for n_weak_bits in range(MAX_WEAK_BITS + 1):
        alike = [shape for shape in made if shape.option("n_weak_bits") == n_weak_bits]
        yield min(alike, key=lambda shape: shortfall(shape, question))


def shortfall(shape: Shape, question: Question) -> tuple[float, float, float]:
    """Return by how much a shape misses the recall and the memory, then its cost; the smallest suits best."""
    too_large = 0 if question.memory is None else max(0, shape.n_bytes - question.memory)
    return max(0.0, question.recall - shape.recall), too_large, shape.cost


def faults(shape: Shape, question: Question) -> list[str]:
    """Return what rules a shape out."""
    missing, too_large, _ = shortfall(shape, question)
    return ["under recall"] * (missing > 0) + ["over memory"] * (too_large > 0)


def verdict(shape: Shape, chosen: Shape | None, question: Question) -> str:
    """Return why a shape was chosen or not, in a few words."""
    if shape is chosen:
        return "chosen"
    against = faults(shape, question)
    if not against and chosen is not None:
        against = [compare(shape.cost, chosen.cost)]
    return ", ".join(against) or "for comparison"


def compare(cost: float, cost_of_chosen: float) -> str:
    """Return how much slower or faster a shape is than the chosen one, in a few words."""
    if cost >= ALIKE * cost_of_chosen:
        return f"{show_times(cost / cost_of_chosen)} x slower"
    if cost * ALIKE <= cost_of_chosen:
        return f"{show_times(cost_of_chosen / cost)} x faster, not exact"
    return "no faster"


def explain(chosen: Shape | None, fitting: Sequence[Shape], shapes: Sequence[Shape], question: Question) -> str:
    """Return one sentence about the choice, and what to do where there is none."""
    wanted = f"at least {question.recall:g} of the pairs"
    limit = "" if question.memory is None else f" in at most {show_bytes(question.memory)}"
    if chosen is None:
        reaching = [shape for shape in shapes if shape.blocks and shape.recall >= question.recall]
        smallest = min(reaching, key=lambda shape: shape.n_bytes)
        return (
            f"No shape finds {wanted}{limit}: {smallest.name} needs least, {show_bytes(smallest.n_bytes)}. "
            "Allow more memory, or plan for fewer posts or bits."
        )
    return f"{chosen.name} is chosen: of those that find {wanted}{limit} it is {rank(chosen, fitting)}."


def rank(chosen: Shape, fitting: Sequence[Shape]) -> str:
    """Return by how much the chosen shape is ahead of the next, or why it is preferred to a faster one."""
    others = sorted((shape for shape in fitting if shape is not chosen), key=lambda shape: shape.cost)
    if not others:
        return "the only one"
    if others[0].cost < chosen.cost:
        return (
            f"the fastest that misses nothing within the limit; {others[0].name}, which misses some, is "
            f"{ahead(chosen.cost / others[0].cost)} it, and below {EXACT_IS_WORTH} x estimates do not tell which is "
            "faster"
        )
    exact = [shape for shape in others if shape.is_exact and not chosen.is_exact]
    following = exact[0] if exact else others[0]
    kind = "one that misses nothing within the limit" if exact else "one"
    return f"the fastest, {ahead(following.cost / chosen.cost)} the next {kind}, {following.name}"


def ahead(ratio: float) -> str:
    """Return by how much a shape is faster, such as ``3.1 x as fast as``, to be followed by the other one."""
    return f"{show_times(ratio)} x as fast as" if ratio >= ALIKE else "hardly faster than"


def list_assumptions(question: Question) -> list[str]:
    """Return what the numbers rest on."""
    spread = (
        "Candidates are for evenly spread fingerprints and an index that holds all posts. Those of real texts crowd, "
        "which about doubles them; a run over files meets half of the posts on average, and only those of a length "
        "that allows a match."
    )
    memory = (
        "Memory is that of an index that holds all tables at once: a fingerprint a post, and for each table a link of "
        "4 bytes a post and a head of 4 bytes a bucket. A run over files keeps one table a worker."
    )
    time = (
        f"Time is estimated: {COST_OF_TABLE:g} ns a table, {COST_OF_LOOK_UP:g} ns a look-up, {COST_OF_COMPARISON:g} ns "
        f"a comparison, {COST_OF_SCANNING:g} ns where all are compared with all, as measured in runs over files, which "
        "sort buckets and read them in order. Tables, which miss some pairs, are chosen only where they are more than "
        f"{EXACT_IS_WORTH} x as fast as a shape that misses none."
    )
    weak = (
        "Recall of tables rests on a model: the sums behind the bits are Gaussian, and those near zero differ first. "
        "A run that plans by itself, with target_recall, measures it on edited copies of its own texts."
    )
    notes = [spread, about_distances(question), memory, time, weak]
    if question.n_posts.bit_length() > MOST_BUCKET_BITS_OF_A_RUN:
        notes.append(
            f"Buckets are numbered with as many bits as the posts need, {question.n_posts.bit_length()} at most; a run "
            f"over files uses at most {MOST_BUCKET_BITS_OF_A_RUN}, so that longer keys meet more candidates there."
        )
    return notes


def about_distances(question: Question) -> str:
    """Return which pairs the recall is about."""
    distances = question.distances
    if distances.edit_share is None:
        return f"Recall is that of pairs that differ in exactly {distances.limit} bits, the hardest within that limit."
    return (
        f"Recall is that of posts and their copies with {distances.edit_share:g} of the characters edited: by a model "
        "fitted to short posts of 5 to 20 % edited, with characters and pairs of characters as tokens, they differ in "
        f"{distances.mean:.1f} bits on average, and {distances.within_limit:.4f} of them in at most "
        f"{distances.limit}, which is taken for max_hamming_distance."
    )
