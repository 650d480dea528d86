"""A run on Spark, from posts as a data frame to those that are kept and removed."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pyspark.errors import PySparkAttributeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from hybriddup.config import open_session
from hybriddup.config.load import DEFAULT_CONFIG, Config
from hybriddup.config.settings import Settings
from hybriddup.data.records import Int32s
from hybriddup.errors import ConfigError, InputError
from hybriddup.plugin.registry import Registry
from hybriddup.run.components import Components
from hybriddup.run.recipe import LearnedRecipe, load_recipe
from hybriddup_spark.blocks import mapped
from hybriddup_spark.evidence import POSITION, removed_posts
from hybriddup_spark.fields import Fields, named
from hybriddup_spark.making import Maker
from hybriddup_spark.order_values import OrderColumn
from hybriddup_spark.ordering import NUMBER, first_positions, in_order, split_bad
from hybriddup_spark.picking import Parts
from hybriddup_spark.preparing import preparer
from hybriddup_spark.result import SparkResult, SparkSummary
from hybriddup_spark.rounds import POSTS_A_ROUND, Decided, Rounds
from hybriddup_spark.schemas import POSTS, REMOVED, in_spark
from hybriddup_spark.task_counter import TaskCounter

LEARNED_FROM = 50_000
"""Posts, about, from which a run learns that was given no recipe."""
POSTS_A_PART = 2**17
"""Of so many posts of the corpus, about, one task holds the keys at a time."""


def dedupe(
    posts: DataFrame,
    *,
    config: Config = DEFAULT_CONFIG,
    text: str = "text",
    id: str | None = "id",  # noqa: A002  (what users know it by)
    order_by: str | Sequence[str] = (),
    work: str | None = None,
    plugins: Iterable[str] = (),
    recipe: LearnedRecipe | None = None,
    posts_a_round: int = POSTS_A_ROUND,
    advance: Callable[[int], None] = lambda _: None,
) -> SparkResult:
    """Return which posts stay and which repeat an earlier one that stays, as `hybriddup.dedupe` decides it.

    Parameters
    ----------
    posts
        With a column of texts; those with null are counted as bad records.
    config
        As for `hybriddup.dedupe`.
    text, id
        Columns. ``id`` only orders posts of one moment and names keepers; None = there is none.
    order_by
        Columns by which posts are in order; of two that are equal in all of these, the smaller id is earlier. None
        given = the posts come in order. Text is compared as numbers if some of it is, as times if most of it is, and
        alphabetically otherwise, as by ``keep: {highest: FIELD}``; posts without such a value come last.
    work
        The URL of a directory that all executors reach, for what is decided meanwhile; None = a temporary one, where
        Spark runs on one machine.
    plugins
        Modules to load as plugins, by name; executors must have them, too.
    recipe
        What was learned before. None = what the configuration names as ``recipe:``, or it is learned from some 50,000
        posts spread over all.
    posts_a_round
        The driver keeps some 500 bytes of each of so many posts at a time; fewer take more rounds.
    advance
        Told after each round how many posts are decided.

    Raises
    ------
    InputError
        Columns that are missing, hold something else, or have names that cannot be used, all in one error; no work
        directory; a session through Spark Connect.
    ConfigError, PluginError
        As for `hybriddup.dedupe`.
    """
    check_session(posts.sparkSession)
    settings, manager = open_session(config, tuple(plugins))
    fields = Fields(text, id, (order_by,) if isinstance(order_by, str) else tuple(order_by))
    if settings.of_runs_only:
        raise ConfigError(
            f"Spark cannot keep {', '.join(settings.of_runs_only)}; use hybriddup.dedupe, or leave these keys out."
        )
    fields.check(posts, settings.keep_rules)
    folder = work_folder(posts.sparkSession, work)
    good, bad = split_bad(posts, fields)
    learned = recipe or given_recipe(settings) or learn_some(good, fields, settings, manager.registry)
    maker = Maker.of(settings.to_dict(), tuple(plugins), learned, settings.recipe or "learned")
    run = SparkRun(posts.sparkSession, folder, maker, fields, settings, posts_a_round)
    with TaskCounter(posts.sparkSession.sparkContext) as tasks:

        def after_round(n: int) -> None:
            tasks.update()
            advance(n)

        result = run.dedupe(good, bad, learned, after_round)
        result.summary.n_tasks = tasks.update()
    result.summary.config = config if isinstance(config, str) else ""
    return result


def check_session(session: SparkSession) -> None:
    """Refuse a session without a context, which a run needs for its task counts and its work directory.

    Raises
    ------
    InputError
        The session goes through Spark Connect.
    """
    try:
        session.sparkContext  # noqa: B018  the look-up is the check
    except PySparkAttributeError as error:
        raise InputError(
            "posts: their session goes through Spark Connect, in which hybriddup cannot run. Use a session of "
            "SparkSession.builder without remote(), on a cluster by spark-submit."
        ) from error


def work_folder(session: SparkSession, work: str | None) -> str:
    """Return where what is decided meanwhile goes, a directory that is not there yet."""
    master = session.sparkContext.master or ""
    if work is None and not master.startswith("local"):
        raise InputError(
            "work: name a directory that all executors reach, such as hdfs:///tmp/hybriddup or s3a://bucket/work; "
            f"Spark runs at {master}, where a temporary directory of this machine does not do."
        )
    return f"{temporary_folder() if work is None else work.rstrip('/')}/{uuid.uuid4().hex}"


def temporary_folder() -> str:
    """Return a new directory of this machine; results are read from it until this process ends, and then it goes."""
    folder = tempfile.mkdtemp(prefix="hybriddup-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def given_recipe(settings: Settings) -> LearnedRecipe | None:
    """Return what the configuration names as ``recipe:``."""
    return None if settings.recipe is None else load_recipe(settings.recipe)


def learn_some(posts: DataFrame, fields: Fields, settings: Settings, registry: Registry) -> LearnedRecipe:
    """Return what the components learn from some of the posts, spread over all: the same ones every time."""
    from hybriddup.data.frames import corpus_from_posts
    from hybriddup.run.pipeline import Run
    from hybriddup.run.progress import Clock

    n = posts.count()
    text = named(fields.text)
    share = max(n // LEARNED_FROM, 1)
    some = posts.filter(sf.pmod(sf.xxhash64(text), sf.lit(share)) == 0).select(text.alias("text")).sort("text")
    sampled = some.limit(4 * LEARNED_FROM).toArrow().column("text").to_pylist()
    corpus = corpus_from_posts(sampled, "text", "id")
    return Run(Components.create(settings, registry, 1), 1, Clock()).learn(corpus)


@dataclass(frozen=True)
class SparkRun:
    """One run."""

    spark: SparkSession
    folder: str
    maker: Maker
    fields: Fields
    settings: Settings
    posts_a_round: int = POSTS_A_ROUND

    def dedupe(
        self, good: DataFrame, bad: DataFrame, recipe: LearnedRecipe, advance: Callable[[int], None]
    ) -> SparkResult:
        """Return what is decided of posts."""
        components = self.maker.components()
        in_turn, compared = in_order(good, self.fields, self.settings.keep_rules, self.maker)
        ordered = self.write(in_turn, "ordered")
        firsts, n = first_positions(ordered)
        numbered = ordered.select(sf.col(NUMBER).alias("number"), named(self.fields.text).alias("text"))
        prepared = self.write(mapped(numbered, preparer(self.maker, firsts), POSTS), "posts")
        drops = self.settings.without_text == "drop"
        n_without_text = prepared.filter(~sf.col("has_text")).count()
        posts = prepared.filter(sf.col("has_text")) if drops else prepared
        parts = Parts(even_parts(self.spark, self.n_parts(n)))
        moved = self.spark.sparkContext.accumulator(0)
        rounds = Rounds(
            self.spark, self.maker, self.folder, posts, parts, n,
            posts_a_round=self.posts_a_round, count_bytes=moved.add,
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
        return SparkResult(kept.drop(POSITION, NUMBER), with_evidence, bad, summary, recipe)

    def n_parts(self, n: int) -> int:
        """Return how many parts the keys of a corpus are dealt to, so that what a task holds does not grow with it."""
        return max(2 * self.spark.sparkContext.defaultParallelism, -(-n // POSTS_A_PART))

    def n_repeated_ids(self, posts: DataFrame) -> int:
        """Return how many posts have an id that another one has, too, but for one of each id."""
        if self.fields.id is None:
            return 0
        counts = posts.groupBy(named(self.fields.id).alias("id")).agg(sf.count("*").alias("n")).filter("n > 1")
        (found,) = counts.agg(sf.sum(sf.col("n") - 1).alias("n")).collect()
        return found["n"] or 0

    def write(self, frame: DataFrame, name: str) -> DataFrame:
        """Write a table to the work directory, and return it as it is read from there."""
        frame.write.mode("overwrite").parquet(f"{self.folder}/{name}")
        return self.spark.read.schema(frame.schema).parquet(f"{self.folder}/{name}")

    def read_removed(self, decided: Decided) -> DataFrame:
        """Return what all rounds have removed."""
        if not decided.rounds:
            return self.spark.createDataFrame([], in_spark(REMOVED))
        paths = [f"{self.folder}/removed/round={number}" for number in range(decided.rounds)]
        return self.spark.read.schema(in_spark(REMOVED)).parquet(*paths)

    def summarize(
        self, decided: Decided, n: int, n_without_text: int, compared: Mapping[str, OrderColumn]
    ) -> SparkSummary:
        """Return the counts, and how columns of text were compared."""
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
    """Return the position of a post as an expression, given the position of the first post of each partition."""
    partition, place = sf.shiftright(sf.col(NUMBER), 33), sf.col(NUMBER).bitwiseAND(sf.lit((1 << 33) - 1))
    return sf.array(*map(sf.lit, map(int, firsts)))[partition.cast("int")].cast("bigint") + place


def even_parts(session: SparkSession, n: int) -> Int32s:
    """Return int32[n]: numbers that Spark's hash deals to ``n`` tasks, one to each."""
    values = session.range(64 * n + 1024).select(sf.col("id").cast("int").alias("value"))
    dealt = values.select("value", sf.pmod(sf.hash("value"), sf.lit(n)).alias("task")).groupBy("task").min("value")
    found = dealt.toArrow()
    return np.sort(found.column("min(value)").to_numpy().astype(np.int32))
