"""Charts: the numbers in them are those that were given, and nothing of them is code or asks for anything."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.run.report.charts import MOST_BINS, histogram, stacked_bars

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert(1)</script>&\"'"


def tooltips(svg: str, series: int) -> list[str]:
    """What the bars of a series say."""
    root = ElementTree.fromstring(svg)  # noqa: S314  our own
    (group,) = (one for one in root.iter(f"{SVG}g") if f"serie-{series}" in one.get("class", "").split())
    return [str(title.text) for title in group.iter(f"{SVG}title")]


def test_whole_numbers_have_a_bar_each() -> None:
    """Also the largest; the line of a limit says it."""
    svg = histogram({"near": np.array([0, 3, 3, 7], np.int32)}, {"limit": [7]}, 1)
    assert tooltips(svg, 0) == ["0: 1", "3: 2", "7: 1"]
    assert tooltips(svg, 1) == ["7"]


def test_scores_of_one_belong_to_the_last_bin() -> None:
    """There is none beyond it."""
    svg = histogram({"near": np.array([0.5, 0.51, 0.99, 1.0]), "missed": np.array([])}, {"threshold": [0.5]}, 0.02)
    assert tooltips(svg, 0) == ["0.5 to 0.52: 2", "0.98 to 1: 2"]
    assert tooltips(svg, 1) == []


@given(st.lists(st.integers(0, 512), min_size=1), st.sampled_from([1.0, 0.02]))
@settings(max_examples=50, deadline=None)
def test_every_value_is_in_one_bin(values: list[int], width: float) -> None:
    """However many there are; never more than fifty bins."""
    svg = histogram({"near": np.array(values) * width}, {}, width)
    shown = tooltips(svg, 0)
    assert sum(int(text.rpartition(": ")[2].replace(",", "")) for text in shown) == len(values)
    assert len(shown) <= MOST_BINS + 1


def test_stacked_bars_have_the_numbers_of_their_series() -> None:
    """By label, nothing left out."""
    svg = stacked_bars(["0-4", "5-"], {"exact": [1, 2], "near": [0, 3000]})
    assert (tooltips(svg, 0), tooltips(svg, 1)) == (["1", "2"], ["0", "3,000"])


def test_names_are_text_and_charts_hold_no_code() -> None:
    """Nor a style, a date, or an address."""
    svg = stacked_bars([HOSTILE, "你好"], {HOSTILE: [1, 2]})
    tags = {one.tag.removeprefix(SVG) for one in ElementTree.fromstring(svg).iter()}  # noqa: S314  our own
    assert tags <= {"svg", "g", "rect", "path", "text", "title"}
    assert "<!--" not in svg
    assert "你好" in svg


@pytest.mark.filterwarnings("error")
def test_drawing_leaves_imports_as_they_were() -> None:
    """Those that fail, too, which is where a finder left behind would show."""
    assert not [finder for finder in sys.meta_path if not hasattr(finder, "find_spec")]
    with pytest.raises(ImportError):
        import no_such_module  # type: ignore[import-not-found]  # noqa: F401
