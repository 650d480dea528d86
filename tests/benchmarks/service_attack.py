"""Measure the HTTP service under an attacker's stream: posts that are near one another and match none of the others.

    python -m tests.benchmarks.service_attack --base FILE [--window 300000] [--seconds 10] [--lengths 20,70,1000]

A store is filled and a server started on it as in `tests.benchmarks.service_load`. For each length, three times are
measured: ordinary posts of that length, sent by themselves, several a request; attackers' posts of that length, sent
by themselves in the same way; and attackers' posts while ordinary clients send one post a request beside. How fast
these are without an attacker is measured first. Prints one line of JSON for each, with the setting.

All kinds of attackers' posts share their keys in the block index and have few differing bits, so that each has all
those before it as candidates, and each has to be kept:

- ``shuffled``: the same ten sentences in another order;
- ``common``: a long part in common, and another end, so that the score is just below the threshold;
- ``letters``: random texts of three characters, so that all have the same n-grams.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.base import Base
from tests.benchmarks.corpora import read_texts
from tests.benchmarks.service_load import Client, Load, fill, made, start
from tests.benchmarks.setting import setting

FIRST_CHARACTER = 0x4E00
N_CHARACTERS = 3000
SENTENCES = 10
COMMON_SHARE = 0.74
LETTERS = 3
N_CHARACTERS_AT_HAND = 20_000_000
"""Characters of the posts that a client has at hand."""
MOST_AT_HAND = 60_000
CHARACTERS_A_REQUEST = 2_000_000


def han(random: Random, n: int) -> str:
    """Return random Chinese characters."""
    return "".join(chr(FIRST_CHARACTER + random.randrange(N_CHARACTERS)) for _ in range(n))


def shuffled(random: Random, length: int) -> Iterator[str]:
    """Yield the same sentences in other orders."""
    sentences = [han(random, max(length // SENTENCES, 1)) for _ in range(SENTENCES)]
    while True:
        random.shuffle(sentences)
        yield "".join(sentences)


def common(random: Random, length: int) -> Iterator[str]:
    """Yield texts with the same beginning and different ends."""
    beginning = han(random, int(COMMON_SHARE * length))
    while True:
        yield beginning + han(random, length - len(beginning))


def letters(random: Random, length: int) -> Iterator[str]:
    """Yield random texts of a few characters."""
    some = han(random, LETTERS)
    while True:
        yield "".join(random.choices(some, k=length))


ATTACKS: dict[str, Callable[[Random, int], Iterator[str]]] = {
    "shuffled": shuffled,
    "common": common,
    "letters": letters,
}


def ordinary(base: Base, length: int) -> Iterator[str]:
    """Yield pieces of ordinary posts."""
    while True:
        yield base.phrase(length)


def texts_of(kind: str, length: int, base: Path | None) -> list[str]:
    """Return the posts of a client."""
    random = Random(length)  # noqa: S311  texts, not secrets
    if kind == "ordinary":
        made_texts = ordinary(Base(read_texts(base) if base else read_texts(), random), length)
    else:
        made_texts = ATTACKS[kind](random, length)
    return list(islice(made_texts, min(N_CHARACTERS_AT_HAND // length, MOST_AT_HAND)))


def measure(address: str, kind: str, length: int, base: Path | None, batch: int, connections: int, s: float) -> Load:
    """Return what a client measures; to be called in a process of its own."""
    return asyncio.run(Client(address, texts_of(kind, length, base), batch).run(connections, warm_up=0, seconds=s))


def benchmark(store: Path, asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the measurements."""
    fill(store, made(asked.base, asked.window), asked.window, asked.config)
    process, address, _ = start(store, asked.config)
    fixed = {"config": asked.config, "posts_in_window": asked.window, **setting()}
    single = (address, "ordinary", 70, asked.base, 1, asked.connections, asked.seconds)
    try:
        with get_context("spawn").Pool(2) as pool:
            yield {"sent": "ordinary, one post a request", **pool.apply(measure, single).to_dict(), **fixed}
            for length in map(int, asked.lengths.split(",")):
                batch = min(asked.batch, CHARACTERS_A_REQUEST // length)
                for kind in ("ordinary", *asked.kinds.split(",")):
                    several = (address, kind, length, asked.base, batch, asked.attackers, asked.seconds)
                    what = {"length": length, "posts_a_request": batch, **fixed}
                    yield {"sent": kind, **pool.apply(measure, several).to_dict(), **what}
                    if kind != "ordinary":
                        both = [pool.apply_async(measure, one) for one in (several, single)]
                        attack, beside = (one.get().to_dict() for one in both)
                        yield {"sent": f"{kind}, and ordinary beside", "attack": attack, "ordinary": beside, **what}
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)


def main(arguments: list[str] | None = None) -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", type=Path, help="posts that ordinary posts are made from; default: the samples")
    parser.add_argument("--window", type=int, default=300_000, help="posts in the store before measuring")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--connections", type=int, default=64, help="of ordinary clients, one post a request")
    parser.add_argument("--attackers", type=int, default=8, help="connections that send several posts a request")
    parser.add_argument("--batch", type=int, default=256, help="posts a request of these")
    parser.add_argument("--lengths", default="20,70,1000", help="characters of the posts")
    parser.add_argument("--kinds", default=",".join(ATTACKS), help="of attackers' posts")
    parser.add_argument("--config", default="weibo")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for result in benchmark(Path(folder) / "window", asked):
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
