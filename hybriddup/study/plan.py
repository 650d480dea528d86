"""Chooses a block index for a given number of posts, by estimates of time, memory and recall of each possible index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hybriddup.config import Settings
from hybriddup.config.rules import limit_warning
from hybriddup.errors import ConfigError
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing, Scan, block_radii, count_neighbours
from hybriddup.steps.blocks.shingles import Shingles
from hybriddup.study.edited_posts import EditedPairs, measure_edits

MAX_POSTS, MAX_BITS, MAX_EDIT_SHARE, MAX_PROBES = 2**31 - 1, 512, 0.5, 100_000
MAX_BLOCKS, MAX_KEY_BLOCKS, SHOWN = 64, 4, 4
EXACT_IS_WORTH = 1.25
"""Factor by which an index that misses pairs must be faster than an exact one to be chosen."""
CROWDING = 2
"""Factor by which buckets are larger for real texts than for evenly distributed fingerprints."""
MOST_KEY_BITS_OF_TABLES = 18
"""Maximum number of fingerprint bits in a key that a window stores in tables; keys of more bits are stored in posting
lists."""

COMPARISONS: dict[float, float] = {1: 0, 50_000: 56, 300_000: 250, 1_000_000: 1212, 50_000_000: 1340}
"""Comparisons per post with `shingles`, by number of posts. Measured on 50,000 and 300,000 Weibo posts, a million
titles, and in a window of 50 million posts, where the bucket size limit caps the comparisons."""
SHINGLE_BYTES: dict[float, float] = {50_000: 9.3, 300_000: 8.0, 1_000_000: 7.1, 5_000_000: 5.9, 50_000_000: 3.5}
"""Bytes per post and key of the index `shingles`, by number of posts. Measured with 12 keys per post and fingerprints
of 128 bits: the index took 0.457 GB for 5 million posts and 3.10 GB for 50 million."""
LIST_BYTES: dict[float, float] = {0.2: 17, 0.7: 14.8, 3: 12, 5: 10.6, 15: 9.5}
"""Bytes per post and key in posting lists, by number of posts per key. Measured with 4 keys per post and fingerprints
of 64 bits."""
TABLE_BYTES: dict[float, float] = {0.76: 52, 3: 18, 5: 12.8, 15: 8.5, 40: 6.1, 150: 5.2, 780: 4.4}
"""Bytes per post and key in tables, by number of posts per key. Measured with 4 keys per post and fingerprints of 64
bits: the index took 1.48 GB for 50 million posts."""
BYTES_BESIDE_BITS = 2 + 2 + 8 / 64 + 32
"""Bytes per post in a window in addition to fingerprint and keys: length, position (relative to an absolute position
that 64 posts share), and character sketch."""


class Cost(NamedTuple):
    """Nanoseconds per look-up of a key, per comparison of two fingerprints, and per addition of a key."""

    look_up: float
    comparison: float
    addition: float


COSTS = {"lists": Cost(60, 50, 60), "tables": Cost(60, 25, 60), "scan": Cost(60, 1, 60), "run": Cost(30, 1, 30)}
"""Costs of an index: in a window, by how keys are stored (posting lists, tables, or not at all: scan), or in a run.

In lists and tables, a look-up waits for random memory accesses: a post in a window of 50 million took 70 us in lists
(16 look-ups, 1,336 comparisons) and 80 us in tables (4 look-ups, 3,052 comparisons). A run and a scan read memory
sequentially."""


@dataclass(frozen=True)
class Question:
    """The requirements for an index; exactly one of ``max_hamming_distance`` and ``edit_share`` is not None."""

    posts: int
    bits: int = 128
    max_hamming_distance: int | None = None
    edit_share: float | None = None
    recall: float = 0.99
    memory: int | None = None
    """Memory limit for the index of a window, in bytes; None = unlimited."""


@dataclass(frozen=True)
class Shape:
    """A block index with its options, and estimates of its cost per post, memory and recall."""

    name: str
    blocks: dict[str, Any] | None
    """Value of the key ``blocks`` in a configuration; None for an index that is listed only for comparison."""
    keys: float
    look_ups: float
    comparisons: float
    window_ns: float
    run_ns: float
    n_bytes: float
    """Memory of a window's index, in bytes."""
    recall: float | None
    """Share of the edited copies (or, without `Question.edit_share`, of the pairs within the limit) that the index
    finds, 0.0 to 1.0; None if it depends on the texts."""
    exact: bool
    """Whether every pair within the limit is found."""
    verdict: str = ""


@dataclass(frozen=True)
class Plan:
    """The block indexes worth comparing, with estimates, and the chosen one."""

    question: Question
    limit: int
    """Maximum Hamming distance, inclusive, of the pairs that an exact index must find."""
    shapes: list[Shape]
    chosen: str | None
    why: str
    configuration: dict[str, Any]
    """Contents of a configuration file that uses the chosen index; empty if none fits."""
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data for JSON."""
        return asdict(self)


def make_plan(question: Question) -> Plan:
    """Compare possible block indexes and choose one; raise ConfigError if a value in ``question`` is invalid."""
    if fault := next(find_faults(question), None):
        raise ConfigError(fault)
    edits = None if question.edit_share is None else measure_edits(question.edit_share, question.bits)
    limit = edits.limit if edits else question.max_hamming_distance or 0
    notes = [edits.describe()] if edits else []
    warning = limit_warning("the Hamming limit", limit, question.bits)
    shapes = list(list_shapes(question, limit, edits))
    against = [objection(shape, question, too_wide=warning is not None) for shape in shapes]
    fitting = [shape for shape, fault in zip(shapes, against, strict=True) if not fault]
    chosen = choose(fitting)
    judged = [
        replace(shape, verdict=fault or ("chosen" if shape is chosen else compare(shape, chosen)))
        for shape, fault in zip(shapes, against, strict=True)
    ]
    notes += [f"warning: {warning}"] if warning else []
    if chosen is None:
        return Plan(question, limit, judged, None, explain_none(shapes, question), {}, notes)
    why = f"Use {chosen.name}: in a window, the fastest that fits. Exact shapes win ties, up to {EXACT_IS_WORTH} times."
    return Plan(question, limit, judged, chosen.name, why, configuration(chosen, question.bits, limit), notes)


def find_faults(question: Question) -> Iterator[str]:
    """Yield an error message for each invalid value in ``question``."""
    bits, distance, share = question.bits, question.max_hamming_distance, question.edit_share
    if question.posts > MAX_POSTS:
        yield (
            f"--posts must be at most {MAX_POSTS:,}, because rows are numbered with 32 bits; got {question.posts:,}. "
            "Plan for parts, such as windows of time."
        )
    if not (64 <= bits <= MAX_BITS and bits % 64 == 0):
        yield f"--bits must be a multiple of 64 from 64 to {MAX_BITS}; got {bits}."
    if not 0 < question.recall <= 1:
        yield f"--recall must be above 0 and at most 1; got {question.recall:g}."
    if (distance is None) == (share is None):
        yield (
            "give either --max-hamming-distance, in bits, or --edit-share, the share of characters edited; "
            f"got {'neither' if share is None else 'both'} of them."
        )
    if distance is not None and not 0 <= distance < bits:
        yield f"--max-hamming-distance must be from 0 to {bits - 1}, below --bits; got {distance}."
    if share is not None and not 0 < share <= MAX_EDIT_SHARE:
        yield f"--edit-share must be above 0 and at most {MAX_EDIT_SHARE}; got {share}."
    if share is not None and question.recall == 1:
        yield (
            "--recall must be below 1 with --edit-share, because no limit holds every edited copy; got 1. "
            "Give --max-hamming-distance to plan for all pairs within a limit."
        )


def list_shapes(question: Question, limit: int, edits: EditedPairs | None) -> Iterator[Shape]:
    """Yield the block indexes worth comparing; the last two are naive indexes that are never chosen.

    ``limit`` is the Hamming limit. ``edits``: measurements on edited copies, from which the recall is taken; None = the
    limit was given, and exact indexes have a recall of 1.
    """
    of_shingles, of_exact = (edits.share_a_key, edits.within_limit) if edits else (None, 1.0)
    yield shape_of(Shingles(Shingles.Options()), {"use": "shingles"}, question, limit, of_shingles)
    for kind in (pigeonholes(question.bits, limit), probings(question.bits, limit)):
        shapes = [shape_of(index, blocks, question, limit, of_exact) for index, blocks in kind]
        yield from sorted(shapes, key=lambda shape: shape.window_ns)[:SHOWN]
    yield shape_of(Scan(), {"use": "scan"}, question, limit, of_exact)
    every = float(count_neighbours(question.bits, limit))
    yield price(question, "naive: look up all neighbours", None, (1, every, 0), ("lists", 17), of_exact, exact=True)
    yield price(question, "naive: store all neighbours", None, (every, 1, 0), ("lists", 17), of_exact, exact=True)


def pigeonholes(bits: int, limit: int) -> Iterator[tuple[BlockIndex, dict[str, Any]]]:
    """Yield one index of the kind `blocks` for each possible number of fingerprint blocks that a key combines.

    Each index divides the fingerprint into the fewest blocks with which it finds every pair within ``limit``, and so
    has the longest keys.
    """
    for n_key_blocks in range(1, MAX_KEY_BLOCKS + 1):
        index = Blocks(Blocks.Options.model_construct(n_blocks=limit + n_key_blocks, n_key_blocks=n_key_blocks))
        if index.options.n_blocks <= MAX_BLOCKS and not any(index.faults(limit, bits)):
            yield index, {"use": "blocks", "n_blocks": index.options.n_blocks, "n_key_blocks": n_key_blocks}


def probings(bits: int, limit: int) -> Iterator[tuple[BlockIndex, dict[str, Any]]]:
    """Yield block indexes ``probing``, one for each number of blocks per fingerprint, with their options.

    Numbers for which a text needs more than `MAX_PROBES` look-ups are skipped.
    """
    for n_blocks in range(1, min(limit, MAX_BLOCKS) + 1):
        if sum(count_neighbours(-(-bits // n_blocks), radius) for radius in block_radii(n_blocks, limit)) <= MAX_PROBES:
            yield Probing(Probing.Options(n_blocks=n_blocks)), {"use": "probing", "n_blocks": n_blocks}


def shape_of(index: BlockIndex, blocks: dict[str, Any], question: Question, limit: int, recall: float | None) -> Shape:
    """Estimate the cost of a block index from the number of keys and look-ups that it computes for a text.

    ``blocks`` is the configuration of the index. ``recall`` is as in `Shape`.
    """
    n_posts, bits = question.posts, np.zeros((1, question.bits // 64), np.uint64)
    index.prepare(question.bits, limit)
    keys = index.keys([""], bits)
    n_keys, look_ups = keys.shape[1], index.probes(keys, bits).shape[1]
    if isinstance(index, (Blocks, Probing)):
        even = n_posts / 2.0 ** np.array([len(key) for key in index.chosen])
        n_probes = [count_neighbours(len(key), radius) for key, radius in zip(index.chosen, index.radii, strict=True)]
        comparisons = float(np.minimum(CROWDING * even, n_posts) @ n_probes)
        in_tables = max(map(len, index.chosen)) <= MOST_KEY_BITS_OF_TABLES
        key_bytes = between(TABLE_BYTES if in_tables else LIST_BYTES, float(even.mean()))
        held = ("tables" if in_tables else "lists", key_bytes)
    elif isinstance(index, Scan):
        comparisons, held = n_posts, ("scan", 0.0)
    else:
        comparisons, held = between(COMPARISONS, n_posts), ("lists", between(SHINGLE_BYTES, n_posts))
    counts = (n_keys, look_ups, comparisons)
    return price(question, index.describe(), blocks, counts, held, recall, exact=index.is_complete)


def between(measured: Mapping[float, float], at: float) -> float:
    """Interpolate a table of measured values at the key ``at``, linearly in the logarithm of the keys."""
    return float(np.interp(np.log(at), np.log(list(measured)), list(measured.values())))


def price(
    question: Question,
    name: str,
    blocks: dict[str, Any] | None,
    counts: tuple[float, float, float],
    held: tuple[str, float],
    recall: float | None,
    *,
    exact: bool,
) -> Shape:
    """Estimate time and memory of a block index.

    Parameters
    ----------
    counts
        Number of keys, look-ups and comparisons per post.
    held
        How a window stores the keys, as a name in `COSTS`, and the number of bytes per post and key.
    """
    n_keys, look_ups, comparisons = counts
    n_bytes = question.posts * (question.bits // 8 + BYTES_BESIDE_BITS + n_keys * held[1])
    window, run = (
        look_ups * cost.look_up + comparisons * cost.comparison + n_keys * cost.addition
        for cost in (COSTS[held[0]], COSTS["run"])
    )
    return Shape(name, blocks, *counts, window, run, n_bytes, recall, exact)


def objection(shape: Shape, question: Question, *, too_wide: bool) -> str:
    """Return the reason against an index, in a few words; empty if it meets the requirements.

    ``too_wide`` is whether the Hamming limit is so large that unrelated texts are within it.
    """
    if shape.blocks is None:
        return "for comparison"
    if shape.recall is None:
        return "recall by text"
    if shape.recall < question.recall:
        return "under recall"
    if shape.exact and too_wide and question.edit_share is not None:
        return "limit too wide"
    return "over memory" if question.memory is not None and shape.n_bytes > question.memory else ""


def choose(fitting: Sequence[Shape]) -> Shape | None:
    """Return the fastest index, None if ``fitting`` is empty; exact indexes have an advantage, see `EXACT_IS_WORTH`.

    A scan is not chosen if shingles fit, because the time of a scan grows with the number of posts.
    """
    lossy = [shape for shape in fitting if not shape.exact]
    rivals = [shape for shape in fitting if not (lossy and shape.blocks == {"use": "scan"})]
    return min(rivals, key=lambda shape: shape.window_ns * (1 if shape.exact else EXACT_IS_WORTH), default=None)


def compare(shape: Shape, chosen: Shape | None) -> str:
    """Describe in a few words how much slower or faster a suitable index is than the chosen one."""
    times = shape.window_ns / chosen.window_ns if chosen else 1.0
    if times >= 1:
        return f"{times:,.1f} times slower"
    return f"{1 / times:,.1f} times faster, but {'grows with the posts' if shape.exact else 'misses some'}"


def explain_none(shapes: Sequence[Shape], question: Question) -> str:
    """Return the message that no index meets the requirements, with a remedy."""
    limit = "" if question.memory is None else f" in {question.memory / 1e9:,.3f} GB"
    able = [shape for shape in shapes if objection(shape, replace(question, memory=None), too_wide=True) == ""]
    if able:
        least = min(able, key=lambda shape: shape.n_bytes)
        remedy = (
            f"{least.name} needs least, {least.n_bytes / 1e9:,.3f} GB. Allow more, or plan for fewer posts or bits."
        )
    else:
        found = max(shape.recall or 0 for shape in shapes if not shape.exact)
        remedy = f"shingles find {found:.3f}. Ask for less, or for copies with fewer edits."
    return f"No shape finds {question.recall:g} of the pairs{limit}: {remedy}"


def configuration(chosen: Shape, bits: int, limit: int) -> dict[str, Any]:
    """Return the contents of a configuration file that uses the chosen index, without keys that keep their defaults."""
    default = Settings()
    if bits == default.fingerprint.bits and not chosen.exact:
        return {"blocks": chosen.blocks}
    bands = default.to_dict()["lengths"]
    for band in bands:
        if band.pop("max_hamming_distance", None) is not None and chosen.exact:
            band["max_hamming_distance"] = limit
    return {"fingerprint": {"bits": bits}, "blocks": chosen.blocks, "lengths": bands}
