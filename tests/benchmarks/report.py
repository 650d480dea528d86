"""Results of `tests.benchmarks.peers` as Markdown.

python -m tests.benchmarks.report RESULTS.json [MORE ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median

from tests.benchmarks.measured import Measured, load_results

NAMES = {
    "hybriddup": "hybriddup",
    "rensa_rapidfuzz": "rensa + rapidfuzz",
    "rensa": "rensa deduplicator",
    "gaoya": "gaoya MinHash",
    "datasketch": "datasketch MinHash LSH",
    "simhash3": "simhash, distance 3",
    "simhash6": "simhash, distance 6",
}
COLUMNS = ("recall", "precision", "posts/s", "ratio", "peak MB", "MB over texts")


def as_markdown(results: Sequence[Measured]) -> str:
    """Return a table a corpus and, where there are several corpora, one of how memory and rate grow."""
    corpora = [list(rows) for _, rows in groupby(results, lambda row: (row.corpus, row.n_posts))]
    parts = [corpus_table(rows) for rows in corpora]
    if len(corpora) > 1:
        parts.append(growth_table(results))
    return "\n\n".join(parts)


def corpus_table(rows: Sequence[Measured]) -> str:
    """Return the table of one corpus; the ratio is that of rates to ``rensa + rapidfuzz``."""
    head = [f"{rows[0].corpus} ({rows[0].n_posts:,})", "", f"| | {' | '.join(COLUMNS)} |", "|---|" + "---|" * 6]
    return "\n".join([*head, *(f"| {NAMES[row.tool]} | {' | '.join(cells(row))} |" for row in rows)])


def cells(row: Measured) -> Iterator[str]:
    """Yield the cells of one tool."""
    if row.failed is not None:
        yield from (row.failed, "", "", "", "", "")
        return
    yield share(row.recall, row.recall_interval)
    yield share(row.precision)
    yield f"{row.posts_per_s:,.0f}"
    yield "" if row.ratio is None else f"{row.ratio:.2f} x{spread(row.ratios)}"
    yield f"{median(row.peak_mb):,.0f}"
    yield f"{median(row.over_texts_mb):,.0f}"


def share(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """Return a share with four digits, and its 95 % interval where it was sampled."""
    if value is None:
        return ""
    return f"{value:.4f}" if interval is None else f"{value:.4f} ({interval[0]:.4f} to {interval[1]:.4f})"


def spread(values: Sequence[float]) -> str:
    """Return the range of several rounds."""
    return f" ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else ""


def growth_table(results: Sequence[Measured]) -> str:
    """Return rate, and memory over the texts, of each tool at each size; a tool that grows in proportion is at 1.0."""
    sizes = sorted({row.n_posts for row in results})
    head = ["posts", *(f"{size:,}" for size in sizes), "memory's growth over the posts' growth"]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---|" * (len(head) - 1)]
    for tool in dict.fromkeys(row.tool for row in results):
        measured = {row.n_posts: row for row in results if row.tool == tool and row.failed is None}
        columns = [at_size(measured.get(size)) for size in sizes]
        lines.append(f"| {NAMES[tool]} | {' | '.join([*columns, memory_growth(measured)])} |")
    return "\n".join(["Posts a second, and MB over the texts, by size:", "", *lines])


def at_size(row: Measured | None) -> str:
    """Return rate and memory at one size."""
    return "" if row is None else f"{row.posts_per_s:,.0f}; {median(row.over_texts_mb):,.0f} MB"


def memory_growth(measured: dict[int, Measured]) -> str:
    """Return how memory over the texts grew from the smallest to the largest size, as a share of how the posts grew."""
    if len(measured) < 2:
        return ""
    small, large = measured[min(measured)], measured[max(measured)]
    grown = median(large.over_texts_mb) / max(median(small.over_texts_mb), 1e-9)
    return f"{grown / (large.n_posts / small.n_posts):.2f}"


def main(arguments: list[str] | None = None) -> None:
    """Print the tables of results, and where they were measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    rows, setting = load_results(parser.parse_args(arguments).results)
    print(as_markdown(rows))
    print(f"\n{setting['date']}: {setting['cores']} cores, {setting['processor']}, Python {setting['python']}")
    print(", ".join(f"{package} {version}" for package, version in setting["packages"].items()))


if __name__ == "__main__":
    main()
