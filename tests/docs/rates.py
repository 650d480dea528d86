"""Draws the picture of README.md's table of tools, from that table: python -m tests.docs.rates"""

import math
import re
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, StrictUndefined

README = Path(__file__).parents[2] / "README.md"
PICTURE = Path(__file__).with_name("rates.svg")
ROW = re.compile(r"^\| ([^|]+?) \| ([\d.]+) / ([\d.]+) / ([\d.]+) \|", re.MULTILINE)
WIDTH, HEIGHT = 860, 460
LEFT, RIGHT, TOP, BOTTOM = 60, 840, 60, 400
RATES = 0.1, 0.2, 0.5, 1, 2, 4
F1S = 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1
TITLE = "50,000 Weibo posts: how many are rightly removed (F1), and how fast"
RATE_TITLE = "speed, as a multiple of that of rensa + rapidfuzz"

TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {{ width }} {{ height }}" \
width="{{ width }}" height="{{ height }}" font-family="system-ui, sans-serif" font-size="15">
<title>{{ title }}</title>
<style>circle { fill: #2f6fb5; } line { stroke: #d5dae0; } .axis { fill: #535b66; }
text { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }</style>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="{{ width / 2 }}" y="30" text-anchor="middle" font-size="17">{{ title }}</text>
<g class="axis">
{% for x, label in x_ticks %}
<line x1="{{ x }}" x2="{{ x }}" y1="{{ top }}" y2="{{ bottom }}"/>
<text x="{{ x }}" y="{{ bottom + 22 }}" text-anchor="middle">{{ label }}</text>
{% endfor %}
{% for y, label in y_ticks %}
<line x1="{{ left }}" x2="{{ right }}" y1="{{ y }}" y2="{{ y }}"/>
<text x="{{ left - 10 }}" y="{{ y + 5 }}" text-anchor="end">{{ label }}</text>
{% endfor %}
<text x="{{ (left + right) / 2 }}" y="{{ bottom + 48 }}" text-anchor="middle">{{ x_title }}</text>
<text x="{{ left - 10 }}" y="{{ top - 16 }}" text-anchor="end">F1</text>
</g>
{% for tool, x, y in dots %}
<circle cx="{{ x }}" cy="{{ y }}" r="7">
<title>{{ tool.name }}: F1 {{ tool.f1|round(4) }}, {{ tool.rate }} times</title>
</circle>
{% set is_left = x < (left + right) / 2 %}
<text x="{{ x + (14 if is_left else -14) }}" y="{{ y + 5 }}" text-anchor="{{ "start" if is_left else "end" }}">
{{- tool.name }}</text>
{% endfor %}
</svg>
"""


class Tool(NamedTuple):
    """A row of the table: what a tool reaches on the Weibo posts."""

    name: str
    f1: float
    rate: float


def tools(readme: str) -> list[Tool]:
    found = [(name.replace("`", ""), *map(float, numbers)) for name, *numbers in ROW.findall(readme)]
    return [Tool(name, 2 * recall * precision / (recall + precision), rate) for name, recall, precision, rate in found]


def draw(found: list[Tool]) -> str:
    """Return the picture as SVG: a dot for each tool, by its speed and its F1."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    return environment.from_string(TEMPLATE).render(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=RIGHT,
        top=TOP,
        bottom=BOTTOM,
        title=TITLE,
        x_title=RATE_TITLE,
        x_ticks=[(x_of(rate), f"{rate:g}") for rate in RATES],
        y_ticks=[(y_of(f1), f"{f1:g}") for f1 in F1S],
        dots=[(tool, x_of(tool.rate), y_of(tool.f1)) for tool in found],
    )


def x_of(rate: float) -> float:
    """Return the place of a rate; each doubling takes the same room."""
    return round(LEFT + (RIGHT - LEFT) * math.log(rate / RATES[0]) / math.log(RATES[-1] / RATES[0]), 1)


def y_of(f1: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * (f1 - F1S[0]) / (F1S[-1] - F1S[0]), 1)


if __name__ == "__main__":
    PICTURE.write_text(draw(tools(README.read_text(encoding="utf-8"))), encoding="utf-8")
