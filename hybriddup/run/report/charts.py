"""Computes the bars, limits and ticks of charts, in SVG units; the template chart.svg draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 400, 215
TOP, RIGHT, BOTTOM = 8, 8, 24
"""Margins around the bars, in SVG units; the bottom margin has the labels of the x axis."""
CHARACTER = 8
"""Width of a character in a label, in SVG units; measured on phones, where labels are larger."""
X_TICKS, Y_TICKS = 6, 5
"""Maximum number of ticks on each axis, in addition to the tick at zero."""
MOST_BINS = 50
WIDEST_BAR = 70
NUMBER_GAP = 3
LEAST_HEIGHT = 1.5
"""Minimum height of a bar, in SVG units, so that the bar can be seen."""
LINE_WIDTH = 1.5
MOST_LINEAR = 50
"""Maximum ratio of the highest to the lowest bar of a histogram with a linear y axis; above it, the axis is
logarithmic."""


class Mark(NamedTuple):
    """A rectangle in a chart: a bar, or the line that shows a limit."""

    x: float
    y: float
    width: float
    height: float
    label: str
    """Range and value, such as ``0.98 to 1: 4,899 near repeats``."""


class Series(NamedTuple):
    """The bars, or the lines at limits, that have one color in a chart."""

    name: str
    """Name of the series, which also selects the color of its bars or lines."""
    total: str
    """For bars, the sum of their values; for lines, the list of limits; as text."""
    marks: list[Mark]


class Tick(NamedTuple):
    """A labeled position on an axis."""

    at: float
    label: str


class Number(NamedTuple):
    """The value of a bar, as a text above the bar."""

    x: float
    y: float
    label: str


class Chart(NamedTuple):
    """A bar chart; its y axis begins at zero."""

    series: list[Series]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    left: float
    """x coordinate at which the bars begin; the labels of the y axis are left of it."""
    unit: float
    """Height of a bar with the value 1, in SVG units."""
    numbers: list[Number]
    is_log: bool = False
    """Whether the y axis is logarithmic: ten times the value adds one ``unit`` of height."""
    width: int = WIDTH
    height: int = HEIGHT
    right: float = WIDTH - RIGHT
    bottom: float = HEIGHT - BOTTOM


def stacked_bars(labels: Sequence[str], series: Mapping[str, Sequence[int]]) -> Chart:
    """Return a chart with one stacked bar per label; ``series`` maps names of series to one number per label."""
    chart = _chart(int(np.sum(list(series.values()), axis=0).max()))
    room = (chart.right - chart.left) / len(labels)
    width = min(0.88 * room, WIDEST_BAR)
    centers = chart.left + room * (np.arange(len(labels)) + 0.5)
    below = np.zeros(len(labels), np.int64)
    for name, numbers in series.items():
        bars = zip(labels, (centers - width / 2).tolist(), below.tolist(), numbers, strict=True)
        marks = [_bar(chart, x, width, start, n, f"{label}: {n:,} {name}") for label, x, start, n in bars if n]
        chart.series.append(Series(name, f"{sum(numbers):,}", marks))
        below += numbers
    short = [shortened_number(n) for n in below.tolist()]
    if max(map(len, short)) * (CHARACTER - 1) <= room:
        tops = (chart.bottom - chart.unit * below - NUMBER_GAP).tolist()
        chart.numbers.extend(Number(*one) for one in zip(centers.tolist(), tops, short, strict=True) if one[2] != "0")
    every = ceil((max(map(len, labels)) + 2) * CHARACTER / room)
    chart.x_ticks.extend(map(Tick, centers[::every].tolist(), labels[::every]))
    return chart


def histogram(series: Mapping[str, NDArray[Any]], limits: Mapping[str, Sequence[float]], bin_width: float) -> Chart:
    """Return a histogram with a line at each limit; the keys are the names of series and limits.

    Bins begin at multiples of ``bin_width``, and are wider if there would be more than fifty. A width of 1 is for whole
    numbers: a bar is centered on its number, and the line of a limit is at the right edge of the limit's bar.
    """
    shift = 0.5 if bin_width == 1 else 0.0
    edges = _edges(np.concatenate([*series.values(), *map(np.asarray, limits.values())]), bin_width, shift)
    counts = {name: np.histogram(np.round(values, 9), edges)[0].tolist() for name, values in series.items()}
    every = [n for numbers in counts.values() for n in numbers if n]
    chart = _chart(max(every), is_log=max(every) > MOST_LINEAR * min(every))
    scale = (chart.right - chart.left) / (edges[-1] - edges[0])
    xs = (chart.left + scale * (edges - edges[0])).tolist()
    for name, numbers in counts.items():
        bars = zip(numbers, xs[:-1], np.diff(xs).tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        marks = [
            _bar(chart, x, width, 0, n, f"{_range(first, end, shift)}: {n:,} {name}")
            for n, x, width, first, end in bars
            if n
        ]
        chart.series.append(Series(name, f"{sum(numbers):,}", marks))
    for name, values in limits.items():
        places = [chart.left + scale * (value + shift - edges[0]) - LINE_WIDTH / 2 for value in values]
        marks = [_line(chart, float(x), f"{name} {value:g}") for x, value in zip(places, values, strict=True)]
        chart.series.append(Series(name, ", ".join(f"{value:g}" for value in values), marks))
    values = _multiples(edges[0], edges[-1], max(_step(edges[-1] - edges[0], X_TICKS), 2 * shift))
    chart.x_ticks.extend(Tick(float(chart.left + scale * (value - edges[0])), f"{value:g}") for value in values)
    return chart


def _edges(values: NDArray[Any], bin_width: float, shift: float) -> NDArray[np.float64]:
    """Return float64[n_bins + 1]: the edges of the bins for ``values``, ``shift`` below multiples of ``bin_width``."""
    first = np.floor(np.round(values.min() / bin_width, 6))
    last = max(first + 1, np.ceil(np.round(values.max() / bin_width + shift, 6)))
    step = max(1, ceil((last - first) / MOST_BINS))
    return np.asarray(np.round((first + step * np.arange(ceil((last - first) / step) + 1)) * bin_width - shift, 9))


def _range(first: float, end: float, shift: float) -> str:
    """Return the smallest and largest value of a bin as text.

    ``first`` and ``end`` are the edges of the bin; the values in it are at least ``shift`` away from both edges.
    """
    first, last = first + shift, end - shift
    return f"{first:g}" if first == last else f"{first:g} to {last:g}"


def _chart(most: int, *, is_log: bool = False) -> Chart:
    """Return a chart without marks, with a y axis from 0 to at least ``most``.

    On a logarithmic axis, 1 is one unit above 0, and each power of 10 adds one unit.
    """
    step = max(1, round(_step(most, Y_TICKS)))
    numbers: Sequence[int] = range(0, step * max(1, ceil(most / step)) + 1, step)
    if is_log:
        numbers = [0, *(10**power for power in range(ceil(log10(most)) + 1))]
    heights = range(len(numbers)) if is_log else numbers
    unit = (HEIGHT - BOTTOM - TOP) / heights[-1]
    places = zip(heights, numbers, strict=True)
    ticks = [Tick(HEIGHT - BOTTOM - unit * height, f"{number:,}") for height, number in places]
    return Chart([], [], ticks, CHARACTER * (1 + len(ticks[-1].label)), unit, [], is_log)


def shortened_number(n: int) -> str:
    """Return a number as short text: up to four characters if it is less than a million.

    Examples
    --------
    >>> [shortened_number(n) for n in (999, 4899, 25_301, 1_500_000)]
    ['999', '4.9k', '25k', '1.5M']
    """
    for unit, name in ((10**6, "M"), (10**3, "k")):
        if n >= unit:
            return f"{n / unit:.1f}{name}" if n < 10 * unit else f"{n // unit}{name}"
    return str(n)


def _bar(chart: Chart, x: float, width: float, start: int, n: int, label: str) -> Mark:
    """Return a bar for the count ``n``, stacked on bars for the count ``start``."""
    height = max(chart.unit * (1 + log10(n) if chart.is_log else n), LEAST_HEIGHT)
    return Mark(x, chart.bottom - chart.unit * start - height, width, height, label)


def _line(chart: Chart, x: float, label: str) -> Mark:
    return Mark(x, TOP, LINE_WIDTH, chart.bottom - TOP, label)


def _step(length: float, n_most: int) -> float:
    """Return the distance between the ticks of an axis: 1, 2 or 5 times a power of ten.

    ``length`` is the range of values on the axis, and ``n_most`` the maximum number of ticks after the first one.

    Examples
    --------
    >>> _step(9120, 5), _step(0.6, 6), _step(41, 6)
    (2000.0, 0.1, 10.0)
    """
    least = round(length / n_most, 9) or 1
    power = 10.0 ** floor(log10(least))
    return float(next(round(factor * power, 9) for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9)))


def _multiples(first: float, last: float, step: float) -> list[float]:
    """Return the multiples of ``step`` from ``first`` to ``last``, inclusive."""
    numbers = np.arange(ceil(round(first / step, 6)), floor(round(last / step, 6)) + 1)
    values: list[float] = np.round(numbers * step, 9).tolist()
    return values
