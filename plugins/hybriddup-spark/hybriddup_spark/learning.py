"""The recipe of a run: given, or learned from a sample of the posts."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from hybriddup.config.settings import Settings
from hybriddup.plugin.registry import Registry
from hybriddup.run.components import Components
from hybriddup.run.recipe import LearnedRecipe, load_recipe
from hybriddup_spark.divided import united
from hybriddup_spark.fields import Fields, named
from hybriddup_spark.order_values import scope_of

SAMPLE_POSTS = 50_000
"""Approximate sample size for learning without a recipe, in posts."""


def given_recipe(settings: Settings) -> LearnedRecipe | None:
    """Load the recipe that the configuration names as ``recipe:``, if any."""
    return None if settings.recipe is None else load_recipe(settings.recipe)


def learn_some(frames: Sequence[DataFrame], fields: Fields, settings: Settings, registry: Registry) -> LearnedRecipe:
    """Learn a recipe from a sample of the posts, selected by hash: the same posts every time."""
    from hybriddup.data.frames import corpus_from_posts
    from hybriddup.run.pipeline import Run
    from hybriddup.run.progress import Clock

    per = "scope" if fields.per else None

    def columns_of(frame: DataFrame) -> DataFrame:
        scope = [scope_of(frame, fields.per).alias("scope")] if per else []
        return frame.select(named(fields.text).alias("text"), *scope)

    posts = united(map(columns_of, frames))
    share = max(posts.count() // SAMPLE_POSTS, 1)
    some = posts.filter(sf.pmod(sf.xxhash64("text"), sf.lit(share)) == 0).sort(*posts.columns)
    corpus = corpus_from_posts(some.limit(4 * SAMPLE_POSTS).toArrow(), "text", "id", per=per)
    return Run(Components.create(settings, registry, 1), 1, Clock(), per).learn(corpus)
