"""Where two texts differ, in pieces as people read them: words of Latin letters and digits, other characters each.

And what notebooks show of a result and of an explanation by that: plain HTML, without styles of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

import regex
from rapidfuzz.distance import Indel

from hybriddup.data.records import Removed
from hybriddup.data.spread import spread_rows

PIECES = regex.compile(r"[\p{Latin}\p{Nd}]+|\X", regex.DOTALL)
MOST_SHOWN = 600
"""Characters of a text that are shown."""
PAIRS_SHOWN = 5
"""Removed posts that a notebook shows."""


class MarkedText(NamedTuple):
    """A text with what another one does not have marked."""

    pieces: list[str]
    is_common: list[bool]

    def __html__(self) -> str:
        """Return the text as HTML, escaped; templates with autoescape take it as it is."""
        runs = groupby(zip(self.pieces, self.is_common, strict=True), key=lambda piece: piece[1])
        texts = ((is_common, escape("".join(piece for piece, _ in run))) for is_common, run in runs)
        return "".join(text if is_common else f"<mark>{text}</mark>" for is_common, text in texts)


def marked_texts(a: str, b: str) -> tuple[MarkedText, MarkedText]:
    """Return both texts, with what only one of them has marked; of a longest part in common, in order, nothing is.

    Examples
    --------
    >>> a, b = marked_texts("see you at 10", "see you at 11 <soon>")
    >>> a.__html__(), b.__html__()
    ('see you at <mark>10</mark>', 'see you at <mark>11 &lt;soon&gt;</mark>')
    """
    of_a, of_b = PIECES.findall(shortened(a)), PIECES.findall(shortened(b))
    in_a, in_b = [False] * len(of_a), [False] * len(of_b)
    for part in Indel.opcodes(of_a, of_b):
        if part.tag == "equal":
            in_a[part.src_start : part.src_end] = [True] * (part.src_end - part.src_start)
            in_b[part.dest_start : part.dest_end] = [True] * (part.dest_end - part.dest_start)
    return MarkedText(of_a, in_a), MarkedText(of_b, in_b)


def shortened(text: str) -> str:
    """Return a text, or the beginning of a long one with an ellipsis."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def removed_html(title: str, removed: Sequence[Removed]) -> str:
    """Return a title, and some removed posts beside their keepers; near repeats before exact ones."""
    some = [removed[place] for place in spread_rows(len(removed), 20 * PAIRS_SHOWN).tolist()]
    some = [post for post in some if post.reason == "near"] or some
    shown = [some[place] for place in spread_rows(len(some), PAIRS_SHOWN).tolist()]
    rows = ((f"{post.reason}, {post.score:.2f}", *marked_pair(post.keeper_text, post.text)) for post in shown)
    more = f"<p>{len(shown):,} of {len(removed):,} removed posts</p>" if len(removed) > len(shown) else ""
    return f"<p>{escape(title)}</p>{table_html(['', 'kept', 'removed'], rows) if shown else ''}{more}"


def pair_html(verdict: str, texts: tuple[str, str], facts: Iterable[tuple[str, str]]) -> str:
    """Return a verdict on two texts, both with their differences marked, and what was found out about them."""
    pair = zip("AB", marked_pair(*texts), strict=True)
    return (
        f"<p>{escape(verdict)}</p>{table_html(['', 'text'], pair)}"
        f"{table_html(['both', ''], ((escape(name), escape(value)) for name, value in facts))}"
    )


def marked_pair(a: str, b: str) -> tuple[str, str]:
    """Return both texts as HTML, with what only one of them has marked."""
    of_a, of_b = marked_texts(a, b)
    return of_a.__html__(), of_b.__html__()


def table_html(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are HTML already."""

    def row(tag: str, cells: Sequence[str]) -> str:
        inner = "".join(f'<{tag} dir="auto" style="text-align: start">{cell}</{tag}>' for cell in cells)
        return f"<tr>{inner}</tr>"

    return f"<table>{row('th', headers)}{''.join(row('td', cells) for cells in rows)}</table>"
