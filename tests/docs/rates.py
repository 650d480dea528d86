"""Draws the picture of README.md's table of tools, from that table: python -m tests.docs.rates"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple

import pygal
from pygal.style import Style

README = Path(__file__).parents[2] / "README.md"
PICTURE = Path(__file__).with_name("rates.svg")
ROW = re.compile(r"^\| ([^|]+?) \| ([\d.]+) / ([\d.]+) / ([\d.]+) \|", re.MULTILINE)
RATES = 0.1, 0.2, 0.5, 1, 2, 4
FONT = 15
COMMENT = re.compile("<!--.*?-->")
TEXT = re.compile(r'<(?:text|title|tspan|desc class="value")[^>]*>([^<]+)<')


class Tool(NamedTuple):
    """A row of the table: what a tool reaches on the Weibo posts."""

    name: str
    f1: float
    rate: float


def tools(readme: str) -> list[Tool]:
    """Return the rows of the table."""
    found = [(name.replace("`", ""), *map(float, numbers)) for name, *numbers in ROW.findall(readme)]
    return [Tool(name, 2 * recall * precision / (recall + precision), rate) for name, recall, precision, rate in found]


def draw(found: list[Tool]) -> str:
    """Return the picture as SVG, without comments that tell the day and the library's version."""
    chart = pygal.XY(
        stroke=False,
        truncate_legend=-1,
        legend_at_bottom=True,
        legend_at_bottom_columns=3,
        dots_size=7,
        width=860,
        height=460,
        explicit_size=True,
        js=(),
        title="50,000 Weibo posts: what goes and ought to (F1), and how fast",
        x_title="rate, as a multiple of that of rensa + rapidfuzz",
        y_title="F1",
        range=(0.4, 1.0),
        xrange=(math.log2(RATES[0]), math.log2(RATES[-1])),
        show_y_guides=True,
        style=Style(
            background="white",
            plot_background="white",
            title_font_size=FONT + 1,
            label_font_size=FONT,
            legend_font_size=FONT,
            major_label_font_size=FONT,
        ),
    )
    chart.uuid = "rates"
    chart.x_labels = [{"value": math.log2(rate), "label": f"{rate:g}"} for rate in RATES]
    for tool in found:
        chart.add(tool.name, [(math.log2(tool.rate), round(tool.f1, 4))])
    drawn: str = chart.render(disable_xml_declaration=True, is_unicode=True)
    return COMMENT.sub("", drawn) + "\n"


def words(picture: str) -> list[str]:
    """Return what is written in a picture, the values under its dots included, without where on it they stand."""
    return [word for word in TEXT.findall(picture) if word.strip()]


if __name__ == "__main__":
    PICTURE.write_text(draw(tools(README.read_text(encoding="utf-8"))), encoding="utf-8")
