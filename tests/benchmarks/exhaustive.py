"""Every pair of texts whose Indel similarity reaches a minimum: no candidates, no index, nothing left out.

Nothing of hybriddup is used here, so that what judges it shares no mistake with it. Pairs whose lengths, or whose
characters whatever their order, rule the similarity out are not compared; rapidfuzz compares the others.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from rapidfuzz.distance import Indel
from rapidfuzz.process import cpdist

N_CLASSES = 64
"""Classes that characters are counted by."""
MAX_COUNT = 2**16 - 1
"""Pairs with more characters than this are compared whatever their counts, which may have been cut."""
MAX_CELLS = 2**25
"""Pairs looked at in one go, one byte each."""
MAX_COMPARED = 2**16
"""Pairs that rapidfuzz compares in one go."""
UNDER = 0.01
"""rapidfuzz 3.14.6 gives 0 for pairs whose similarity is exactly the cutoff, so the cutoff stays under the minimum."""
ROUNDING = 1e-9


class Pairs(NamedTuple):
    """Pairs of rows with their similarity."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    similarities: NDArray[np.float64]


class Counts(NamedTuple):
    """How many characters of each class the texts of some rows have; sorted by length."""

    rows: NDArray[np.int64]
    lengths: NDArray[np.int64]
    classes: NDArray[np.uint16]
    """uint16[n_rows, 64]."""


def count_characters(texts: Sequence[str], rows: NDArray[np.int64]) -> Counts:
    """Return the counts of the given rows, shortest text first."""
    lengths = np.fromiter((len(texts[row]) for row in rows.tolist()), np.int64, len(rows))
    order = np.argsort(lengths, kind="stable")
    classes = np.zeros((len(rows), N_CLASSES), np.uint16)
    chosen = rows[order].tolist()
    for start in range(0, len(chosen), 2**16):
        part = [texts[row] for row in chosen[start : start + 2**16]]
        points = np.frombuffer("".join(part).encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))
        owners = np.repeat(np.arange(len(part)), list(map(len, part)))
        cells = owners * N_CLASSES + (points * np.uint32(2654435761) >> np.uint32(26)).astype(np.int64)
        counted = np.bincount(cells, minlength=len(part) * N_CLASSES).reshape(-1, N_CLASSES)
        classes[start : start + len(part)] = np.minimum(counted, MAX_COUNT)
    return Counts(rows[order], lengths[order], classes)


@njit(cache=True, nogil=True)
def mark_possible(lengths, classes, wanted_lengths, wanted_classes, minimum, possible):
    """Set bool[n, n_wanted] ``possible`` where lengths and characters allow a similarity of ``minimum``."""
    first = 0
    for row in range(len(lengths)):
        length = lengths[row]
        while first < len(wanted_lengths) and 2 * wanted_lengths[first] < minimum * (length + wanted_lengths[first]):
            first += 1
        for wanted in range(first, len(wanted_lengths)):
            total = length + wanted_lengths[wanted]
            if 2 * length < minimum * total:
                break
            common = np.uint32(0)
            for k in range(64):
                common += np.uint32(min(classes[row, k], wanted_classes[wanted, k]))
            possible[row, wanted] = 2 * np.int64(common) >= minimum * total or total > MAX_COUNT


def matching_pairs(
    texts: Sequence[str],
    wanted: NDArray[np.int64],
    pool: NDArray[np.int64],
    minimum: float,
    *,
    earlier_only: bool = False,
    settled: NDArray[np.bool_] | None = None,
) -> Iterator[Pairs]:
    """Yield every pair of a row of ``wanted`` and another row of ``pool`` with similarity ``minimum`` or more.

    Parameters
    ----------
    wanted, pool
        int64 rows, each at most once.
    minimum
        Indel similarity, over 0.0 to 1.0, inclusive.
    earlier_only
        Whether only rows of ``pool`` before the wanted row count.
    settled
        bool[n_texts]: rows of ``wanted`` of which no more pairs are needed; the caller may set more between two yields.

    Yields
    ------
    Pairs
        ``a`` rows of ``wanted``, ``b`` rows of ``pool``.
    """
    sought, known = count_characters(texts, wanted), count_characters(texts, pool)
    # the bound must not be stricter than the comparison, by rounding
    bound = minimum - ROUNDING
    step = max(1, MAX_CELLS // max(len(wanted), 1))

    def possible_from(start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        stop = min(start + step, len(pool))
        low, high = known.lengths[start] * bound / (2 - bound) - 1, known.lengths[stop - 1] * (2 - bound) / bound + 1
        first, last = np.searchsorted(sought.lengths, [low, high])
        possible = np.zeros((stop - start, last - first), np.bool_)
        window = slice(first, last)
        part = slice(start, stop)
        mark_possible(
            known.lengths[part], known.classes[part], sought.lengths[window], sought.classes[window], bound, possible
        )
        b, a = np.nonzero(possible)
        a, b = sought.rows[window][a], known.rows[part][b]
        chosen = b < a if earlier_only else b != a
        return a[chosen], b[chosen]

    array = np.array(texts, object)
    for a, b in in_threads(possible_from, range(0, len(pool), step)):
        for start in range(0, len(a), MAX_COMPARED):
            part = slice(start, start + MAX_COMPARED)
            open_ones = slice(None) if settled is None else ~settled[a[part]]
            yield reaching(array, a[part][open_ones], b[part][open_ones], minimum)


def in_threads(function, items: Iterable[int]):
    """Yield ``function`` of each item, in order; a few are made ahead, on all cores."""
    n_workers = os.cpu_count() or 1
    with ThreadPoolExecutor(n_workers) as pool:
        waiting: deque[Future[tuple[NDArray[np.int64], NDArray[np.int64]]]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def reaching(texts: NDArray[np.object_], a: NDArray[np.int64], b: NDArray[np.int64], minimum: float) -> Pairs:
    """Return those of the pairs (a[i], b[i]) whose similarity is ``minimum`` or more."""
    if len(a) == 0:
        return Pairs(a, b, np.zeros(0))
    similarities = cpdist(
        texts[a],
        texts[b],
        scorer=Indel.normalized_similarity,
        score_cutoff=max(0.0, minimum - UNDER),
        workers=-1,
        dtype=np.float64,
    )
    reached = similarities >= minimum - ROUNDING
    return Pairs(a[reached], b[reached], similarities[reached])


def rows_with_match(
    texts: Sequence[str],
    wanted: NDArray[np.int64],
    pool: NDArray[np.int64],
    minimum: float,
    *,
    earlier_only: bool = False,
) -> NDArray[np.bool_]:
    """Return bool[len(wanted)]: whether ``pool`` has another text, or an earlier one, that matches each row."""
    found = np.zeros(len(texts), np.bool_)
    for pairs in matching_pairs(texts, wanted, pool, minimum, earlier_only=earlier_only, settled=found):
        found[pairs.a] = True
    return found[wanted]
