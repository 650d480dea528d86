"""What was measured of each tool on each corpus, and the files that keep it with its setting."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.setting import setting


@dataclass
class Measured:
    """One tool on one corpus."""

    tool: str
    corpus: str
    n_posts: int
    seconds: list[float] = field(default_factory=list)
    """Of each round."""
    peak_mb: list[float] = field(default_factory=list)
    over_texts_mb: list[float] = field(default_factory=list)
    posts_per_s: float | None = None
    """Median over the rounds."""
    ratio: float | None = None
    """Median over the rounds of the rate over that of the baseline in the same round."""
    ratios: list[float] = field(default_factory=list)
    n_removed: int | None = None
    recall: float | None = None
    recall_interval: tuple[float, float] | None = None
    """95 %; None where the truth is exhaustive."""
    precision: float | None = None
    failed: str | None = None


def save_results(rows: Sequence[Measured], path: Path) -> None:
    """Write what was measured, with date, processor and versions, as JSON."""
    content = {**setting(), "results": [asdict(row) for row in rows]}
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


def load_results(paths: Sequence[Path]) -> tuple[list[Measured], dict[str, Any]]:
    """Return the rows of all files in order, and the setting of the last."""
    contents = [json.loads(path.read_text("utf-8")) for path in paths]
    return [Measured(**row) for content in contents for row in content.pop("results")], contents[-1]
