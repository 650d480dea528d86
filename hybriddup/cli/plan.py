"""`hybriddup plan`: which shape of block index suits how many posts, how far apart, in how much memory."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options

EPILOG = """\b
Examples:
  hybriddup plan --posts 50M --bits 64 --max-hamming-distance 3 --memory 6GB
      for pairs that differ in up to 3 of 64 bits
  hybriddup plan --posts 1M --edit-share 0.1 --recall 0.99
      for posts and their copies with a tenth of the characters edited, in 128 bits

The shapes are those of the block indexes: `blocks: 5 choose 2` has 5 blocks, 2 of which form a key; `probing: 4 within
1-2 bits` has 4 blocks, in each of which all keys within 1 or 2 bits are looked up; `tables: 9 of 16, 4 weak` has 9
tables of 16 sampled bits, of which the 4 weakest are probed. The naive ones, which look up or store all neighbours of a
fingerprint, stand there for comparison. Nothing is read or built: the numbers are worked out by formula, and what they
rest on is printed."""


def plan(
    posts: Annotated[
        str, typer.Option("--posts", metavar="N", show_default=False, help="Posts in the index, such as 50M or 200000.")
    ],
    bits: Annotated[int, typer.Option(metavar="B", help="Width of the fingerprints, a multiple of 64.")] = 128,
    max_hamming_distance: Annotated[
        int | None,
        typer.Option(metavar="K", help="Bits in which pairs that ought to be found differ; or give --edit-share."),
    ] = None,
    edit_share: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Share of a post's characters that its copies have edited, such as 0.1; their distances are modeled.",
        ),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="M", help="Most memory that the index may take, such as 1.5GB or 800MiB.")
    ] = None,
    recall: Annotated[
        float, typer.Option(metavar="R", help="Share of those pairs that has to be found; 1 for exact indexes only.")
    ] = 0.99,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001  the callback keeps it
) -> None:
    """Show what each shape of block index costs and finds, and which one to use.

    For each: tables, key bits, look-ups and candidates (comparisons) a post, memory, recall, and estimated time. The
    fastest that finds enough and fits into the memory is chosen; one that misses some pairs only where it is more than
    1.25 x as fast as one that misses none.
    """
    from hybriddup.cli.output import print_json
    from hybriddup.cli.plan_view import print_plan
    from hybriddup.planner.choosing import make_plan
    from hybriddup.planner.quantities import parse_bytes, parse_count
    from hybriddup.planner.question import make_question

    question = make_question(
        parse_count(posts, "--posts"),
        bits,
        max_hamming_distance=max_hamming_distance,
        edit_share=edit_share,
        recall=recall,
        memory=None if memory is None else parse_bytes(memory, "--memory"),
    )
    made = make_plan(question)
    if json:
        print_json(made.to_dict())
    else:
        print_plan(made)
