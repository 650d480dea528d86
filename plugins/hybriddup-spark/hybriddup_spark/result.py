"""The result of a run on Spark: data frames, counts, and how they are written."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from pyspark.sql import DataFrame

from hybriddup.run.recipe import LearnedRecipe

OUTPUTS = "kept", "removed", "bad", "summary"
"""Directories that `SparkResult.write` makes."""


@dataclass
class SparkSummary:
    """Counts of a run."""

    n_read: int = 0
    n_bad: int = 0
    """Records without a text, and lines that Spark could not read."""
    n_without_text: int = 0
    """Posts of which no text is left after normalizing; by ``without_text: drop`` they are neither kept nor removed."""
    n_exact: int = 0
    n_near: int = 0
    n_kept: int = 0
    n_linked_pairs: int = 0
    """Pairs that were verified and match, and all pairs of texts with too many candidates."""
    n_decided_together: int = 0
    """Posts that depended on what was kept just before them, and were decided one after another."""
    n_repeated_ids: int = 0
    """Posts whose id another one has, too, but for one of each id; all are decided, but ids do not tell them apart."""
    n_rounds: int = 0
    n_tasks: int = 0
    """Tasks of Spark, those that were done again included."""
    n_bytes_moved: int = 0
    """Bytes that went from tasks to others while rounds were decided, before Spark compresses them. What Spark before
    4.1 moves again does not count."""
    limits_hit: dict[str, int] = field(default_factory=dict)
    """How often a limit left something out; ``max_bucket_size`` counts looks at keys that were crowded before the
    round."""
    compared_as: dict[str, str] = field(default_factory=dict)
    """How posts are compared in columns of text that order them: as ``numbers``, ``times`` or ``text``."""
    n_without_value: dict[str, int] = field(default_factory=dict)
    """Posts that have no such value in these columns; they come last."""
    config: str = ""
    recipe_id: str = ""


@dataclass(frozen=True)
class SparkResult:
    """What a run decided. The data frames read files of the work directory, which must stay while they are used."""

    kept: DataFrame
    """The posts that stay, with all of their columns, in no order."""
    removed: DataFrame
    """The posts that go, with all of their columns, and ``duplicate_of``, ``keeper_text``, ``reason``,
    ``hamming_distance``, ``verifier``, ``score``, ``threshold``, ``length_band``. A column of the posts that has one of
    these names, in whatever case, is there with ``post_`` before its name."""
    bad: DataFrame
    """Records without a text, and lines that Spark could not read."""
    summary: SparkSummary
    recipe: LearnedRecipe
    """What was learned, or was given: with it, a run on one machine removes the same posts for the same keepers."""

    def write(self, output: str) -> None:
        """Write ``kept``, ``removed``, ``bad`` as Parquet, and ``summary`` as JSON, to directories below a URL.

        Raises
        ------
        pyspark.errors.AnalysisException
            One of them is there already.
        """
        for name in OUTPUTS[:-1]:
            getattr(self, name).write.parquet(f"{output}/{name}")
        text = json.dumps(asdict(self.summary), ensure_ascii=False)
        session = self.kept.sparkSession
        session.createDataFrame([(text,)], "value string").coalesce(1).write.text(f"{output}/{OUTPUTS[-1]}")
