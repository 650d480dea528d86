"""The report as one self-contained HTML file, with the same bytes for the same run."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from math import floor
from pathlib import Path
from typing import Any

import yaml

from hybriddup.errors import HybriddupError
from hybriddup.run.near_misses import MOST_POSTS
from hybriddup.run.report.charts import Chart, histogram, stacked_bars
from hybriddup.run.report.contents import Contents
from hybriddup.run.report.differences import shortened

FOLDER = Path(__file__).parent
SCORES_A_BIN = 0.02


def check_installed() -> None:
    """Raise HybriddupError if the package that a report needs is missing."""
    if find_spec("jinja2") is None:
        raise HybriddupError("a report needs jinja2, which is not installed; run: pip install 'hybriddup[report]'")


def render(contents: Contents) -> bytes:
    """Return the report as HTML in UTF-8."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = (FOLDER / "report.js").read_text("utf-8")
    page = environment.get_template("report.html").render(
        contents=contents,
        most_posts=MOST_POSTS,
        shortened=shortened,
        shown_score=shown_score,
        place=place,
        charts=list(charts_of(contents)),
        settings=yaml.safe_dump(contents.settings.to_dict(), sort_keys=False, allow_unicode=True),
        style=(FOLDER / "report.css").read_text("utf-8"),
        script=script,
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return page.encode("utf-8", "xmlcharrefreplace")  # for lone surrogates, which browsers show as unknown characters


def place(row: int, own_id: Any) -> str:
    """Describe a post by its row, and also by its id if the id is not the row."""
    return f"row {row}" if str(own_id) == str(row) else f"row {row}, id {shortened(str(own_id))}"


def shown_score(score: float) -> str:
    """Return a score with four decimals, rounded down, so that a score below a threshold never looks equal to it.

    Examples
    --------
    >>> shown_score(0.49999), shown_score(0.57)
    ('0.4999', '0.5700')
    """
    return f"{floor(1e4 * score + 1e-6) / 1e4:.4f}"


def charts_of(contents: Contents) -> Iterator[tuple[str, str, Chart]]:
    """Yield the title, a description and the chart, for each chart that has data."""
    if len(contents.removed):
        hint = "Characters of the removed posts; each bar is about a tenth of them."
        yield "Removed posts by length", hint, stacked_bars(*contents.by_length())
    if (days := contents.by_day()) is not None:
        without = f" Posts without a time: {days.n_without:,}." if days.n_without else ""
        hint = f"By the {days.unit} in which they were made.{without}"
        yield f"Posts by {days.unit}", hint, stacked_bars(days.names, days.counts)
    pairs, misses = contents.removed.columns, contents.misses.judged.pairs
    if not len(contents.near) and not len(misses):
        return
    yield (
        "Scores",
        "Pairs of near repeats with their keepers, and kept pairs just under the threshold.",
        histogram(
            {"near repeats": contents.near_scores, "near misses": misses.scores},
            {"threshold": contents.thresholds},
            SCORES_A_BIN,
        ),
    )
    yield (
        "Distances",
        "Bits in which the fingerprints of the same pairs differ; pairs beyond the limit are not compared.",
        histogram(
            {"near repeats": pairs.hamming_distances[contents.near], "near misses": misses.hamming_distances},
            {"limit": contents.distance_limits},
            1,
        ),
    )
