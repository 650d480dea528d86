"""Which texts have another one whose Indel similarity reaches a minimum: no candidates, no index, nothing left out.

Nothing of hybriddup is used here, so that what judges it shares no mistake with it. Pairs whose lengths, or whose
characters whatever their order, rule the similarity out are not compared; rapidfuzz compares the others.
"""

from collections.abc import Iterator, Sequence
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

Rows = NDArray[np.int64]


class Counts(NamedTuple):
    """How many characters of each class the texts of some rows have; sorted by length."""

    rows: Rows
    lengths: NDArray[np.int64]
    classes: NDArray[np.uint16]
    """uint16[n_rows, 64]."""


def count_characters(texts: Sequence[str], rows: Rows) -> Counts:
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


def possible_pairs(texts: Sequence[str], wanted: Rows, pool: Rows, minimum: float) -> Iterator[tuple[Rows, Rows]]:
    """Yield rows of ``wanted`` and other rows of ``pool`` whose similarity may be the minimum or more."""
    sought, known = count_characters(texts, wanted), count_characters(texts, pool)
    # the bound must not be stricter than the comparison, by rounding
    bound = minimum - ROUNDING
    step = max(1, MAX_CELLS // max(len(wanted), 1))
    for start in range(0, len(pool), step):
        part = slice(start, min(start + step, len(pool)))
        low, high = known.lengths[part][0] * bound / (2 - bound) - 1, known.lengths[part][-1] * (2 - bound) / bound + 1
        window = slice(*np.searchsorted(sought.lengths, [low, high]))
        possible = np.zeros((part.stop - start, window.stop - window.start), np.bool_)
        mark_possible(
            known.lengths[part], known.classes[part], sought.lengths[window], sought.classes[window], bound, possible
        )
        b, a = np.nonzero(possible)
        a, b = sought.rows[window][a], known.rows[part][b]
        yield a[a != b], b[a != b]


def rows_with_match(
    texts: Sequence[str], wanted: Rows, pool: Rows, minimum: float, *, earlier_only: bool = False
) -> NDArray[np.bool_]:
    """Return bool[len(wanted)]: whether ``pool`` has another text, or an earlier one, that matches each row.

    Rows are int64, each at most once. The minimum is over 0.0 to 1.0, inclusive.
    """
    found, array = np.zeros(len(texts), np.bool_), np.array(texts, object)
    for a, b in possible_pairs(texts, wanted, pool, minimum):
        for start in range(0, len(a), MAX_COMPARED):
            later, other = a[start : start + MAX_COMPARED], b[start : start + MAX_COMPARED]
            asked = ~found[later] & ((other < later) | (not earlier_only))
            later, other = later[asked], other[asked]
            found[later[reaches(array[later], array[other], minimum)]] = True
    return found[wanted]


def reaches(a: NDArray[np.object_], b: NDArray[np.object_], minimum: float) -> NDArray[np.bool_]:
    """Return bool[n]: which pairs of texts (a[i], b[i]) have a similarity of ``minimum`` or more."""
    if len(a) == 0:
        return np.zeros(0, np.bool_)
    cutoff = max(0.0, minimum - UNDER)
    scorer = Indel.normalized_similarity
    similarities = cpdist(a, b, scorer=scorer, score_cutoff=cutoff, workers=-1, dtype=np.float64)
    return similarities >= minimum - ROUNDING
