"""A run on Spark: from a data frame of posts to data frames of kept and removed posts."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from hybriddup.config import open_session
from hybriddup.config.load import DEFAULT_CONFIG, Config
from hybriddup.config.settings import KeepRule, Settings
from hybriddup.data.records import Int64s
from hybriddup.errors import ConfigError, InputError
from hybriddup.run.recipe import LearnedRecipe
from hybriddup_spark.blocks import mapped, uncounted
from hybriddup_spark.divided import even_parts, united
from hybriddup_spark.evidence import POSITION, Keepers, marked_posts, removed_posts
from hybriddup_spark.fields import Fields, named
from hybriddup_spark.learning import given_recipe, learn_some
from hybriddup_spark.making import Maker
from hybriddup_spark.order_values import OrderColumn, scope_of
from hybriddup_spark.ordering import NUMBER, first_positions, in_order, split_bad
from hybriddup_spark.picking import Parts
from hybriddup_spark.preparing import preparer
from hybriddup_spark.result import SparkResult, SparkSummary
from hybriddup_spark.rounds import POSTS_PER_ROUND, Decided, Rounds
from hybriddup_spark.sampling import Sampler
from hybriddup_spark.schemas import POSTS, REMOVED, in_spark
from hybriddup_spark.task_counter import TaskCounter, context_of

POSTS_PER_PART = 2**17
"""Approximate number of posts whose keys one task holds at a time."""
UNKNOWN_CORES = 8
"""Number of cores that a run assumes if Spark Connect hides it."""


def dedupe(
    posts: DataFrame,
    *,
    config: Config = DEFAULT_CONFIG,
    text: str = "text",
    id: str | None = "id",  # noqa: A002  (what users know it by)
    order_by: str | Sequence[str] = (),
    per: str | Sequence[str] = (),
    against: DataFrame | None = None,
    work: str | None = None,
    plugins: Iterable[str] = (),
    recipe: LearnedRecipe | None = None,
    posts_per_round: int = POSTS_PER_ROUND,
    advance: Callable[[int], None] = lambda _: None,
) -> SparkResult:
    """Decide which posts are kept and which repeat an earlier kept post, with the same result as `hybriddup.dedupe`.

    Parameters
    ----------
    posts
        Posts with a column of texts; posts with null there are counted as bad records.
    config
        Configuration, as in `hybriddup.dedupe`.
    text, id
        Names of columns. ``id`` orders posts of the same time and names keepers; None: the posts have no ids.
    order_by
        Columns that order the posts; of two posts that are equal in all of them, the smaller id is earlier. Empty: the
        posts are in order. Text is compared as numbers if some of it is numbers, as times if most of it is times, and
        alphabetically otherwise, as with ``keep: {highest: FIELD}``; posts without such a value are last.
    per
        Columns, such as the author: a post repeats only posts with equal values there. Empty: all posts.
    against
        Other posts, such as the posts kept by an earlier run, with the same columns for text, id, order and scope. They
        are always kept, in their order by ``order_by``, and are not in the result. A post that repeats one of them has
        ``keeper_source`` "against". Records without a text are ignored.
    work
        URL of a directory for intermediate results that all executors can reach; None: a temporary directory, if Spark
        runs on one machine.
    plugins
        Names of modules to load as plugins; executors need them too.
    recipe
        A learned recipe. None: the file that the configuration names as ``recipe:``, or a recipe learned from about
        50,000 posts, spread over all.
    posts_per_round
        Maximum number of posts per round; the driver needs about 500 bytes for each.
    advance
        Called after each round with the number of posts decided so far.

    Raises
    ------
    InputError
        Columns are missing, have other types, or names that cannot be used (all in one error); a work directory is
        missing.
    ConfigError, PluginError
        As for `hybriddup.dedupe`.
    """
    settings, manager = open_session(config, tuple(plugins))
    fields = Fields(text, id, listed(order_by), listed(per))
    if settings.of_runs_only:
        raise ConfigError(
            f"Spark cannot keep {', '.join(settings.of_runs_only)}; use hybriddup.dedupe, or leave these keys out."
        )
    fields.check(posts, settings.keep_rules)
    if against is not None:
        fields.check_against(against, posts)
    folder = work_folder(posts.sparkSession, work)
    good, bad = split_bad(posts, fields)
    others = None if against is None else split_bad(against, fields)[0]
    all_good = [good] if others is None else [others, good]
    learned = recipe or given_recipe(settings) or learn_some(all_good, fields, settings, manager.registry)
    maker = Maker.of(settings.to_dict(), tuple(plugins), learned, settings.recipe or "learned")
    run = SparkRun(posts.sparkSession, folder, maker, fields, settings, posts_per_round)
    with TaskCounter(context_of(posts.sparkSession)) as tasks:

        def after_round(n: int) -> None:
            tasks.update()
            advance(n)

        result = run.dedupe(good, bad, others, learned, after_round)
        result.summary.n_tasks = tasks.update()
    result.summary.config = config if isinstance(config, str) else ""
    return result


def listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def work_folder(session: SparkSession, work: str | None) -> str:
    """Return a new directory for intermediate results, in ``work`` if given; InputError if Spark cannot reach it."""
    context = context_of(session)
    where = "the server of Spark Connect" if context is None else context.master or ""
    if work is None and not where.startswith("local"):
        raise InputError(
            "work: name a directory that all executors can reach, such as hdfs:///tmp/hybriddup or s3a://bucket/work; "
            f"Spark runs at {where}, which cannot reach a temporary directory of this machine."
        )
    return f"{temporary_folder() if work is None else work.rstrip('/')}/{uuid.uuid4().hex}"


def temporary_folder() -> str:
    """Create a directory on this machine for the results, which is deleted when this process ends."""
    folder = tempfile.mkdtemp(prefix="hybriddup-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@dataclass(frozen=True)
class Placed:
    """Posts in the decision order, in the work directory."""

    posts: DataFrame
    """Posts with all columns and their `POSITION`."""
    firsts: Int64s
    """int64[n_partitions]: position of the first post of each partition."""
    n: int
    compared: Mapping[str, OrderColumn]
    """How the columns of the order were compared."""


@dataclass(frozen=True)
class SparkRun:
    """A run on one data frame of posts."""

    spark: SparkSession
    folder: str
    maker: Maker
    fields: Fields
    settings: Settings
    posts_per_round: int = POSTS_PER_ROUND

    def dedupe(
        self,
        good: DataFrame,
        bad: DataFrame,
        against: DataFrame | None,
        recipe: LearnedRecipe,
        advance: Callable[[int], None],
    ) -> SparkResult:
        """Decide the posts in ``good``, also comparing them with ``against``; ``bad`` records are only counted."""
        components = self.maker.components()  # a recipe that does not fit is refused before any work
        others = None if against is None else self.place(against, ("first",), "against", 0)
        first = 0 if others is None else others.n
        own = self.place(good, self.settings.keep_rules, "ordered", first)
        prepared = self.write(self.prepared(own, others), "posts")
        drops = self.settings.without_text == "drop"
        posts = prepared.filter(sf.col("has_text")) if drops else prepared
        parts = Parts(even_parts(self.spark, self.n_parts(first + own.n)))
        context = context_of(self.spark)
        moved = None if context is None else context.accumulator(0)
        rounds = Rounds(
            self.spark, self.maker, self.folder, posts, parts, first + own.n, first,
            posts_per_round=self.posts_per_round, count_bytes=uncounted if moved is None else moved.add,
        )  # fmt: skip
        decided = rounds.decide_all(advance)
        removed = self.read_removed(decided)
        summary = self.summarize(decided, own, prepared.filter(~sf.col("has_text") & (sf.col("position") >= first)))
        summary.n_bad, summary.n_against = bad.count(), first
        summary.n_bytes_moved = None if moved is None else moved.value
        summary.n_removed_against = removed.filter(sf.col("keeper") < first).count() if first else 0
        gone = removed.select(sf.col("position").alias(POSITION))
        kept = own.posts.join(gone, POSITION, "left_anti")
        if drops:
            kept = kept.join(posts.select(sf.col("position").alias(POSITION)), POSITION, "left_semi")
        keepers = Keepers.of(self.fields, own.posts, None if others is None else others.posts, first)
        with_evidence = removed_posts(own.posts, removed, keepers, components)
        mark = partial(marked_posts, kept, own.posts, removed, keepers, self.fields)
        sampler = Sampler(
            kept, own.posts, None if others is None else others.posts, removed,
            self.fields, self.settings, self.maker.plugins, recipe, summary,
        )  # fmt: skip
        return SparkResult(kept.drop(POSITION, NUMBER), with_evidence, bad, summary, recipe, mark, sampler.sample)

    def place(self, posts: DataFrame, rules: Sequence[KeepRule], name: str, first: int) -> Placed:
        """Sort posts into the decision order and write them as ``name``; their positions begin with ``first``."""
        in_turn, compared = in_order(posts, self.fields, rules, self.maker)
        ordered = self.write(in_turn, name)
        firsts, n = first_positions(ordered)
        firsts += first
        return Placed(ordered.withColumn(POSITION, position_of(firsts.tolist() or [0])), firsts, n, compared)

    def prepared(self, *placed: Placed | None) -> DataFrame:
        """Normalize and fingerprint posts; return them as one table, as `POSTS`."""

        def of(some: Placed) -> DataFrame:
            scopes = [scope_of(some.posts, self.fields.per).alias("scope")] if self.fields.per else []
            numbered = some.posts.select(sf.col(NUMBER).alias("number"), named(self.fields.text).alias("text"), *scopes)
            return mapped(numbered, preparer(self.maker, some.firsts), POSTS)

        return united(of(some) for some in placed if some is not None)

    def n_parts(self, n: int) -> int:
        """Return the number of parts for the keys of ``n`` posts: in proportion to ``n``, to limit a task's memory."""
        context = context_of(self.spark)
        n_cores = UNKNOWN_CORES if context is None else context.defaultParallelism
        return max(2 * n_cores, -(-n // POSTS_PER_PART))

    def n_repeated_ids(self, posts: DataFrame) -> int:
        """Count the posts with the id of an earlier post."""
        if self.fields.id is None:
            return 0
        counts = posts.groupBy(named(self.fields.id).alias("id")).agg(sf.count("*").alias("n")).filter("n > 1")
        (found,) = counts.agg(sf.sum(sf.col("n") - 1).alias("n")).collect()
        return found["n"] or 0

    def write(self, frame: DataFrame, name: str) -> DataFrame:
        """Write a table to the work directory, and return a data frame that reads it."""
        frame.write.mode("overwrite").parquet(f"{self.folder}/{name}")
        return self.spark.read.schema(frame.schema).parquet(f"{self.folder}/{name}")

    def read_removed(self, decided: Decided) -> DataFrame:
        """Return the removed posts of all rounds."""
        if not decided.rounds:
            return self.spark.createDataFrame([], in_spark(REMOVED))
        paths = [f"{self.folder}/removed/round={number}" for number in range(decided.rounds)]
        return self.spark.read.schema(in_spark(REMOVED)).parquet(*paths)

    def summarize(self, decided: Decided, own: Placed, without_text: DataFrame) -> SparkSummary:
        """Return the counts, and the comparison of text columns."""
        n_without_text = without_text.count()
        n_dropped = n_without_text if self.settings.without_text == "drop" else 0
        texts = {name: column for name, column in own.compared.items() if column.kind}
        return SparkSummary(
            n_read=own.n,
            n_without_text=n_without_text,
            n_exact=decided.exact,
            n_near=decided.near,
            n_kept=own.n - decided.exact - decided.near - n_dropped,
            estimated_stage1_recall=decided.recall and decided.recall.share,
            estimated_stage1_recall_margin=decided.recall and decided.recall.margin,
            n_linked_pairs=decided.pairs,
            n_decided_together=decided.together,
            n_repeated_ids=self.n_repeated_ids(own.posts),
            n_rounds=decided.rounds,
            limits_hit={limit: count for limit, count in decided.limits.items() if count},
            compared_as={name: column.kind for name, column in texts.items()},
            n_without_value={name: column.n_without for name, column in texts.items()},
            recipe_id=self.maker.components().recipe_id(),
        )


def position_of(firsts: Sequence[int]) -> Column:
    """Return the expression for the position of a post, given the position of the first post of each partition."""
    partition, place = sf.shiftright(sf.col(NUMBER), 33), sf.col(NUMBER).bitwiseAND(sf.lit((1 << 33) - 1))
    return sf.array(*map(sf.lit, map(int, firsts)))[partition.cast("int")].cast("bigint") + place
