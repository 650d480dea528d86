"""Join pairs with their texts, first the earlier and then the later one, and verify them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hybriddup.data.records import Bools, CandidatePairs, Int64s, VerifiedPairs
from hybriddup.run.components import Components
from hybriddup_spark.columns import longs, packed_lists, table_of, texts
from hybriddup_spark.meeting import PAIRED, SURE
from hybriddup_spark.picking import Flags, Parts
from hybriddup_spark.schemas import LINKS, PAIRS

FIRST_IN_TURN = 4
"""Number of pairs of each text that are verified in the first turn; each later turn verifies four times as many."""


def with_earlier_texts(meetings: pa.Table, needed: pa.Table, parts: Parts) -> pa.Table:
    """Join the distinct pairs in `MEETINGS` with the text of the earlier post, from ``needed``; return `PAIRS`.

    A pair that is sure under one key keeps only that key; other pairs keep all shared keys.
    """
    meetings = meetings.filter(pa.array(np.isin(longs(meetings, "kind"), PAIRED)))
    if not len(meetings):
        return PAIRS.empty_table()
    later, earlier, kinds = longs(meetings, "later"), longs(meetings, "earlier"), longs(meetings, "kind")
    keys, distances = longs(meetings, "key"), longs(meetings, "distance")
    order = np.lexsort((kinds, later, earlier))
    later, earlier, kinds, keys, distances = (column[order] for column in (later, earlier, kinds, keys, distances))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(later) != 0) | (np.diff(earlier) != 0)
    firsts = np.flatnonzero(is_first)
    of_row = np.cumsum(is_first) - 1
    is_listed = is_first | (kinds[firsts] != SURE)[of_row]
    at = np.argsort(longs(needed, "position"))
    rows = at[np.searchsorted(longs(needed, "position")[at], earlier[firsts])]
    return table_of(
        PAIRS,
        part=parts.of(later[firsts].view(np.uint64)),
        later=later[firsts],
        earlier=earlier[firsts],
        keys=packed_lists(keys[is_listed], np.bincount(of_row[is_listed])),
        distance=distances[firsts],
        kind=kinds[firsts],
        text=needed.column("text").combine_chunks().take(pa.array(rows)),
    )


def find_links(components: Components, pairs: pa.Table, needed: pa.Table, crowded: Int64s, certain: Flags) -> pa.Table:
    """Verify the `PAIRS` of the later texts in ``needed``; return the matches, and all pairs of open texts, as `LINKS`.

    Parameters
    ----------
    crowded
        int64[n], ascending: positions of texts with a crowded key, whose candidates are not all listed.
    certain
        Posts of the round that are kept, whatever is decided about the others; all earlier texts were kept.
    """
    if not len(pairs):
        return LINKS.empty_table()
    pairs = pairs.take(np.lexsort((longs(pairs, "earlier"), longs(pairs, "later"))))
    later = longs(pairs, "later")
    known = dict(zip(longs(needed, "position").tolist(), texts(needed), strict=True))
    numbers, of_pair, n_of_text = np.unique(later, return_inverse=True, return_counts=True)
    later_texts = [known[position] for position in numbers.tolist()]
    judged = Judged.of(components, later_texts, pairs, of_pair)
    most = components.limits.most_pairs(judged.lengths[: len(numbers)])
    is_open = ((n_of_text > most) | np.isin(numbers, crowded))[of_pair]
    earlier = longs(pairs, "earlier")
    is_kept = (earlier < certain.first) | certain.at(np.maximum(earlier, certain.first))
    matches = judged.verify_in_turn(np.flatnonzero(~is_open), is_kept)
    chosen = np.flatnonzero(is_open | matches)
    return judged.links(chosen, is_open[chosen])


class Judged:
    """Pairs with their texts, and the scores of the pairs verified so far."""

    def __init__(
        self, components: Components, pairs: pa.Table, candidates: CandidatePairs, all_texts: list[str]
    ) -> None:
        self._components, self._pairs, self._candidates = components, pairs, candidates
        n = len(pairs)
        self.evidence = VerifiedPairs(
            candidates.earlier, candidates.later, candidates.hamming_distances,
            np.zeros(n), np.zeros(n), np.zeros(n, np.int32), np.zeros(n, np.int32),
        )  # fmt: skip
        context = components.verifier_context(all_texts, components.compared(all_texts), 1)
        components.plan.prepare(context, is_learned=True)
        self.lengths = context.lengths
        """int32[n]: length of each compared text; the later texts first."""
        self._context = context

    @classmethod
    def of(cls, components: Components, later_texts: list[str], pairs: pa.Table, of_pair: Int64s) -> Judged:
        """Build from `PAIRS`; ``of_pair``, int64[n_pairs], is the row of each pair's later text in ``later_texts``."""
        earlier = longs(pairs, "earlier")
        _, firsts, of_earlier = np.unique(earlier, return_index=True, return_inverse=True)
        earlier_texts = texts(pairs.select(["text"]).take(pa.array(firsts)))
        candidates = CandidatePairs(len(later_texts) + of_earlier, of_pair, longs(pairs, "distance").astype(np.int32))
        return cls(components, pairs, candidates, later_texts + earlier_texts)

    def verify(self, chosen: Int64s) -> Bools:
        """Verify the chosen pairs and store their scores; return bool[n_chosen], whether each matches."""
        accepted, verified = self._components.bands.verify(self._candidates.take(chosen), self._context)
        rows = chosen[accepted]
        for name in ("scores", "thresholds", "verifiers", "length_bands"):
            getattr(self.evidence, name)[rows] = getattr(verified, name)
        return accepted

    def verify_in_turn(self, chosen: Int64s, is_kept: Bools) -> Bools:
        """Verify the chosen pairs of each later text in turns, the earliest first; return bool[n_pairs]: the matches.

        A text has one keeper, so it takes no further turn after a sure match with a text that is certainly kept.
        ``is_kept``, bool[n_pairs], marks the pairs with such a text.
        """
        matches, later = np.zeros(len(self._pairs), np.bool_), self._candidates.later
        ends_turn = is_kept & (longs(self._pairs, "kind") == SURE)
        n_per_turn = FIRST_IN_TURN
        while len(chosen):
            place = np.arange(len(chosen)) - np.searchsorted(later[chosen], later[chosen])
            now = chosen[place < n_per_turn]
            matches[now] = self.verify(now)
            is_done = np.zeros(int(later.max()) + 1, np.bool_)
            is_done[later[now[matches[now] & ends_turn[now]]]] = True
            chosen = chosen[(place >= n_per_turn) & ~is_done[later[chosen]]]
            n_per_turn *= 4
        return matches

    def links(self, chosen: Int64s, is_open: Bools) -> pa.Table:
        """Return the chosen pairs as `LINKS`."""
        evidence, pairs = self.evidence, self._pairs.take(chosen)
        return table_of(
            LINKS,
            later=longs(pairs, "later"),
            earlier=longs(pairs, "earlier"),
            keys=pairs.column("keys").to_pylist(),
            is_sure=longs(pairs, "kind") == SURE,
            is_open=is_open,
            distance=longs(pairs, "distance"),
            score=evidence.scores[chosen],
            threshold=evidence.thresholds[chosen],
            verifier=evidence.verifiers[chosen],
            band=evidence.length_bands[chosen],
        )
