"""Charts: the numbers in them are those that were given, and their bars are where their axes are."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.run.report.charts import MOST_BINS, Chart, histogram, stacked_bars
from tests.builders import examples


def labels(chart: Chart, name: str) -> list[str]:
    (series,) = (one for one in chart.series if one.name == name)
    return [mark.label for mark in series.marks]


def totals(chart: Chart) -> dict[str, str]:
    return {series.name: series.total for series in chart.series}


def test_whole_numbers_have_a_bar_each() -> None:
    chart = histogram({"near": np.array([0, 3, 3, 7], np.int32)}, {"limit": [7]}, 1)
    assert labels(chart, "near") == ["0: 1 near", "3: 2 near", "7: 1 near"]
    assert labels(chart, "limit") == ["limit 7"]
    assert totals(chart) == {"near": "4", "limit": "7"}
    last, line = chart.series[0].marks[-1], chart.series[1].marks[0]
    assert line.x + line.width / 2 == pytest.approx(last.x + last.width)
    (seven,) = (tick.at for tick in chart.x_ticks if tick.label == "6")
    assert chart.left < seven < last.x


def test_scores_of_one_belong_to_the_last_bin() -> None:
    chart = histogram({"near": np.array([0.5, 0.51, 0.99, 1.0]), "missed": np.array([])}, {"threshold": [0.5]}, 0.02)
    assert labels(chart, "near") == ["0.5 to 0.52: 2 near", "0.98 to 1: 2 near"]
    assert labels(chart, "missed") == []
    assert [tick.label for tick in chart.x_ticks] == ["0.5", "0.6", "0.7", "0.8", "0.9", "1"]


@given(st.lists(st.integers(0, 512), min_size=1), st.sampled_from([1.0, 0.02]))
@examples(50)
def test_every_value_is_in_one_bin(values: list[int], width: float) -> None:
    """However many there are; never more than fifty bins, next to each other and within the axes."""
    chart = histogram({"near": np.array(values) * width}, {}, width)
    shown = labels(chart, "near")
    assert sum(int(text.rpartition(": ")[2].removesuffix(" near").replace(",", "")) for text in shown) == len(values)
    assert len(shown) <= MOST_BINS + 1
    marks = chart.series[0].marks
    assert all(left.x + left.width <= right.x + 1e-6 for left, right in pairwise(marks))
    assert chart.left <= marks[0].x + 1e-6
    assert marks[-1].x + marks[-1].width <= chart.right + 1e-6
    assert 1 <= len(chart.x_ticks) <= 8


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), min_size=1, max_size=62))
@examples(50)
def test_heights_of_bars_are_their_numbers_on_the_axis(numbers: list[tuple[int, int]]) -> None:
    lower, upper = map(list, zip(*numbers, strict=True))
    chart = stacked_bars(["day"] * len(numbers), {"kept": lower, "removed": upper})
    ticks = [int(tick.label.replace(",", "")) for tick in chart.y_ticks]
    assert ticks == list(range(0, ticks[-1] + 1, ticks[1]))
    assert str(ticks[1]).rstrip("0") in {"1", "2", "5"}
    assert ticks[-1] >= max(map(sum, numbers))
    assert 2 <= len(ticks) <= 6
    for series, below in zip(chart.series, ([0] * len(numbers), lower), strict=True):
        heights = [(n, start) for n, start in zip(lower if series.name == "kept" else upper, below, strict=True) if n]
        for mark, (n, start) in zip(series.marks, heights, strict=True):
            assert mark.height == pytest.approx(max(n * chart.unit, 1.5))
            assert mark.y + mark.height == pytest.approx(chart.bottom - start * chart.unit)


def test_stacked_bars_have_the_numbers_of_their_series() -> None:
    """By label, nothing left out but zeros."""
    chart = stacked_bars(["0-4", "5-"], {"exact": [1, 2], "near": [0, 3000]})
    assert labels(chart, "exact") == ["0-4: 1 exact", "5-: 2 exact"]
    assert labels(chart, "near") == ["5-: 3,000 near"]
    assert totals(chart) == {"exact": "3", "near": "3,000"}


def test_bars_have_their_numbers_if_there_is_room() -> None:
    chart = stacked_bars(["0-4", "5-", "9-"], {"exact": [1, 2, 0], "near": [0, 4897, 0]})
    assert [number.label for number in chart.numbers] == ["1", "4.9k"]
    assert all(number.y < mark.y for number, mark in zip(chart.numbers, chart.series[0].marks, strict=True))
    assert stacked_bars(["day"] * 62, {"kept": [1000] * 62}).numbers == []


def test_few_pairs_can_be_seen_next_to_many() -> None:
    scores = np.repeat([0.5, 0.9], [1, 100_000])
    chart = histogram({"near": scores}, {}, 0.02)
    few, many = chart.series[0].marks
    assert chart.is_log
    assert [tick.label for tick in chart.y_ticks] == ["0", "1", "10", "100", "1,000", "10,000", "100,000"]
    assert (few.y, many.y) == pytest.approx((chart.y_ticks[1].at, chart.y_ticks[-1].at))
    assert not histogram({"near": scores[:40]}, {}, 0.02).is_log


def test_labels_have_room_beside_each_other() -> None:
    days = [f"2026-11-{day:02}" for day in range(1, 31)]
    shown = [tick.label for tick in stacked_bars(days, {"kept": [1] * 30}).x_ticks]
    assert shown[0] == "2026-11-01"
    assert 2 <= len(shown) <= 5
    assert len(stacked_bars(["0-4", "5-"], {"kept": [0, 0]}).x_ticks) == 2
