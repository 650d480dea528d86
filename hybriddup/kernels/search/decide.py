"""The rule of removal, which `hybriddup.steps.deciding` explains, for the texts of one batch, in order.

Verifying is what costs, so a candidate is verified when it is its turn: the kernel decides what it can, says which
pairs it wants verified, and is called again.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int8s, Int32s, Int64s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.search.key_groups import NO_GROUP

OPEN, MATCHES, REFUSED = np.int8(0), np.int8(1), np.int8(2)
"""What is known of a pair: nothing yet, that the verifier accepts it, that it does not."""
UNDECIDED, KEPT, NEAR, EXACT = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""What is known of a text; the last two were removed."""
IN_INDEX = np.int64(-1)
"""In the place of a row: the earlier text of a pair is not of this batch, and was kept."""
NONE = np.int64(-1)
CANDIDATE, NO_CANDIDATE, EXPECTED, UNSURE = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""Whether the earlier text of a pair was kept and is among the newest of a key that both share: it is if the undecided
texts of the batch are kept; or that is seen when all texts before the later one are decided."""


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
    """int8[n_pairs]: `OPEN`, `MATCHES` or `REFUSED`."""
    least_depths: Int64s
    """int64[n_pairs]: the least that an earlier text of the index has from the newest in a key that both share."""
    depth_rows: Int64s
    """int64[n_pairs]: the row of ``depths`` of a pair that is not sure, `NONE` if there is none yet."""
    previous_copy: Int64s
    """int64[n]: the row of the last equal text before each, `NONE` where there is none."""
    times: Float64s
    oldest: Float64s
    """float64[n]: a text is met by later ones whose oldest time is before its own."""
    most_pairs: Int64s
    """int64[n]: a candidate of a text is passed over if this many before it have no more differing bits."""
    own: UInt32s
    probed: UInt32s
    """uint32[n, n_keys], uint32[n, m]: the groups of the batch that texts are in and look into."""
    before: Int32s
    places: Int32s
    """int32[n, m], int32[n, n_keys]: texts before each in the groups that it looks into, and in its own."""
    max_bucket_size: int
    """Of a key so many of the newest kept texts are looked at; 0 = all."""


class Course(NamedTuple):
    """How far a contest is; changed in place."""

    status: Int8s
    """int8[n]: `UNDECIDED`, `KEPT`, `NEAR` or `EXACT`."""
    deciding: Int64s
    """int64[n]: the pair that removed a text; for `EXACT`, the row of the kept equal one."""
    next_pair: Int64s
    """int64[n]: the first pair not yet refused, for a text that no candidate can be passed over of."""
    is_cut: Bools
    """bool[n]: whether a text was kept, and candidates of it were passed over."""
    n_near: Int64s
    n_expected: Int64s
    """int64[n_distances], of the text at hand: candidates so far with no more differing bits; and those with the
    expected ones."""
    ranks: Int64s
    """int64[n, n_keys]: how many kept texts of this batch stand before a kept one in each of its groups."""
    n_kept: Int64s
    """int64[n_groups]: kept texts of this batch so far."""
    n_settled: Int64s
    """int64[1]: so many texts from the first on are decided, and counted in ``n_kept``."""


@njit(cache=True, nogil=True)
def decide_in_order(
    contest: Contest, course: Course, depths: Int64s, n_at_a_time: int, n_ahead: int, is_last: bool, wanted: Int64s
) -> int:
    """Decide what can be decided; return how many pairs have to be verified first, which are written to ``wanted``.

    Parameters
    ----------
    depths
        int64[n_rows, m]: for pairs that are not sure, how far from the newest the earlier text stands in each group
        that the later one looks into, by what was kept before the batch; 0 where it does not.
    n_at_a_time
        Pairs of a text that are verified before the first match is looked for.
    n_ahead
        Texts from the first undecided one on that are looked at; candidates of theirs that are not sure are verified,
        too. 0 = all texts, and sure candidates alone.
    is_last
        Whether these are all pairs of the batch. If not, a text without a match is left undecided, and so is one whose
        match is not sure.
    wanted
        int64[n_pairs]: written in place.
    """
    n_wanted, row, n_texts = np.int64(0), course.n_settled[0], len(course.status)
    while row < (min(course.n_settled[0] + n_ahead, n_texts) if n_ahead else n_texts):
        is_next = is_last and course.n_settled[0] == row
        waits = is_last and course.status[row] == UNDECIDED and waits_for_copy(contest, course, row)
        if course.status[row] == UNDECIDED and not waits:
            n_wanted = decide_text(contest, course, depths, row, n_at_a_time, n_ahead > 0, is_last, wanted, n_wanted)
        if is_next and course.status[row] != UNDECIDED:
            settle_text(contest, course, row)
        row += 1
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
    is_bold: bool,
    is_last: bool,
    wanted: Int64s,
    n_wanted: int,
) -> int:
    """Decide a text by its pairs if that is possible by now; return how many pairs are wanted in all."""
    first, last, most = contest.offsets[row], contest.offsets[row + 1], contest.most_pairs[row]
    has_many, is_next, n_before = last - first > most, is_last and course.n_settled[0] == row, n_wanted
    near, expected, n_unsure = course.n_near, course.n_expected, np.int64(0)
    # by the index alone, a text among many is decided by few: the rest is surer with the texts of the batch
    most_in_all = np.int64(len(contest.earlier)) if is_last else most
    for distance in range(len(near) if has_many else 0):
        near[distance] = expected[distance] = 0
    is_open, is_cut, may_be_cut = False, False, False
    for pair in range(first if has_many else course.next_pair[row], last):
        verdict, distance = contest.verdicts[pair], contest.distances[pair]
        if verdict == REFUSED and not has_many:
            continue
        standing = standing_of(contest, course, depths, row, pair, is_next)
        if standing == NO_CANDIDATE:
            continue
        if has_many and (near[distance] >= most or near[-1] >= most_in_all):
            is_cut |= standing == CANDIDATE
            may_be_cut |= standing != CANDIDATE
            continue
        may_be_passed_over = has_many and (
            expected[distance] + n_unsure >= most or expected[-1] + n_unsure >= most_in_all
        )
        may_be_cut |= may_be_passed_over
        if not has_many and not is_open:
            course.next_pair[row] = pair
        if verdict == OPEN:
            is_open = True
            is_likely = not has_many or (expected[distance] < most and expected[-1] < most_in_all)
            if is_likely and (not has_many or is_bold or standing != UNSURE):
                wanted[n_wanted] = pair
                n_wanted += 1
                if n_wanted - n_before == n_at_a_time:
                    return n_wanted
        elif verdict == MATCHES:
            if not is_open and standing == CANDIDATE and not may_be_passed_over:
                course.status[row], course.deciding[row] = NEAR, pair
            return n_wanted
        n_unsure += standing == UNSURE
        for farther in range(distance, len(near) if has_many and standing != UNSURE else 0):
            near[farther] += standing == CANDIDATE
            expected[farther] += 1
    if is_last and not is_open and (is_cut or not may_be_cut):
        course.status[row], course.is_cut[row] = KEPT, is_cut
    return n_wanted


@njit(cache=True, nogil=True, inner=True)
def standing_of(contest: Contest, course: Course, depths: Int64s, row: int, pair: int, is_next: bool) -> np.int8:
    """Return whether the earlier text of a pair is a `CANDIDATE` of the later one."""
    earlier = contest.earlier[pair]
    is_kept = earlier == IN_INDEX or course.status[earlier] == KEPT
    if not is_kept and course.status[earlier] != UNDECIDED:
        return NO_CANDIDATE
    if contest.is_sure[pair]:
        return CANDIDATE if is_kept else EXPECTED
    if needs_depths(contest, course, row, pair):
        return UNSURE
    if earlier < course.n_settled[0] and not is_looked_at(contest, course, depths, row, pair):
        return NO_CANDIDATE
    if is_next or stays_looked_at(contest, depths, row, pair):
        return CANDIDATE if is_kept else EXPECTED
    return UNSURE


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
    """Return whether the earlier text is among the newest kept ones of a key that both share, by what is decided.

    That is final if all texts before the later one are settled, and `needs_depths` is false.
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


@njit(cache=True, nogil=True, inner=True)
def stays_looked_at(contest: Contest, depths: Int64s, row: int, pair: int) -> bool:
    """Return whether the earlier text of a pair is looked at even if all texts of the batch are kept."""
    earlier, most = contest.earlier[pair], contest.max_bucket_size
    if earlier == IN_INDEX and contest.depth_rows[pair] == NONE:
        return False
    for j in range(contest.before.shape[1]):
        if earlier == IN_INDEX:
            depth = depths[contest.depth_rows[pair], j]
            if depth > 0 and depth + contest.before[row, j] <= most:
                return True
        elif contest.probed[row, j] != NO_GROUP:
            for i in range(contest.own.shape[1]):
                n_from_earlier = contest.before[row, j] - contest.places[earlier, i]
                if contest.own[earlier, i] == contest.probed[row, j] and n_from_earlier <= most:
                    return True
    return False


@njit(cache=True, nogil=True)
def may_be_verified(later: Int64s, distances: Int32s, is_sure: Bools, most_pairs: Int64s) -> Bools:
    """Return bool[n_pairs]: all pairs but those that are passed over whatever else is decided.

    The first sure one of these of each text stays, so that it is counted.

    Parameters
    ----------
    later, distances, is_sure
        Of the pairs with kept texts of an index, as `BatchPairs` and `Contest` have them.
    most_pairs
        int64[n_texts]: as `Contest` has it.
    """
    stays, first = np.ones(len(later), np.bool_), 0
    while first < len(later):
        last, most = first, most_pairs[later[first]]
        while last < len(later) and later[last] == later[first]:
            last += 1
        if last - first > most:
            sure, is_cut = np.zeros(distances[first:last].max() + 1, np.int64), False
            for pair in range(first, last):
                if sure[distances[pair]] >= most:
                    stays[pair] = not is_cut
                    is_cut |= is_sure[pair]
                elif is_sure[pair]:
                    sure[distances[pair] :] += 1
        first = last
    return stays
