"""Plots of what `tests.benchmarks.peers` measured: SVG for light and dark pages, each line with its name beside it.

python -m tests.benchmarks.plot rate RESULTS.json [MORE ...] -o rate.svg
python -m tests.benchmarks.plot recall RESULTS.json [MORE ...] -o recall.svg

``rate``: posts a second against the number of posts, both logarithmic, a line a tool.
``recall``: recall against posts a second, a panel a corpus; nearer to the upper right is better.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from tests.benchmarks.measured import Measured, load_results
from tests.benchmarks.report import NAMES

INK = "#7b838d"
"""A gray that stands out from white and from black alike, as the colors below do."""
COLORS = {
    "hybriddup": "#e0561b",
    "rensa_rapidfuzz": "#2f86d1",
    "rensa": "#2a9d8f",
    "gaoya": "#a571d9",
    "datasketch": "#b8862b",
    "simhash3": "#d1568f",
    "simhash6": "#6f9a3c",
}
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hybriddup",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
}
LABEL_HEIGHT = 13.0
"""Points between the names of two lines."""
MIN_MISSED = 1e-4
"""Where recall is drawn that misses less: an exhaustive 1.0 would lie at infinity."""
GOOD_PRECISION = 0.995
ROOM_FOR_NAMES = 5
"""How much further than the fastest tool the axis of rates goes."""


class Label(NamedTuple):
    """The name of a line or point."""

    x: float
    y: float
    text: str
    color: str


def plot_rate(rows: Sequence[Measured], setting: str) -> Figure:
    """Return posts a second against the number of posts."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    labels = []
    for tool in tools_of(rows):
        points = sorted((row.n_posts, row.posts_per_s) for row in rows if row.tool == tool)
        sizes, rates = zip(*points, strict=True)
        axes.plot(sizes, rates, color=COLORS[tool], marker="o", markersize=4, linewidth=line_width(tool))
        labels.append(Label(sizes[-1], rates[-1], NAMES[tool], COLORS[tool]))
    axes.set(xscale="log", yscale="log", xlabel="posts", ylabel="posts a second")
    count_axis(axes, "x", sorted({row.n_posts for row in rows}))
    count_axis(axes, "y", steps_between([row.posts_per_s for row in rows]))
    write_labels(axes, labels)
    axes.set_title(f"Posts decided a second ({setting})", fontsize=10, loc="left")
    return figure


def plot_recall(rows: Sequence[Measured], setting: str) -> Figure:
    """Return recall against posts a second, a panel a corpus."""
    corpora = list(dict.fromkeys(row.corpus for row in rows))
    figure = Figure(figsize=(5.6 * len(corpora), 4.2), layout="constrained")
    for axes, corpus in zip(figure.subplots(1, len(corpora), squeeze=False)[0], corpora, strict=True):
        recall_panel(axes, corpus, [row for row in rows if row.corpus == corpus])
    figure.suptitle(f"Recall against rate ({setting})", fontsize=10, x=0.01, ha="left")
    return figure


def recall_panel(axes: Axes, corpus: str, rows: Sequence[Measured]) -> None:
    """Draw one corpus. Recall is drawn by the share that was missed, which falls tenfold from line to line."""
    labels = []
    for row in rows:
        color, height = COLORS[row.tool], nines(row.recall)
        axes.plot(row.posts_per_s, height, "o", color=color, markersize=9 if row.tool == "hybriddup" else 6)
        labels.append(Label(row.posts_per_s, height, name_with_precision(row), color))
    rates = [row.posts_per_s for row in rows]
    axes.set(xscale="log", xlabel="posts a second", ylabel="recall", ylim=(0, nines(1.0) + 0.5))
    count_axis(axes, "x", steps_between(rates))
    axes.set_xlim(min(rates) / 1.3, max(rates) * ROOM_FOR_NAMES)
    axes.set_yticks([nines(share) for share in (0.5, 0.9, 0.99, 0.999, 1.0)], [".5", ".9", ".99", ".999", ".9999+"])
    axes.set_title(f"{corpus} ({rows[0].n_posts:,})", fontsize=10, loc="left")
    write_labels(axes, labels)


def nines(recall: float) -> float:
    """Return how many nines a recall has: 1 for 0.9, 2 for 0.99."""
    return float(-np.log10(max(1 - recall, MIN_MISSED)))


def name_with_precision(row: Measured) -> str:
    """Return the name of a tool, with its precision where that is less than good."""
    name = NAMES[row.tool]
    if row.precision >= GOOD_PRECISION:
        return name
    return f"{name}, precision {row.precision:.2f}".replace("0.", ".")


def tools_of(rows: Sequence[Measured]) -> list[str]:
    """Return the tools, in the order of their first rows."""
    return list(dict.fromkeys(row.tool for row in rows))


def line_width(tool: str) -> float:
    """Return a wider line for hybriddup."""
    return 2.6 if tool == "hybriddup" else 1.6


def steps_between(values: Sequence[float]) -> list[float]:
    """Return the numbers 1, 2 and 5 times a power of ten around the values."""
    steps = [digit * 10.0**power for power in range(9) for digit in (1, 2, 5)]
    first = max((i for i, step in enumerate(steps) if step <= min(values)), default=0)
    last = next(i for i, step in enumerate(steps) if step >= max(values))
    return steps[first : last + 1]


def count_axis(axes: Axes, name: str, ticks: Sequence[float]) -> None:
    """Write the ticks of a logarithmic axis as 100k and 1M."""
    axis = axes.xaxis if name == "x" else axes.yaxis
    axis.set_ticks(list(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def short(count: float) -> str:
    """Return a count in few letters.

    Examples
    --------
    >>> [short(count) for count in (500, 50_000, 1_000_000)]
    ['500', '50k', '1M']
    """
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if count >= unit:
            return f"{count / unit:g}{letter}"
    return f"{count:g}"


def write_labels(axes: Axes, labels: Sequence[Label]) -> None:
    """Write each name to the right of its point, moved up where it would lie over another."""
    axes.figure.draw_without_rendering()
    taken = -np.inf
    for label in sorted(labels, key=lambda label: axes.transData.transform((label.x, label.y))[1]):
        # in points, 72 an inch, as text offsets are
        height = axes.transData.transform((label.x, label.y))[1] * 72 / axes.figure.dpi
        taken = max(height, taken + LABEL_HEIGHT)
        axes.annotate(
            label.text,
            (label.x, label.y),
            xytext=(8, taken - height),
            textcoords="offset points",
            color=label.color,
            va="center",
            annotation_clip=False,
        )


PLOTS: dict[str, Callable[[Sequence[Measured], str], Figure]] = {"rate": plot_rate, "recall": plot_recall}


def draw(which: str, results: Sequence[Path], output: Path) -> None:
    """Write a plot of the results; equal results give equal bytes."""
    with mpl.rc_context(STYLE):
        rows, setting = load_results(results)
        where = f"{setting['cores']} cores, {setting['processor']}, {setting['date']}"
        measured = [row for row in rows if row.failed is None]
        PLOTS[which](measured, where).savefig(output, transparent=True, metadata={"Date": None})


def main(arguments: list[str] | None = None) -> None:
    """Draw one plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=PLOTS)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    draw(chosen.which, chosen.results, chosen.output)


if __name__ == "__main__":
    main()
