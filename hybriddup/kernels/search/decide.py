"""Decides which texts of a batch are removed, in order, by the rule in `hybriddup.steps.deciding`.

Verifying is expensive, so the kernel works in rounds: it decides all texts for which the pairs verified so far suffice,
lists the pairs to verify next, and is called again.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int8s, Int16s, Int32s, Int64s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.search.key_groups import NO_GROUP

OPEN, MATCHES, REFUSED = np.int8(0), np.int8(1), np.int8(2)
"""Verdicts on a pair: not verified yet, accepted, refused."""
UNDECIDED, KEPT, NEAR, EXACT = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""States of a text: undecided, kept, removed as a near repeat, and removed as an exact repeat."""
IN_INDEX = np.int64(-1)
"""Value of `Contest.earlier` for a pair whose earlier text is not in the batch but in the index of kept texts."""
NONE = np.int64(-1)
CANDIDATE, NO_CANDIDATE, EXPECTED, UNSURE = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""Whether the earlier text of a pair is a candidate, that is, kept and among the newest texts with a shared key. In
order: yes; no; yes if it will be kept; unknown until all texts before the later text are decided."""


class Contest(NamedTuple):
    """The texts of a batch, by row, and their pairs, sorted by later text and then by earlier text."""

    offsets: Int64s
    """int64[n + 1]: the pairs with later text ``i`` are ``offsets[i]`` to ``offsets[i + 1] - 1``."""
    earlier: Int64s
    """int64[n_pairs]: the row of the earlier text; `IN_INDEX` if that text is in the index instead of the batch."""
    distances: Int32s
    """int32[n_pairs]: Hamming distance of the fingerprints."""
    is_sure: Bools
    """bool[n_pairs]: whether the earlier text is certain to be a candidate: even if all texts of the batch are kept, it
    is among the newest ``max_bucket_size`` texts of a shared key."""
    verdicts: Int8s
    """int8[n_pairs]: `OPEN`, `MATCHES` or `REFUSED`."""
    least_depths: Int64s
    """int64[n_pairs]: for an earlier text in the index, its smallest rank among the kept texts of a shared key; 1 = the
    newest."""
    depth_rows: Int64s
    """int64[n_pairs]: the pair's row in the ``depths`` of `decide_in_order`, `NONE` if the pair has no row there."""
    previous_copy: Int64s
    """int64[n]: for each text, the row of the previous equal text, `NONE` if there is none."""
    times: Float64s
    oldest: Float64s
    """``times`` and ``oldest``, float64[n] each: the time and the cutoff of each text. An earlier text can match only
    if its time is later than the cutoff."""
    most_pairs: Int64s
    """int64[n]: limit for each text: a candidate is skipped if this many of the candidates before it, in the order of
    the pairs, have an equal or smaller Hamming distance."""
    own: UInt32s
    probed: UInt32s
    """Numbers of groups; a group is all texts with the same block key. ``own``, uint32[n, n_keys]: the groups that
    contain each text. ``probed``, uint32[n, m]: the groups in which each text is looked up."""
    before: Int32s
    places: Int32s
    """``before``, int32[n, m], and ``places``, int32[n, n_keys]: for each text, how many earlier texts of the batch are
    in each group (texts with the same key) in its row of ``probed`` and of ``own``, respectively."""
    max_bucket_size: int
    """Maximum number of kept texts with one key that are candidates, the newest ones; 0 = all."""


class Course(NamedTuple):
    """Progress of a `Contest`: the decisions so far, and scratch buffers; changed in place."""

    status: Int8s
    """int8[n]: `UNDECIDED`, `KEPT`, `NEAR` or `EXACT`."""
    deciding: Int64s
    """int64[n]: for `NEAR`, the index of the pair that removed the text; for `EXACT`, the row of an equal kept text."""
    next_pair: Int64s
    """int64[n]: for each text with at most ``most_pairs`` pairs, the index of the first pair not refused yet."""
    is_cut: Bools
    """bool[n]: whether a text was kept although some of its candidates were skipped."""
    n_near: Int64s
    n_expected: Int64s
    """``n_near`` and ``n_expected``, int64[n_distances] each: scratch buffers for one text. Element ``d`` counts its
    candidates so far with a distance of at most ``d``; ``n_expected`` includes texts that may still be removed."""
    ranks: Int64s
    """int64[n, n_keys]: for each key of each kept text, number of earlier kept texts of this batch with it."""
    n_kept: Int64s
    """int64[n_groups]: number of kept texts of this batch so far in each group, that is, with the same key."""
    columns: Int16s
    """int16[n_groups]: for each group (texts with the same key), the column of the group in the row of `Contest.probed`
    for the text that is being decided; -1 if the text is not looked up in this group."""
    n_settled: Int64s
    """int64[1]: number of settled texts: all texts in rows below it are decided, and the kept ones are counted in
    ``n_kept``."""


@njit(cache=True, nogil=True)
def decide_in_order(
    contest: Contest, course: Course, depths: Int64s, n_per_round: int, n_ahead: int, is_last: bool, wanted: Int64s
) -> int:
    """Decide all texts that can be decided; list the pairs to verify next in ``wanted``, and return their number.

    Parameters
    ----------
    depths
        int64[n_rows, m]: for the pairs with a row in `Contest.depth_rows`, and each key by which the later text is
        looked up, the rank of the earlier text among the texts with this key that were kept before the batch: 1 = the
        newest, 0 = not among the newest ``max_bucket_size`` of these.
    n_per_round
        Maximum number of pairs of one text to verify in one round.
    n_ahead
        Number of texts to consider, starting at the first text that is not settled (see `settle_text`). 0 = all
        texts, but if a text has more pairs than its limit ``most_pairs``, its `UNSURE` candidates are not verified yet.
    is_last
        Whether ``contest`` has all pairs of the batch. If not, texts without a certain match stay undecided.
    wanted
        int64[n_pairs]: buffer for the indices of the pairs to verify.
    """
    n_wanted, row, n_texts = np.int64(0), course.n_settled[0], len(course.status)
    while row < (min(course.n_settled[0] + n_ahead, n_texts) if n_ahead else n_texts):
        is_next = is_last and course.n_settled[0] == row
        waits = is_last and course.status[row] == UNDECIDED and waits_for_copy(contest, course, row)
        if course.status[row] == UNDECIDED and not waits:
            note_columns(contest, course, row, True)
            n_wanted = decide_text(contest, course, depths, row, n_per_round, n_ahead > 0, is_last, wanted, n_wanted)
            note_columns(contest, course, row, False)
        if is_next and course.status[row] != UNDECIDED:
            settle_text(contest, course, row)
        row += 1
    return n_wanted


@njit(cache=True, nogil=True, inner=True)
def note_columns(contest: Contest, course: Course, row: int, is_at_hand: bool) -> None:
    """Fill ``course.columns`` for text ``row`` before it is decided, or clear them afterwards.

    ``is_at_hand``: True to fill, False to clear.
    """
    for j in range(contest.probed.shape[1]):
        if contest.probed[row, j] != NO_GROUP:
            course.columns[contest.probed[row, j]] = np.int16(j if is_at_hand else -1)


@njit(cache=True, nogil=True, inner=True)
def settle_text(contest: Contest, course: Course, row: int) -> None:
    """Advance ``n_settled`` past the decided text ``row``; if the text is kept, count it for each of its keys.

    All earlier texts must be settled already.
    """
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
    n_per_round: int,
    is_bold: bool,
    is_last: bool,
    wanted: Int64s,
    n_wanted: int,
) -> int:
    """Decide text ``row`` if the verdicts so far suffice; otherwise append pairs to verify to ``wanted[:n_wanted]``.

    Return the new ``n_wanted``. If the text has more pairs than its limit in ``contest.most_pairs``, its `UNSURE`
    candidates are verified only if ``is_bold``. The other parameters are as in `decide_in_order`.
    """
    first, last, most = contest.offsets[row], contest.offsets[row + 1], contest.most_pairs[row]
    has_many, is_next, n_before = last - first > most, is_last and course.n_settled[0] == row, n_wanted
    near, expected, n_unsure = course.n_near, course.n_expected, np.int64(0)
    # before the pairs within the batch are known, a text with many pairs is tried with few of them only
    most_in_all = np.int64(len(contest.earlier)) if is_last else most
    for distance in range(len(near) if has_many else 0):
        near[distance] = expected[distance] = 0
    is_open, is_cut, may_be_cut = False, False, False
    for pair in range(first if has_many else course.next_pair[row], last):
        verdict, distance = contest.verdicts[pair], contest.distances[pair]
        if verdict == REFUSED and not has_many:
            continue
        candidacy = candidacy_of(contest, course, depths, row, pair, is_next)
        if candidacy == NO_CANDIDATE:
            continue
        if has_many and (near[distance] >= most or near[-1] >= most_in_all):
            is_cut |= candidacy == CANDIDATE
            may_be_cut |= candidacy != CANDIDATE
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
            if is_likely and (not has_many or is_bold or candidacy != UNSURE):
                wanted[n_wanted] = pair
                n_wanted += 1
                if n_wanted - n_before == n_per_round:
                    return n_wanted
        elif verdict == MATCHES:
            if not is_open and candidacy == CANDIDATE and not may_be_passed_over:
                course.status[row], course.deciding[row] = NEAR, pair
            return n_wanted
        n_unsure += candidacy == UNSURE
        for farther in range(distance, len(near) if has_many and candidacy != UNSURE else 0):
            near[farther] += candidacy == CANDIDATE
            expected[farther] += 1
    if is_last and not is_open and (is_cut or not may_be_cut):
        course.status[row], course.is_cut[row] = KEPT, is_cut
    return n_wanted


@njit(cache=True, nogil=True, inner=True)
def candidacy_of(contest: Contest, course: Course, depths: Int64s, row: int, pair: int, is_next: bool) -> np.int8:
    """Return whether the earlier text of a pair is a candidate: `CANDIDATE`, `NO_CANDIDATE`, `EXPECTED` or `UNSURE`.

    ``row``: row of the later text. ``is_next``: whether all texts in earlier rows are decided.
    """
    earlier = contest.earlier[pair]
    is_kept = earlier == IN_INDEX or course.status[earlier] == KEPT
    if not is_kept and course.status[earlier] != UNDECIDED:
        return NO_CANDIDATE
    if contest.is_sure[pair]:
        return CANDIDATE if is_kept else EXPECTED
    if needs_depths(contest, course, row, pair):
        return UNSURE
    if stays_looked_at(contest, course, depths, row, pair):
        contest.is_sure[pair] = True  # so that later rounds need not find out again
        return CANDIDATE if is_kept else EXPECTED
    if earlier < course.n_settled[0] and not is_looked_at(contest, course, depths, row, pair):
        return NO_CANDIDATE
    return UNSURE if not is_next else CANDIDATE if is_kept else EXPECTED


@njit(cache=True, nogil=True, inner=True)
def waits_for_copy(contest: Contest, course: Course, row: int) -> bool:
    """Mark text ``row`` as an exact repeat if an equal earlier text of the batch is kept and later than the cutoff.

    Return True, and leave the text unmarked, if this cannot be decided yet: an earlier equal text is undecided.
    """
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
    """Return whether the depths of the earlier text of ``pair`` must be looked up to know if it is a candidate.

    A depth is the recency rank of the earlier text among the texts with one key of the later text. Only the depths of a
    text in the index have to be looked up.
    """
    if contest.is_sure[pair] or contest.earlier[pair] != IN_INDEX or contest.depth_rows[pair] != NONE:
        return False
    n_newer = np.int64(0)
    for j in range(contest.probed.shape[1]):
        group = contest.probed[row, j]
        n_newer = max(n_newer, course.n_kept[group] if group != NO_GROUP else np.int64(0))
    return bool(contest.least_depths[pair] + n_newer > contest.max_bucket_size)


@njit(cache=True, nogil=True, inner=True)
def is_looked_at(contest: Contest, course: Course, depths: Int64s, row: int, pair: int) -> bool:
    """Return whether a pair's earlier text is among the newest kept texts of a shared key, by the decisions so far.

    The result is final if all texts in rows before ``row`` are decided and `needs_depths` is false.
    """
    earlier, most = contest.earlier[pair], contest.max_bucket_size
    if contest.is_sure[pair] or (earlier == IN_INDEX and contest.depth_rows[pair] == NONE):
        return True
    if earlier != IN_INDEX:
        for i in range(contest.own.shape[1]):
            group = contest.own[earlier, i]
            is_shared = group != NO_GROUP and course.columns[group] >= 0
            if is_shared and course.n_kept[group] - course.ranks[earlier, i] <= most:
                return True
        return False
    for j in range(contest.probed.shape[1]):
        group, depth = contest.probed[row, j], depths[contest.depth_rows[pair], j]
        n_newer = course.n_kept[group] if group != NO_GROUP else np.int64(0)
        if depth > 0 and depth + n_newer <= most:
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def stays_looked_at(contest: Contest, course: Course, depths: Int64s, row: int, pair: int) -> bool:
    """Return whether the earlier text of a pair remains a candidate even if all texts of the batch are kept.

    Kept texts can push older ones out of the newest ``max_bucket_size`` texts of a key, which are the candidates.
    """
    earlier, most = contest.earlier[pair], contest.max_bucket_size
    if earlier != IN_INDEX:
        for i in range(contest.own.shape[1]):
            group = contest.own[earlier, i]
            column = course.columns[group] if group != NO_GROUP else np.int16(-1)
            if column >= 0 and contest.before[row, column] - contest.places[earlier, i] <= most:
                return True
        return False
    for j in range(contest.before.shape[1] if contest.depth_rows[pair] != NONE else 0):
        depth = depths[contest.depth_rows[pair], j]
        if depth > 0 and depth + contest.before[row, j] <= most:
            return True
    return False


@njit(cache=True, nogil=True)
def may_be_verified(later: Int64s, distances: Int32s, is_sure: Bools, most_pairs: Int64s) -> Bools:
    """Return bool[n_pairs]: False for pairs that ``most_pairs`` excludes, whichever texts of the batch are kept.

    As an exception, the excluded pairs of a text stay True up to and including the first certain candidate: this pair
    shows the run that the text skipped a candidate.

    Parameters
    ----------
    later, distances, is_sure
        int64[n_pairs], int32[n_pairs] and bool[n_pairs]: for pairs with kept texts of an index, the row of the later
        text (ascending), the Hamming distance, and whether the earlier text is certainly a candidate.
    most_pairs
        int64[n_texts]: as in `Contest`.
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
