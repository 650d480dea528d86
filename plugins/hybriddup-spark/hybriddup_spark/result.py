"""The result of a run on Spark: data frames and counts, and writing them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from pyspark.sql import DataFrame

from hybriddup.run.recipe import LearnedRecipe
from hybriddup.run.result import Result

OUTPUTS = "kept", "marked", "removed", "bad", "summary"
"""Directories that `SparkResult.write` creates."""


@dataclass
class SparkSummary:
    """Counts of a run."""

    n_read: int = 0
    n_bad: int = 0
    """Records without a text, and lines that Spark could not read."""
    n_without_text: int = 0
    """Posts without text after normalizing; with ``without_text: drop`` they are neither kept nor removed."""
    n_exact: int = 0
    n_near: int = 0
    n_kept: int = 0
    n_against: int = 0
    """Other posts that the posts were compared with; they are in no other count of posts."""
    n_removed_against: int = 0
    """Removed posts that repeat one of the other posts."""
    estimated_stage1_recall: float | None = None
    estimated_stage1_recall_margin: float | None = None
    """Estimated share of the posts with an earlier kept match that were found, and half the width of its 95 % interval,
    as in `hybriddup.Summary`; None if ``audit: {sample: 0}``, or if there was nothing to sample."""
    n_linked_pairs: int = 0
    """Verified pairs that match, plus all pairs of texts with too many candidates."""
    n_decided_together: int = 0
    """Posts that depended on the posts kept just before them and were decided in sequence."""
    n_repeated_ids: int = 0
    """Posts with the id of an earlier post; all are decided, but their ids do not identify them."""
    n_rounds: int = 0
    n_tasks: int | None = 0
    """Spark tasks, repeated ones included; None through Spark Connect, which hides them."""
    n_bytes_moved: int | None = 0
    """Bytes that tasks moved to other tasks during the rounds, before compression; None through Spark Connect. Repeated
    transfers of Spark before 4.1 are not counted."""
    limits_hit: dict[str, int] = field(default_factory=dict)
    """Number of times that each limit excluded something; ``max_bucket_size`` counts look-ups of keys that were crowded
    before the round."""
    compared_as: dict[str, str] = field(default_factory=dict)
    """Comparison of each text column of the order: ``numbers``, ``times`` or ``text``."""
    n_without_value: dict[str, int] = field(default_factory=dict)
    """Number of posts without such a value, for each text column of the order; they come last."""
    config: str = ""
    recipe_id: str = ""


@dataclass(frozen=True)
class SparkResult:
    """The decisions of a run. The data frames read files of the work directory: keep it while you use them."""

    kept: DataFrame
    """Kept posts with all their columns, in no particular order."""
    removed: DataFrame
    """Removed posts with all their columns, and ``duplicate_of``, ``keeper_text``, ``reason``, ``hamming_distance``,
    ``verifier``, ``score``, ``threshold``, ``length_band``, and ``keeper_source`` ("against" or null) if there were
    other posts. A column of the posts with one of these names, in any case,
    has the prefix ``post_``."""
    bad: DataFrame
    """Records without a text, and lines that Spark could not read."""
    summary: SparkSummary
    recipe: LearnedRecipe
    """Recipe of the run: with it, a run on one machine removes the same posts for the same keepers."""
    mark: Callable[[], DataFrame]
    """Returns all posts with the columns ``duplicate_of`` (id of the keeper), ``score`` and ``cluster`` (a number for
    posts that belong together), as ``hybriddup dedupe --mark`` adds them; null if there is none."""
    sample: Callable[[int], Result]
    """``sample(n)`` returns the decisions on about ``n`` posts as a run on one machine returns them, with a report and
    near misses: some kept posts, and all posts that were removed for them. Rows are positions in the decision order;
    there are at most four times ``n`` posts."""

    def write(self, output: str, *, mark: bool = False) -> None:
        """Write ``kept``, ``removed``, ``bad`` as Parquet, and ``summary`` as JSON, to directories below a URL.

        With ``mark``, the posts of `mark` are written to ``marked`` instead of ``kept``.

        Raises
        ------
        pyspark.errors.AnalysisException
            One of the directories exists already.
        """
        frames = {"marked": self.mark()} if mark else {"kept": self.kept}
        for name, frame in (*frames.items(), ("removed", self.removed), ("bad", self.bad)):
            frame.write.parquet(f"{output}/{name}")
        text = json.dumps(asdict(self.summary), ensure_ascii=False)
        session = self.kept.sparkSession
        session.createDataFrame([(text,)], "value string").coalesce(1).write.text(f"{output}/{OUTPUTS[-1]}")
