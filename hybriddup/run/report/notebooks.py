"""Results and explanations in notebooks, as plain HTML without styles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from hybriddup.data.records import Removed
from hybriddup.data.spread import spread_rows
from hybriddup.run.report.differences import marked_texts

PAIRS_SHOWN = 5
"""Maximum number of removed posts that a notebook shows for a result."""


def removed_html(title: str, removed: Sequence[Removed]) -> str:
    """Return HTML with a title and some removed posts next to their keepers, near repeats first."""
    some = [removed[place] for place in spread_rows(len(removed), 20 * PAIRS_SHOWN).tolist()]
    some = [post for post in some if post.reason == "near"] or some
    shown = [some[place] for place in spread_rows(len(some), PAIRS_SHOWN).tolist()]
    rows = ((f"{post.reason}, {post.score:.2f}", *marked_pair(post.keeper_text, post.text)) for post in shown)
    more = f"<p>{len(shown):,} of {len(removed):,} removed posts</p>" if len(removed) > len(shown) else ""
    return f"<p>{escape(title)}</p>{table_html(['', 'kept', 'removed'], rows) if shown else ''}{more}"


def pair_html(verdict: str, texts: tuple[str, str], facts: Iterable[tuple[str, str]]) -> str:
    """Return HTML with a verdict on two texts, the texts with their differences marked, and facts about the pair."""
    pair = zip("AB", marked_pair(*texts), strict=True)
    return (
        f"<p>{escape(verdict)}</p>{table_html(['', 'text'], pair)}"
        f"{table_html(['both', ''], ((escape(name), escape(value)) for name, value in facts))}"
    )


def marked_pair(a: str, b: str) -> tuple[str, str]:
    """Return both texts as HTML, with their differences marked."""
    of_a, of_b = marked_texts(a, b)
    return of_a.__html__(), of_b.__html__()


def table_html(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table; headers and cells must already be HTML."""

    def row(tag: str, cells: Sequence[str]) -> str:
        inner = "".join(f'<{tag} dir="auto" style="text-align: start">{cell}</{tag}>' for cell in cells)
        return f"<tr>{inner}</tr>"

    return f"<table>{row('th', headers)}{''.join(row('td', cells) for cells in rows)}</table>"
