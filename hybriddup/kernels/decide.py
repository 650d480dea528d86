"""The rule of removal, which `hybriddup.steps.deciding` explains, for the texts of one batch, in order.

Verifying is what costs, so a candidate is verified when it is its turn: the kernel decides what it can, says which
pairs it wants verified, and is called again.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int8s, Int32s, Int64s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.key_groups import NO_GROUP
from hybriddup.kernels.nearest import choose_nearest

OPEN, MATCHES, REFUSED = np.int8(0), np.int8(1), np.int8(2)
"""What is known of a pair: nothing yet, that the verifier accepts it, that it does not or need not be asked."""
UNDECIDED, KEPT, NEAR, EXACT = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""What is known of a text; the last two were removed."""
IN_INDEX = np.int64(-1)
"""In the place of a row: the earlier text of a pair is not of this batch, and was kept."""
NONE = np.int64(-1)
NOT_CHOSEN, CHOSEN, CUT = np.int8(0), np.int8(1), np.int8(2)
GUESSED_ANEW = 48
"""Of so many texts that are decided next, it is guessed anew, as more is known of those before them."""
SPARE = 4
"""Of a text without a match so many times the most are verified: some will turn out not to be candidates, and the next
nearest take their places."""
UNCERTAIN, SEEMS_KEPT, SEEMS_REMOVED = np.int8(0), np.int8(1), np.int8(2)
"""What is guessed of a text with too many pairs before those before it are decided."""


class Contest(NamedTuple):
    """A batch that is being decided: its texts by row, and their pairs by later text, then from the earliest on."""

    offsets: Int64s
    """int64[n + 1]: the pairs of each text."""
    earlier: Int64s
    """int64[n_pairs]: the row of the earlier text, or `IN_INDEX`."""
    distances: Int32s
    """int32[n_pairs]: differing bits."""
    is_sure: Bools
    """bool[n_pairs]: whether the earlier text stands among the newest of a key, whatever is kept of this batch."""
    verdicts: Int8s
    """int8[n_pairs]: `OPEN`, `MATCHES` or `REFUSED`; changed in place."""
    least_depths: Int64s
    """int64[n_pairs]: the least that an earlier text of the index has from the newest in a key that both share."""
    depth_rows: Int64s
    """int64[n_pairs]: the row of ``depths`` of a pair that is not sure, `NONE` where there is none yet; of no meaning
    when its later text is decided."""
    previous_copy: Int64s
    """int64[n]: the row of the last equal text before each, `NONE` where there is none."""
    times: Float64s
    oldest: Float64s
    """float64[n]: a text is met by later ones whose oldest time is before its own."""
    most_pairs: Int64s
    """int64[n]: of each text's candidates so many are verified, those with the fewest differing bits."""
    own: UInt32s
    probed: UInt32s
    """uint32[n, n_keys], uint32[n, m]: the groups of the batch that texts are in and look into."""
    max_bucket_size: int
    """Of a key so many of the newest kept texts are looked at; 0 = all."""


class Course(NamedTuple):
    """How far a contest is; changed in place."""

    status: Int8s
    """int8[n]: `UNDECIDED`, `KEPT`, `NEAR` or `EXACT`."""
    deciding: Int64s
    """int64[n]: the pair that removed a text; for `EXACT`, the row of the kept equal one."""
    next_pair: Int64s
    """int64[n]: the first pair not yet refused."""
    cuts: Int8s
    """int8[n]: for a text with more pairs than are verified, whether the nearest were chosen (`CHOSEN`), and whether
    that left any out (`CUT`)."""
    guesses: Int8s
    """int8[n]: for such a text, `UNCERTAIN`, `SEEMS_KEPT` or `SEEMS_REMOVED`."""
    ranks: Int64s
    """int64[n, n_keys]: how many kept texts of this batch stand before a kept one in each of its groups."""
    n_kept: Int64s
    """int64[n_groups]: kept texts of this batch so far."""
    n_settled: Int64s
    """int64[1]: so many texts from the first on are decided, and counted in ``n_kept``."""


@njit(cache=True, nogil=True)
def decide_in_order(
    contest: Contest, course: Course, depths: Int64s, n_at_a_time: int, is_last: bool, wanted: Int64s
) -> int:
    """Decide what can be decided; return how many pairs have to be verified first, which are written to ``wanted``.

    Parameters
    ----------
    depths
        int64[n_rows, m]: for pairs that are not sure, how far from the newest the earlier text stands in each group
        that the later one looks into, by what was kept before the batch; 0 where it does not.
    n_at_a_time
        Pairs of a text that are verified before the first match is looked for.
    is_last
        Whether these are all pairs of the batch. If not, a text without a match is left undecided, and so is one whose
        match is not sure.
    wanted
        int64[n_pairs]: written in place.
    """
    n_wanted = np.int64(0)
    for row in range(course.n_settled[0], len(course.status)):
        is_next = is_last and course.n_settled[0] == row
        waits = is_last and course.status[row] == UNDECIDED and waits_for_copy(contest, course, row)
        if course.status[row] == UNDECIDED and not waits:
            if has_too_many(contest, course, row):
                if not is_next:
                    is_near_head = row < course.n_settled[0] + GUESSED_ANEW
                    if is_last and (course.guesses[row] == UNCERTAIN or is_near_head):
                        n_wanted = guess_text(contest, course, depths, row, n_at_a_time, wanted, n_wanted)
                    continue
                if not cut_to_nearest(contest, course, depths, row):
                    continue
            n_wanted = decide_text(contest, course, depths, row, n_at_a_time, is_last, wanted, n_wanted)
        if is_next and course.status[row] != UNDECIDED:
            settle_text(contest, course, row)
    return n_wanted


@njit(cache=True, nogil=True, inner=True)
def settle_text(contest: Contest, course: Course, row: int) -> None:
    """Count a text that was decided, as were all before it."""
    course.n_settled[0] += 1
    if course.status[row] != KEPT:
        return
    for j in range(contest.own.shape[1]):
        group = contest.own[row, j]
        if group != NO_GROUP:
            course.ranks[row, j] = course.n_kept[group]
            course.n_kept[group] += 1


@njit(cache=True, nogil=True, inner=True)
def decide_text(
    contest: Contest,
    course: Course,
    depths: Int64s,
    row: int,
    n_at_a_time: int,
    is_last: bool,
    wanted: Int64s,
    n_wanted: int,
) -> int:
    """Decide a text by its pairs if that is possible by now; return how many pairs are wanted in all."""
    if course.status[row] != UNDECIDED:
        return n_wanted
    last, is_next = contest.offsets[row + 1], is_last and course.n_settled[0] == row
    for pair in range(course.next_pair[row], last):
        course.next_pair[row] = pair
        earlier = contest.earlier[pair]
        if contest.verdicts[pair] == REFUSED or (earlier != IN_INDEX and course.status[earlier] > KEPT):
            continue
        if contest.verdicts[pair] == OPEN:
            return want_pairs(contest, course, pair, last, n_at_a_time, wanted, n_wanted)
        if earlier != IN_INDEX and course.status[earlier] == UNDECIDED:
            return n_wanted
        if not contest.is_sure[pair]:
            if not is_next or needs_depths(contest, course, row, pair):
                return n_wanted
            if not is_looked_at(contest, course, depths, row, pair):
                contest.verdicts[pair] = REFUSED
                continue
        course.status[row], course.deciding[row] = NEAR, pair
        return n_wanted
    course.next_pair[row] = last
    if is_last:
        course.status[row] = KEPT
    return n_wanted


@njit(cache=True, nogil=True, inner=True)
def has_too_many(contest: Contest, course: Course, row: int) -> bool:
    """Return whether a text has more pairs than are verified, of which the nearest were not chosen yet."""
    n_pairs = contest.offsets[row + 1] - contest.offsets[row]
    return bool(n_pairs > contest.most_pairs[row] and course.cuts[row] == NOT_CHOSEN)


@njit(cache=True, nogil=True, inner=True)
def waits_for_copy(contest: Contest, course: Course, row: int) -> bool:
    """Return whether an equal text before it is still undecided; a text that equals a kept one of the batch goes."""
    copy = contest.previous_copy[row]
    while copy != NONE:
        if course.status[copy] == UNDECIDED:
            return True
        kept = copy if course.status[copy] == KEPT else NONE
        if course.status[copy] == EXACT:
            kept = course.deciding[copy]
        if kept != NONE and contest.times[kept] > contest.oldest[row]:
            course.status[row], course.deciding[row] = EXACT, kept
            return False
        copy = contest.previous_copy[copy]
    return False


@njit(cache=True, nogil=True, inner=True)
def want_pairs(
    contest: Contest, course: Course, pair: int, last: int, n_at_a_time: int, wanted: Int64s, n_wanted: int
) -> int:
    """Ask for the next pairs of a text, up to one that is known to match; return how many are wanted in all."""
    n = 0
    while pair < last and n < n_at_a_time and contest.verdicts[pair] != MATCHES:
        earlier = contest.earlier[pair]
        if contest.verdicts[pair] == OPEN and (earlier == IN_INDEX or course.status[earlier] <= KEPT):
            wanted[n_wanted] = pair
            n_wanted += 1
            n += 1
        pair += 1
    return n_wanted


@njit(cache=True, nogil=True, inner=True)
def needs_depths(contest: Contest, course: Course, row: int, pair: int) -> bool:
    """Return whether it takes the depths in each group to tell whether an earlier text of the index is looked at."""
    if contest.is_sure[pair] or contest.earlier[pair] != IN_INDEX or contest.depth_rows[pair] != NONE:
        return False
    n_newer = np.int64(0)
    for j in range(contest.probed.shape[1]):
        group = contest.probed[row, j]
        n_newer = max(n_newer, course.n_kept[group] if group != NO_GROUP else np.int64(0))
    return bool(contest.least_depths[pair] + n_newer > contest.max_bucket_size)


@njit(cache=True, nogil=True, inner=True)
def is_looked_at(contest: Contest, course: Course, depths: Int64s, row: int, pair: int) -> bool:
    """Return whether the earlier text stands among the newest kept ones of a key that both share.

    All texts before the later one have been settled, and `needs_depths` is false.
    """
    earlier, most = contest.earlier[pair], contest.max_bucket_size
    if contest.is_sure[pair] or (earlier == IN_INDEX and contest.depth_rows[pair] == NONE):
        return True
    for j in range(contest.probed.shape[1]):
        group = contest.probed[row, j]
        n_newer = course.n_kept[group] if group != NO_GROUP else np.int64(0)
        if earlier == IN_INDEX:
            depth = depths[contest.depth_rows[pair], j]
            if depth > 0 and depth + n_newer <= most:
                return True
        elif group != NO_GROUP:
            for i in range(contest.own.shape[1]):
                if contest.own[earlier, i] == group and n_newer - course.ranks[earlier, i] <= most:
                    return True
    return False


@njit(cache=True, nogil=True)
def guess_text(
    contest: Contest, course: Course, depths: Int64s, row: int, n_at_a_time: int, wanted: Int64s, n_wanted: int
) -> int:
    """Ask for pairs of a text that has too many, while none that seems a candidate matches; return how many are wanted.

    Its nearest candidates are known when all texts before it are decided. A few pairs find the match of a copy. Of a
    text without a match `SPARE` times the most are verified, so that deciding it hardly waits then.
    """
    first, n = contest.offsets[row], np.int64(0)
    is_near = seem_nearest(contest, course, depths, row, contest.most_pairs[row])
    course.guesses[row] = UNCERTAIN
    for i in range(len(is_near)):
        if is_near[i] and contest.verdicts[first + i] == MATCHES:
            course.guesses[row] = SEEMS_REMOVED if n == 0 else UNCERTAIN
            return n_wanted + n
        if is_near[i] and contest.verdicts[first + i] == OPEN:
            wanted[n_wanted + n] = first + i
            n += 1
            if n == n_at_a_time:
                return n_wanted + n
    if n == 0:
        n = want_spare_pairs(contest, course, depths, row, wanted, n_wanted)
        course.guesses[row] = SEEMS_KEPT if n == 0 else UNCERTAIN
    return n_wanted + n


@njit(cache=True, nogil=True)
def want_spare_pairs(contest: Contest, course: Course, depths: Int64s, row: int, wanted: Int64s, n_wanted: int) -> int:
    """Ask for pairs that a text may need if some of those that seem its nearest are none; return how many they are."""
    first, n = contest.offsets[row], np.int64(0)
    is_near = seem_nearest(contest, course, depths, row, SPARE * contest.most_pairs[row])
    for i in range(len(is_near)):
        if is_near[i] and contest.verdicts[first + i] == OPEN:
            wanted[n_wanted + n] = first + i
            n += 1
    return n


@njit(cache=True, nogil=True)
def seem_nearest(contest: Contest, course: Course, depths: Int64s, row: int, most: int) -> Bools:
    """Return bool[n]: which pairs of a text have the fewest differing bits of those that seem its candidates."""
    first, last = contest.offsets[row], contest.offsets[row + 1]
    is_near = np.zeros(last - first, np.bool_)
    for pair in range(first, last):
        is_kept = seems_kept(course, contest.earlier[pair])
        is_near[pair - first] = is_kept and not is_pushed_out(contest, course, depths, row, pair)
    choose_nearest(contest.distances[first:last], is_near, most)
    return is_near


@njit(cache=True, nogil=True, inner=True)
def seems_kept(course: Course, earlier: int) -> bool:
    """Return whether the earlier text of a pair was kept, or nothing is known that speaks against it."""
    if earlier == IN_INDEX:
        return True
    is_open = course.status[earlier] == UNDECIDED and course.guesses[earlier] != SEEMS_REMOVED
    return bool(is_open or course.status[earlier] == KEPT)


@njit(cache=True, nogil=True, inner=True)
def is_pushed_out(contest: Contest, course: Course, depths: Int64s, row: int, pair: int) -> bool:
    """Return whether an earlier text of the index is no candidate any more, for what is kept of the batch by now."""
    if contest.is_sure[pair] or contest.earlier[pair] != IN_INDEX or contest.depth_rows[pair] == NONE:
        return False
    return not is_looked_at(contest, course, depths, row, pair)


@njit(cache=True, nogil=True)
def cut_to_nearest(contest: Contest, course: Course, depths: Int64s, row: int) -> bool:
    """Refuse all pairs of a text but those with the fewest differing bits, the earliest first where as many differ.

    All texts before it have been settled, so that its candidates are known; False = depths are needed first.
    """
    first, last = contest.offsets[row], contest.offsets[row + 1]
    is_candidate, n = np.ones(last - first, np.bool_), np.int64(0)
    for pair in range(first, last):
        if needs_depths(contest, course, row, pair):
            return False
    for pair in range(first, last):
        earlier = contest.earlier[pair]
        is_kept = earlier == IN_INDEX or course.status[earlier] == KEPT
        if not is_kept or not is_looked_at(contest, course, depths, row, pair):
            is_candidate[pair - first] = False
            contest.verdicts[pair] = REFUSED
        else:
            n += 1
    course.cuts[row], course.next_pair[row] = CHOSEN, first
    if n <= contest.most_pairs[row]:
        return True
    course.cuts[row] = CUT
    choose_nearest(contest.distances[first:last], is_candidate, contest.most_pairs[row])
    for pair in range(first, last):
        if not is_candidate[pair - first]:
            contest.verdicts[pair] = REFUSED
    return True
