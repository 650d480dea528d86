"""Decide posts round by round, in order: the posts of a round are compared with each other and with all kept before.

The driver holds one round at a time: the status of its posts, and the pairs that match. Tasks do all work that takes
long or needs texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from hybriddup.data.records import Bools, Int8s, Int64s
from hybriddup.errors import HybriddupError
from hybriddup.run.audit import Estimate
from hybriddup_spark.bins import BinTasks
from hybriddup_spark.blocks import PART, Merge, mapped, merging, travelling
from hybriddup_spark.columns import bools, distinct, ints, longs
from hybriddup_spark.contest import COPY, GONE, KEPT, OF_INDEX, OPEN, RoundLinks, decide_by_links
from hybriddup_spark.divided import Divided, Earlier
from hybriddup_spark.equal import NONE, exact_removed, find_copies
from hybriddup_spark.gathering import Keyed, OpenPosts
from hybriddup_spark.making import Maker
from hybriddup_spark.meeting import COMMON, CROWDED, CUT, EARLIER, LATER, find_meetings, members_of, notes_of
from hybriddup_spark.picking import (
    OF_BINS,
    OF_ENTRIES,
    OF_EQUAL,
    OF_TEXTS,
    Flags,
    Parts,
    entries_of,
    equal_of,
    is_among,
    texts_at,
)
from hybriddup_spark.positions import at_positions, between
from hybriddup_spark.recall import KeptPosts
from hybriddup_spark.schemas import (
    COPIES,
    ENTRIES,
    EQUAL,
    LINKS,
    MEETINGS,
    MEMBERS,
    NEEDED,
    NOTES,
    PAIRS,
    REMOVED,
    in_spark,
)
from hybriddup_spark.slicing import are_divided
from hybriddup_spark.verifying import find_links, with_earlier_texts

FIRST_ROUND = 2**20
"""Number of posts in the first round. Each later round has as many posts as all rounds before it together, so that few
of them are copies of each other."""
POSTS_PER_ROUND = 2**21
"""Maximum number of posts of a round; the driver needs about 500 bytes for each."""

Blocks = tuple[DataFrame, pa.Schema]
"""A data frame of `BLOCKS`, and the schema of the rows in the blocks."""


@dataclass
class Decided:
    """Counts over all rounds of a run."""

    rounds: int = 0
    exact: int = 0
    near: int = 0
    """Number of near repeats that were removed."""
    pairs: int = 0
    together: int = 0
    """Number of posts that were decided together, because single pairs did not decide them."""
    limits: Counter[str] = field(default_factory=Counter)
    recall: Estimate | None = None


@dataclass(frozen=True)
class Rounds:
    """Decides prepared posts round by round, and writes the decisions to a directory."""

    spark: SparkSession
    maker: Maker
    work: str
    """URL of a directory that all executors can reach."""
    posts: DataFrame
    """`POSTS`."""
    parts: Parts
    n_posts: int
    n_given: int = 0
    """The first ``n_given`` posts are kept without comparing; equal ones count as one."""
    first_round: int = FIRST_ROUND
    posts_per_round: int = POSTS_PER_ROUND
    count_bytes: Callable[[int], None] = lambda _: None
    """Called by tasks with the number of bytes of blocks that they move to other tasks."""

    def decide_all(self, advance: Callable[[int], None] = lambda _: None) -> Decided:
        """Decide all posts; write the posts that each round removes to the directory ``removed``, as `REMOVED`.

        ``advance`` is called after each round with the number of posts decided so far.
        """
        counted = Decided()
        equal, entries = (Divided(schema, len(self.parts.values), self.count_bytes) for schema in (EQUAL, ENTRIES))
        kept, common = np.ones(self.n_posts, np.bool_), np.zeros(0, np.int64)
        with equal, entries:
            if self.n_given:
                given = Round(self, Earlier.of(kept[:0]), self.n_given, equal, entries, counted)
                kept[given.keep_all()] = False
            for first, last in self.bounds():
                this = Round(self, Earlier.of(kept[:first]), last, equal, entries, counted)
                removed, common = this.decide(), this.common
                kept[longs(removed, "position")] = False
                n_exact = int(bools(removed, "is_exact").sum())
                counted.exact, counted.near = counted.exact + n_exact, counted.near + len(removed) - n_exact
                whole = removed.combine_chunks()  # Spark 4.3 stops reading at an empty chunk
                self.write(self.spark.createDataFrame(whole), f"removed/round={counted.rounds}")
                counted.rounds += 1
                advance(last - self.n_given)
            if sample := self.maker.components().settings.audit.sample:
                audited = KeptPosts(self.maker, self.posts, kept, self.n_given)
                counted.recall = audited.estimate(common, counted.exact + counted.near, sample)
        return counted

    def bounds(self) -> Iterator[tuple[int, int]]:
        """Yield the first position of each round, and the one after its last."""
        first, size = self.n_given, min(max(self.first_round, self.n_given), self.posts_per_round)
        while first < self.n_posts:
            yield first, min(first + size, self.n_posts)
            first += size
            size = min(max(first, size), self.posts_per_round)

    def some(self, first: int, last: int) -> DataFrame:
        """Return the posts with positions in ``range(first, last)``."""
        return between(self.posts, first, last)

    def write(self, frame: DataFrame, name: str) -> DataFrame:
        """Write a table to the directory, and return a data frame that reads it instead of computing it again."""
        path = f"{self.work}/{name}"
        frame.write.mode("overwrite").parquet(path)
        return self.spark.read.schema(frame.schema).parquet(path)

    def merge(self, left: Blocks, right: Blocks, merge: Merge, schema: pa.Schema) -> DataFrame:
        """Join two tables by part: apply ``merge`` to the rows of both in each part; ``schema`` is its result's."""
        n = len(self.parts.values)
        a, b = (frame.repartition(n, PART).groupBy(PART) for frame, _ in (left, right))
        task = merging(merge, left[1], right[1], self.count_bytes)
        return a.cogroup(b).applyInArrow(task, in_spark(travelling(schema)))


class Notes:
    """The `NOTES` of a round, which are accessed by kind."""

    def __init__(self, table: pa.Table) -> None:
        self._table, self._kinds = table, longs(table, "kind")

    def positions(self, kind: int) -> Int64s:
        """Return the column ``position`` of the rows of one kind."""
        chosen: Int64s = longs(self._table, "position")[self._kinds == kind]
        return chosen

    def keys(self, kind: int) -> Int64s:
        """Return the column ``key`` of the rows of one kind."""
        chosen: Int64s = longs(self._table, "key")[self._kinds == kind]
        return chosen

    def crowded(self) -> Keyed:
        """Return the posts with crowded keys, and these keys."""
        return Keyed(self.positions(CROWDED), self.keys(CROWDED))


@dataclass
class Round:
    """A round while it is decided. A *row* is the position of a post relative to the first post of the round."""

    rounds: Rounds
    earlier: Earlier
    last: int
    equal: Divided
    """`EQUAL` of all posts up to the end of this round."""
    entries: Divided
    """`ENTRIES` of all posts up to the end of this round, without removed exact repeats."""
    counted: Decided
    common: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    """int64[n], ascending: positions of the posts with a key that many texts share, found if no round follows."""

    @property
    def is_last(self) -> bool:
        """Whether no round follows."""
        return self.last == self.rounds.n_posts

    @property
    def first(self) -> int:
        """Position of the first post."""
        return self.earlier.first

    def decide(self) -> pa.Table:
        """Decide the round; return the removed posts, as `REMOVED`."""
        copies = self.copies()
        status = self.known(copies)
        meetings = self.meetings(status, copies)
        notes = Notes(_collected(mapped(meetings, notes_of, NOTES, in_blocks=True)))
        check_parts(notes.keys(CUT))
        self.counted.limits["max_bucket_size"] += int(notes.positions(CUT).sum())
        crowded = notes.crowded()
        status[crowded.positions - self.first] = OPEN
        links = self.links(meetings, notes, status)
        deciding = self.decide_links(status, links)
        gone = np.flatnonzero(status == GONE)
        removed = [self.remove_by_links(gone + self.first, links.take(deciding[gone]))]
        removed += self.remove_copies(copies, status, links, deciding)
        if (status == OPEN).any():
            removed.append(self.together(OpenPosts.of(self.first, status, links, crowded), meetings, copies))
        whole = pa.concat_tables(removed)
        if self.is_last:
            self.common = with_copies(notes.positions(COMMON), copies)
        else:
            self.add_kept_copies(copies, whole)
        return whole

    def keep_all(self) -> Int64s:
        """Add all posts without comparing them; return the positions of those that equal an earlier one."""
        copies = longs(self.copies(), "position")
        chosen = np.ones(self.last - self.first, np.bool_)
        chosen[copies - self.first] = False
        self.add_entries(chosen, np.zeros(len(chosen), np.bool_))
        return copies

    def add_kept_copies(self, copies: pa.Table, removed: pa.Table) -> None:
        """Add the keys of copies that were kept, because the keeper was no longer among the newest of its key."""
        stays = np.zeros(self.last - self.first, np.bool_)
        stays[longs(copies, "position") - self.first] = True
        stays[longs(removed, "position") - self.first] = False
        if stays.any():
            self.add_entries(stays, np.zeros(len(stays), np.bool_))

    def posts(self) -> DataFrame:
        """Return the posts of the round."""
        return self.rounds.some(self.first, self.last)

    def copies(self) -> pa.Table:
        """Return the `COPIES` of the round."""
        earlier = self.earlier
        self.equal.add(self.posts().select(*OF_EQUAL), equal_of(self.rounds.parts), stays=not self.is_last)
        return _collected(self.equal.by_part(lambda posts: find_copies(posts, earlier), COPIES))

    def known(self, copies: pa.Table) -> Int8s:
        """Return int8[n]: the status of each post before the search for pairs."""
        status = np.full(self.last - self.first, KEPT)
        status[longs(copies, "position") - self.first] = COPY
        return status

    def meetings(self, status: Int8s, copies: pa.Table) -> DataFrame:
        """Add the keys of posts that are not copies; return their `MEETINGS` with each other and with kept posts."""
        maker, parts, earlier = self.rounds.maker, self.rounds.parts, self.earlier
        repeated = np.zeros(len(status), np.bool_)
        firsts = longs(copies, "first")
        repeated[firsts[firsts != NONE] - self.first] = True
        self.add_entries(status != COPY, repeated)
        is_last = self.is_last

        def meet(some: pa.Table) -> pa.Table:
            return find_meetings(maker.components(), some, earlier, parts, is_last=is_last)

        return self.rounds.write(self.entries.by_part(meet, MEETINGS), "meetings")

    def add_entries(self, chosen: Bools, repeated: Bools) -> None:
        """Add the keys of the chosen posts of the round to ``entries``.

        ``chosen`` and ``repeated``, bool[n], have a flag for each post of the round; ``repeated`` marks posts that have
        a later copy in the round.
        """
        probes = self.rounds.maker.components().block_index.probes_others
        flags = (Flags.of(self.first, one) for one in (chosen, repeated))
        task = entries_of(self.rounds.parts, *flags, probes=probes)
        self.entries.add(self.posts().select(*OF_ENTRIES), task, stays=not self.is_last)

    def links(self, meetings: DataFrame, notes: Notes, status: Int8s) -> pa.Table:
        """Return the `LINKS` of the round, ordered by later, then by earlier text."""
        rounds = self.rounds
        maker, parts = rounds.maker, rounds.parts
        earlier, later = distinct(notes.positions(EARLIER)), distinct(notes.positions(LATER))
        crowded = distinct(notes.crowded().positions)
        if not len(later):
            return LINKS.empty_table()
        is_kept = status == KEPT
        is_kept[later - self.first] = False
        certain = Flags.of(self.first, is_kept)

        def give_texts(pairs: pa.Table, needed: pa.Table) -> pa.Table:
            return with_earlier_texts(pairs, needed, parts)

        def verify(pairs: pa.Table, needed: pa.Table) -> pa.Table:
            return find_links(maker.components(), pairs, needed, crowded, certain)

        pairs = rounds.merge((meetings, MEETINGS), (self.texts(earlier), NEEDED), give_texts, PAIRS)
        links = _collected(rounds.merge((pairs, PAIRS), (self.texts(later), NEEDED), verify, LINKS))
        self.counted.pairs += len(links)
        return links.take(np.lexsort((longs(links, "earlier"), longs(links, "later"))))

    def texts(self, positions: Int64s) -> DataFrame:
        """Return the texts at some positions, ascending, as `NEEDED`."""
        posts = between(self.rounds.posts, int(positions[0]), int(positions[-1]) + 1)
        return mapped(posts.select(*OF_TEXTS), texts_at(self.rounds.parts, Flags.at_positions(positions)), NEEDED)

    def decide_links(self, status: Int8s, links: pa.Table) -> Int64s:
        """Decide posts by their links; update ``status`` in place; return the link that removes each post, or -1."""
        later, is_open = longs(links, "later") - self.first, bools(links, "is_open")
        status[later[is_open]] = OPEN
        rows = np.maximum(longs(links, "earlier") - self.first, OF_INDEX)
        return decide_by_links(status, RoundLinks(later, rows, bools(links, "is_sure")))

    def remove_copies(self, copies: pa.Table, status: Int8s, links: pa.Table, deciding: Int64s) -> list[pa.Table]:
        """Return the copies that are removed, as `REMOVED`; copies of open texts are not decided yet."""
        firsts, keepers, positions = longs(copies, "first"), longs(copies, "keeper"), longs(copies, "position")
        rows = np.where(firsts == NONE, 0, firsts - self.first)
        of_kept = (firsts != NONE) & (status[rows] == KEPT)
        of_gone = np.flatnonzero((firsts != NONE) & (status[rows] == GONE))
        keepers = np.where(of_kept, firsts, keepers)
        exact = np.flatnonzero(keepers != NONE)
        bands = self.rounds.maker.components().bands
        equal = exact_removed(positions[exact], keepers[exact], bands.of_lengths(ints(copies, "length")[exact]))
        return [equal, self.remove_by_links(positions[of_gone], links.take(deciding[rows[of_gone]]))]

    def remove_by_links(self, positions: Int64s, links: pa.Table) -> pa.Table:
        """Return the posts at ``positions``, each removed by the link in the same row of ``links``, as `REMOVED`."""
        columns = {name: links.column(name) for name in ("distance", "score", "threshold", "verifier", "band")}
        columns |= {
            "position": pa.array(positions, pa.int64()),
            "keeper": links.column("earlier"),
            "is_exact": pa.array(np.zeros(len(links), np.bool_)),
        }
        return pa.table({field.name: columns[field.name] for field in REMOVED}, schema=REMOVED)

    def together(self, posts: OpenPosts, meetings: DataFrame, copies: pa.Table) -> pa.Table:
        """Decide the open posts and their copies; return the removed ones, as `REMOVED`."""
        rounds = self.rounds
        places, others = posts.gathered(members(meetings, posts), copies, len(rounds.parts.values))
        positions = distinct(np.concatenate([places.texts, longs(others, "position")]))
        texts = at_positions(between(rounds.posts, 0, self.last), positions).select(*OF_BINS)
        if are_divided(places):
            texts = rounds.write(texts, "open")
        settled = pa.concat_tables(BinTasks(rounds.maker, rounds.parts, texts).decide(places, others))
        self.counted.together += len(settled)
        self.counted.limits["max_candidates"] += int(longs(settled, "n_cut").sum())
        return settled.take(np.flatnonzero(~bools(settled, "is_kept"))).select(REMOVED.names)


def with_copies(texts: Int64s, copies: pa.Table) -> Int64s:
    """Return the positions of texts, and of their `COPIES` in the round, ascending."""
    texts = distinct(texts)
    return distinct(np.concatenate([texts, longs(copies, "position")[is_among(longs(copies, "first"), texts)]]))


def check_parts(parts: Int64s) -> None:
    """Check that no two tasks had rows of the same part; ``parts``, int64[n_tasks], is the part of each.

    Raises
    ------
    HybriddupError
        Spark gave the rows of one part to several tasks. Spark 4.1 and later may do so for a union of tables that are
        partitioned alike (SPARK-59141); it was never observed for these tables.
    """
    if len(distinct(parts)) < len(parts):
        raise HybriddupError(
            "Spark gave the keys of one part to several tasks, so that repeats would be missed. Set "
            "spark.sql.unionOutputPartitioning to false."
        )


def members(meetings: DataFrame, posts: OpenPosts) -> Keyed:
    """Return the open and kept texts under the keys whose kept texts influence open posts."""
    table = _collected(mapped(meetings, members_of(posts.decisive_keys), MEMBERS, in_blocks=True))
    found = Keyed(longs(table, "position"), longs(table, "key"))
    return found.take(posts.status_at(found.positions) != GONE)


def _collected(frame: DataFrame) -> pa.Table:
    return frame.toArrow()
