"""Charts as SVG, drawn by pygal and styled by the page around them, so that they follow its light and dark colors."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pygal
from numpy.typing import NDArray

# pygal leaves a finder of its map plugins behind: Python 3.11 warns of it, and later ones cannot ask it
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "pygal"]

WIDTH, HEIGHT, FONT = 480, 250, 12
MOST_BINS = 50
LABEL_ROOM = 54
"""Characters that fit side by side under a chart."""
LINE_SHARE = 0.004
"""Width of the line of a limit, as a share of the axis."""


class Svg(str):
    """An SVG element; templates with autoescape take it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def stacked_bars(labels: Sequence[str], series: Mapping[str, Sequence[int]]) -> Svg:
    """Return a bar for each label, made of the numbers of all series, by the names of their colors."""
    every = -(-sum(map(len, labels)) // LABEL_ROOM)
    chart = _chart(pygal.StackedBar, x_labels=labels, x_labels_major_every=max(every, 1), show_minor_x_labels=False)
    for name, numbers in series.items():
        chart.add(name, list(numbers))
    return _svg(chart, list(series))


def histogram(series: Mapping[str, NDArray[Any]], lines: Mapping[str, Sequence[float]], bin_width: float) -> Svg:
    """Return how many values of each series fall into bins, with lines at some values, by the names of their colors.

    The bins begin at multiples of ``bin_width``, and are made wider where there would be more than fifty. A width of 1
    is for whole numbers: each stands in the middle of its bar, and lines behind it.
    """
    shift = 0.5 if bin_width == 1 else 0.0
    values = np.concatenate([*series.values(), *map(np.asarray, lines.values())])
    first = np.floor(np.round(values.min() / bin_width, 6))
    last = max(first + 1, np.ceil(np.round(values.max() / bin_width + shift, 6)))
    step = max(1, int(-(-(last - first) // MOST_BINS)))
    edges = np.round((first + step * np.arange(-(-(last - first) // step) + 1)) * bin_width - shift, 9)
    counts = {name: np.histogram(np.round(of, 9), edges)[0] for name, of in series.items()}
    top = max(1, *(int(count.max(initial=0)) for count in counts.values()))
    half = LINE_SHARE / 2 * (edges[-1] - edges[0])
    chart = _chart(pygal.Histogram, range=(0, top), x_value_formatter=lambda value: f"{value:g}")
    for name, count in counts.items():
        bars = zip(count.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        chart.add(
            name, [bar for bar in bars if bar[0]], formatter=lambda bar: f"{_range(bar[1], bar[2], shift)}: {bar[0]:,}"
        )
    for name, places in lines.items():
        marks = [
            {"value": (top, at + shift - half, at + shift + half), "formatter": lambda _, at=at: f"{at:g}"}
            for at in places
        ]
        chart.add(name, marks)
    return _svg(chart, [*series, *lines])


def _range(first: float, end: float, shift: float) -> str:
    """Return the values of a bin, which ends before the next one begins."""
    first, last = first + shift, end - shift
    return f"{first:g}" if first == last else f"{first:g} to {last:g}"


def _chart(kind: Any, **options: Any) -> Any:
    font = pygal.style.Style(label_font_size=FONT, major_label_font_size=FONT, legend_font_size=FONT)
    return kind(
        css=(), js=(), style=font, width=WIDTH, height=HEIGHT, margin=4, spacing=6,
        legend_at_bottom=True, legend_box_size=FONT, truncate_legend=-1, truncate_label=-1,
        y_labels_major_every=2, show_minor_y_labels=False, value_formatter=lambda value: f"{value:,.0f}", **options,
    )  # fmt: skip


def _svg(chart: Any, colors: Sequence[str]) -> Svg:
    """Return a chart without scripts, styles, and the date of its drawing; values are tooltips of the browser."""
    chart.legend_at_bottom_columns = min(3, len(colors))
    root = chart.render_tree()
    root.set("role", "img")
    for parent in list(root.iter()):
        parent.attrib.pop("id", None)
        for child in list(parent):
            kind = child.get("class", "")
            if child.tag == "desc" and kind == "value":
                child.tag = "title"
            elif not isinstance(child.tag, str) or child.tag in {"defs", "desc", "title"} or "overlay" in kind:
                parent.remove(child)
        for number, color in enumerate(colors):
            if f"color-{number}" in (own := parent.get("class", "")).split():
                parent.set("class", f"{own} {color.replace(' ', '-')}")
    return Svg(ElementTree.tostring(root, encoding="unicode"))
