"""`hybriddup plan`: compare block indexes for a number of posts, a distance and a memory limit; recommend one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import A_SIZE, BYTES, COUNTS, option, parse_number

if TYPE_CHECKING:
    from hybriddup.study.plan import Plan, Shape

EPILOG = """\b
Examples:
  hybriddup plan --posts 50M --bits 64 --max-hamming-distance 3 --memory 6GB
      for pairs that differ in up to 3 of 64 bits
  hybriddup plan --posts 1M --edit-share 0.1 --recall 0.99
      for posts and copies with a tenth of the characters edited, in 128 bits

Keys, look-ups and times are per post; the memory is for a live window. The naive indexes, which look up or store all
neighbours of a fingerprint, are listed for comparison."""

HEADERS = ("block index", "keys", "look-ups", "comparisons", "us, window", "us, run", "GB", "recall", "verdict")


def plan(
    posts: Annotated[str, option("N", "Number of posts in the index, such as 50M or 200000.", show_default=False)],
    bits: Annotated[int, option("B", "Width of the fingerprints, a multiple of 64.")] = 128,
    max_hamming_distance: Annotated[
        int | None, option("K", "Find pairs that differ in up to K bits; or give --edit-share.")
    ] = None,
    edit_share: Annotated[
        float | None, option("S", "Find copies with this share of the characters edited, such as 0.1.")
    ] = None,
    memory: Annotated[str | None, option("M", "Memory limit for the index, such as 1.5GB or 800MiB.")] = None,
    recall: Annotated[float, option("R", "Share of these pairs to find; 1 allows exact indexes only.")] = 0.99,
    as_json: options.Json = False,
) -> None:
    """Show cost and recall of each block index, and which one to use.

    The numbers of keys and look-ups are exact; comparisons, times and memory are estimates. With --edit-share, recall
    is measured on artificial posts and edited copies. The fastest index that finds enough pairs and fits into the
    memory is chosen; one that misses pairs must be 1.25 times faster than an exact one.
    """
    from hybriddup.cli.printing import print_json
    from hybriddup.study.plan import Question, make_plan

    count = "a whole number of at least 1, such as 50000000, 50M, 200k or 1.5G"
    most = None if memory is None else parse_number(memory, "--memory", BYTES, A_SIZE)
    n_posts = parse_number(posts, "--posts", COUNTS, count)
    made = make_plan(Question(n_posts, bits, max_hamming_distance, edit_share, recall, most))
    if as_json:
        print_json(made.to_dict())
    else:
        print_plan(made)


def print_plan(plan: Plan) -> None:
    """Print the table of block indexes, the choice, notes, and the YAML that configures the chosen index."""
    import yaml

    from hybriddup.cli.printing import print_table

    print_table([_row(shape) for shape in plan.shapes], headers=HEADERS, right=range(1, len(HEADERS) - 1))
    typer.echo(f"\n{plan.why}")
    for note in plan.notes:
        typer.echo(note)
    if plan.configuration:
        written = yaml.safe_dump(plan.configuration, sort_keys=False, default_flow_style=None)
        typer.echo(f"\n{written}", nl=False)


def _row(shape: Shape) -> list[str]:
    costs = (shape.window_ns / 1e3, shape.run_ns / 1e3, shape.n_bytes / 1e9)
    counts = map(show, (shape.keys, shape.look_ups, shape.comparisons, *costs))
    recall = "by text" if shape.recall is None else f"{shape.recall:.4f}"
    return [shape.name, *counts, recall, shape.verdict]


def show(value: float) -> str:
    """Format a number briefly, such as ``696``, ``0.75``, ``3,052`` or ``1.2e+30``."""
    if value >= 1e9:
        return f"{value:.1e}"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
