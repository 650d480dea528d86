"""Plots of what `tests.benchmarks.peers` measured, as SVG for light and dark pages.

python -m tests.benchmarks.plot rate RESULTS.json [MORE ...] -o rate.svg
python -m tests.benchmarks.plot recall RESULTS.json [MORE ...] -o recall.svg

``rate``: posts a second against the number of posts, both logarithmic, a line a tool.
``recall``: recall against posts a second, a panel a corpus; nearer to the upper right is better.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from tests.benchmarks.peers import NAMES, Measured

INK = "#7b838d"
"""A gray that stands out from white and from black alike."""
STYLE: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "hybriddup", "lines.marker": "o"}
STYLE |= dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], INK)
MIN_MISSED = 1e-4
"""Where recall is drawn that misses less: an exhaustive 1.0 would lie at infinity."""


def plot_rate(rows: list[Measured]) -> Figure:
    """Return posts a second against the number of posts."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    for tool in dict.fromkeys(row.tool for row in rows):
        points = sorted((row.n_posts, row.posts_per_s) for row in rows if row.tool == tool)
        axes.loglog(*zip(*points, strict=True), label=NAMES[tool])
    axes.set(xlabel="posts", ylabel="posts a second")
    axes.legend(frameon=False)
    return figure


def plot_recall(rows: list[Measured]) -> Figure:
    """Return recall against posts a second, drawn by the share that was missed, which falls tenfold a line."""
    corpora = list(dict.fromkeys(row.corpus for row in rows))
    figure = Figure(figsize=(5.6 * len(corpora), 4.2), layout="constrained")
    for axes, corpus in zip(figure.subplots(1, len(corpora), squeeze=False)[0], corpora, strict=True):
        for row in rows:
            if row.corpus == corpus and row.recall is not None:
                label = f"{NAMES[row.tool]}, precision {row.precision:.2f}"
                axes.loglog(row.posts_per_s, max(1 - row.recall, MIN_MISSED), label=label, linestyle="")
        shares = (0.5, 0.9, 0.99, 0.999, 0.9999)
        axes.set_yticks([1 - share for share in shares], [f"{share}" for share in shares])
        axes.set(xlabel="posts a second", ylabel="recall", ylim=(1, MIN_MISSED / 2), title=corpus)
        axes.legend(frameon=False)
    return figure


PLOTS = {"rate": plot_rate, "recall": plot_recall}


def main(arguments: list[str] | None = None) -> None:
    """Draw one plot; equal results give equal bytes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=PLOTS)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    contents = [json.loads(path.read_text("utf-8")) for path in chosen.results]
    rows = [Measured(**row) for content in contents for row in content["results"] if row["failed"] is None]
    with mpl.rc_context(STYLE):
        figure = PLOTS[chosen.which](rows)
        last = contents[-1]
        figure.suptitle(f"{last['cores']} cores, {last['processor']}, {last['date']}", fontsize=10)
        figure.savefig(chosen.output, transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
