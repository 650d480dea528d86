"""A run on Spark: from a data frame of posts to data frames of kept and removed posts."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.errors import PySparkAttributeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from hybriddup.config import open_session
from hybriddup.config.load import DEFAULT_CONFIG, Config
from hybriddup.config.settings import Settings
from hybriddup.errors import ConfigError, InputError
from hybriddup.plugin.registry import Registry
from hybriddup.run.components import Components
from hybriddup.run.recipe import LearnedRecipe, load_recipe
from hybriddup_spark.blocks import mapped
from hybriddup_spark.divided import even_parts
from hybriddup_spark.evidence import POSITION, marked_posts, removed_posts
from hybriddup_spark.fields import Fields, named
from hybriddup_spark.making import Maker
from hybriddup_spark.order_values import OrderColumn, scope_of
from hybriddup_spark.ordering import NUMBER, first_positions, in_order, split_bad
from hybriddup_spark.picking import Parts
from hybriddup_spark.preparing import preparer
from hybriddup_spark.result import SparkResult, SparkSummary
from hybriddup_spark.rounds import POSTS_PER_ROUND, Decided, Rounds
from hybriddup_spark.schemas import POSTS, REMOVED, in_spark
from hybriddup_spark.task_counter import TaskCounter

SAMPLE_POSTS = 50_000
"""Approximate sample size for learning without a recipe, in posts."""
POSTS_PER_PART = 2**17
"""Approximate number of posts whose keys one task holds at a time."""


def dedupe(
    posts: DataFrame,
    *,
    config: Config = DEFAULT_CONFIG,
    text: str = "text",
    id: str | None = "id",  # noqa: A002  (what users know it by)
    order_by: str | Sequence[str] = (),
    per: str | Sequence[str] = (),
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
        missing; the session uses Spark Connect.
    ConfigError, PluginError
        As for `hybriddup.dedupe`.
    """
    check_session(posts.sparkSession)
    settings, manager = open_session(config, tuple(plugins))
    fields = Fields(text, id, listed(order_by), listed(per))
    if settings.of_runs_only:
        raise ConfigError(
            f"Spark cannot keep {', '.join(settings.of_runs_only)}; use hybriddup.dedupe, or leave these keys out."
        )
    fields.check(posts, settings.keep_rules)
    folder = work_folder(posts.sparkSession, work)
    good, bad = split_bad(posts, fields)
    learned = recipe or given_recipe(settings) or learn_some(good, fields, settings, manager.registry)
    maker = Maker.of(settings.to_dict(), tuple(plugins), learned, settings.recipe or "learned")
    run = SparkRun(posts.sparkSession, folder, maker, fields, settings, posts_per_round)
    with TaskCounter(posts.sparkSession.sparkContext) as tasks:

        def after_round(n: int) -> None:
            tasks.update()
            advance(n)

        result = run.dedupe(good, bad, learned, after_round)
        result.summary.n_tasks = tasks.update()
    result.summary.config = config if isinstance(config, str) else ""
    return result


def listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def check_session(session: SparkSession) -> None:
    """Check that the session has a context, which a run needs for task counts and its work directory.

    Raises
    ------
    InputError
        The session uses Spark Connect.
    """
    try:
        session.sparkContext  # noqa: B018  the look-up is the check
    except PySparkAttributeError as error:
        raise InputError(
            "posts: their session uses Spark Connect, which hybriddup does not support. Use a session of "
            "SparkSession.builder without remote(), on a cluster with spark-submit."
        ) from error


def work_folder(session: SparkSession, work: str | None) -> str:
    """Return the directory for intermediate results, which does not exist yet."""
    master = session.sparkContext.master or ""
    if work is None and not master.startswith("local"):
        raise InputError(
            "work: name a directory that all executors can reach, such as hdfs:///tmp/hybriddup or s3a://bucket/work; "
            f"Spark runs at {master}, which cannot reach a temporary directory of this machine."
        )
    return f"{temporary_folder() if work is None else work.rstrip('/')}/{uuid.uuid4().hex}"


def temporary_folder() -> str:
    """Create a directory on this machine for the results, which is deleted when this process ends."""
    folder = tempfile.mkdtemp(prefix="hybriddup-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def given_recipe(settings: Settings) -> LearnedRecipe | None:
    """Load the recipe that the configuration names as ``recipe:``, if any."""
    return None if settings.recipe is None else load_recipe(settings.recipe)


def learn_some(posts: DataFrame, fields: Fields, settings: Settings, registry: Registry) -> LearnedRecipe:
    """Learn a recipe from a sample of the posts, selected by hash: the same posts every time."""
    from hybriddup.data.frames import corpus_from_posts
    from hybriddup.run.pipeline import Run
    from hybriddup.run.progress import Clock

    n = posts.count()
    text = named(fields.text)
    share = max(n // SAMPLE_POSTS, 1)
    some = posts.filter(sf.pmod(sf.xxhash64(text), sf.lit(share)) == 0)
    per = "scope" if fields.per else None
    columns = {"text": text} | ({"scope": scope_of(posts, fields.per)} if per else {})
    some = some.select(*(column.alias(name) for name, column in columns.items())).sort(*columns)
    sampled = some.limit(4 * SAMPLE_POSTS).toArrow()
    corpus = corpus_from_posts(sampled, "text", "id", per=per)
    return Run(Components.create(settings, registry, 1), 1, Clock(), per).learn(corpus)


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
        self, good: DataFrame, bad: DataFrame, recipe: LearnedRecipe, advance: Callable[[int], None]
    ) -> SparkResult:
        """Decide all posts."""
        components = self.maker.components()
        in_turn, compared = in_order(good, self.fields, self.settings.keep_rules, self.maker)
        ordered = self.write(in_turn, "ordered")
        firsts, n = first_positions(ordered)
        scopes = [scope_of(ordered, self.fields.per).alias("scope")] if self.fields.per else []
        numbered = ordered.select(sf.col(NUMBER).alias("number"), named(self.fields.text).alias("text"), *scopes)
        prepared = self.write(mapped(numbered, preparer(self.maker, firsts), POSTS), "posts")
        drops = self.settings.without_text == "drop"
        n_without_text = prepared.filter(~sf.col("has_text")).count()
        posts = prepared.filter(sf.col("has_text")) if drops else prepared
        parts = Parts(even_parts(self.spark, self.n_parts(n)))
        moved = self.spark.sparkContext.accumulator(0)
        rounds = Rounds(
            self.spark, self.maker, self.folder, posts, parts, n,
            posts_per_round=self.posts_per_round, count_bytes=moved.add,
        )  # fmt: skip
        decided = rounds.decide_all(advance)
        removed = self.read_removed(decided)
        summary = self.summarize(decided, n, n_without_text, compared)
        summary.n_bad, summary.recipe_id, summary.n_bytes_moved = bad.count(), components.recipe_id(), moved.value
        summary.n_repeated_ids = self.n_repeated_ids(ordered)
        placed = ordered.withColumn(POSITION, position_of(firsts.tolist() or [0]))
        gone = removed.select(sf.col("position").alias(POSITION))
        kept = placed.join(gone, POSITION, "left_anti")
        if drops:
            kept = kept.join(posts.select(sf.col("position").alias(POSITION)), POSITION, "left_semi")
        with_evidence = removed_posts(placed, removed, self.fields, components)
        mark = partial(marked_posts, kept, placed, removed, self.fields)
        return SparkResult(kept.drop(POSITION, NUMBER), with_evidence, bad, summary, recipe, mark)

    def n_parts(self, n: int) -> int:
        """Return the number of parts for the keys of a corpus, so that the memory of a task does not depend on it."""
        return max(2 * self.spark.sparkContext.defaultParallelism, -(-n // POSTS_PER_PART))

    def n_repeated_ids(self, posts: DataFrame) -> int:
        """Return the number of posts whose id an earlier post has."""
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

    def summarize(
        self, decided: Decided, n: int, n_without_text: int, compared: Mapping[str, OrderColumn]
    ) -> SparkSummary:
        """Return the counts, and the comparison of text columns."""
        n_dropped = n_without_text if self.settings.without_text == "drop" else 0
        texts = {name: column for name, column in compared.items() if column.kind}
        return SparkSummary(
            n_read=n,
            n_without_text=n_without_text,
            n_exact=decided.exact,
            n_near=decided.near,
            n_kept=n - decided.exact - decided.near - n_dropped,
            n_linked_pairs=decided.pairs,
            n_decided_together=decided.together,
            n_rounds=decided.rounds,
            limits_hit={limit: count for limit, count in decided.limits.items() if count},
            compared_as={name: column.kind for name, column in texts.items()},
            n_without_value={name: column.n_without for name, column in texts.items()},
        )


def position_of(firsts: Sequence[int]) -> Column:
    """Return the expression for the position of a post, given the position of the first post of each partition."""
    partition, place = sf.shiftright(sf.col(NUMBER), 33), sf.col(NUMBER).bitwiseAND(sf.lit((1 << 33) - 1))
    return sf.array(*map(sf.lit, map(int, firsts)))[partition.cast("int")].cast("bigint") + place
