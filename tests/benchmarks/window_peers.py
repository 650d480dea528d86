"""The live window, and datasketch's MinHashLSH with its Redis storage, on the same posts: rate, and memory a post.

python -m tests.benchmarks.window_peers POSTS.jsonl[.gz] [--rows 50000] [--seconds 50] [--config benchmark] [-o OUT]

Each entry runs in a process of its own: a post is kept unless an earlier kept one is found, and becomes findable then.
What is slow is stopped after ``--seconds``; its rate is that of the posts until then.

The peer is set up as what is fastest and smallest among what its documentation offers: the parameters are those of
`tests.benchmarks.tools`, sketches are made by its generator, bucket keys are hashed to 8 bytes, keys are bytes, whether
a key is there already is not checked, and Redis is reached by a Unix socket. ``one by one`` asks and inserts for each
post. ``batches`` asks for each post, and inserts 256 at a time in an insertion session, so that equal posts of a batch
are both kept. ``pipelined`` goes beyond its documentation, and asks for a whole batch at once through the tables'
`getmany`. ``synced``: as with the window, an answer means that the post is on disk; ``unsynced``: nothing is written.

Its memory is what Redis counts as used, over the posts kept. The window's is all that the process holds more than
before it was opened, over the posts kept, with kernels loaded before; it has the texts, too, on disk.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import xxhash

from tests.benchmarks.corpora import read_texts
from tests.benchmarks.live_index import resident_bytes
from tests.benchmarks.redis_server import redis_server, server_version, used_memory
from tests.benchmarks.setting import setting
from tests.benchmarks.tools import bigrams
from tests.benchmarks.window import warm_up

BATCH = 256
N_PERMUTATIONS, THRESHOLD = 128, 0.6
Decide = Callable[[int], int]
"""Decides the posts of the next batch, the first of which has this row, and returns how many were kept."""


@dataclass(frozen=True)
class Outcome:
    """What one entry did."""

    entry: str
    posts: int
    kept: int
    seconds: float
    bytes_a_kept_post: float
    index_bytes_a_kept_post: float | None = None
    """Of the window: what it counts itself, without what does not grow with the posts."""

    @property
    def rate(self) -> float:
        """Posts a second."""
        return self.posts / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, rounded."""
        plain = asdict(self) | {"seconds": round(self.seconds, 2), "posts_per_second": round(self.rate)}
        return {name: round(value) if name.startswith("bytes") else value for name, value in plain.items()}


def run(entry: str, n: int, batch: int, seconds: float, decide: Decide, held: Callable[[], int]) -> Outcome:
    """Decide batches until there are no more posts or the time is over; ``held`` tells the memory in use."""
    before, began = held(), time.perf_counter()
    row = kept = 0
    while row < n and time.perf_counter() - began < seconds:
        kept += decide(row)
        row = min(row + batch, n)
    spent = time.perf_counter() - began
    return Outcome(entry, row, kept, spent, (held() - before) / max(1, kept))


def window(texts: list[str], config: str, seconds: float, *, batch: int, synced: bool) -> Outcome:
    """Return what the live window does."""
    from hybriddup.window import Window

    warm_up(config)
    opened: list[Window] = []
    # decoded anew for each batch: Python keeps a string's UTF-8 beside it once asked, which is not the window's memory
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]

    def decide(row: int) -> int:
        if not opened:
            opened.append(Window.open(f"{folder}/window" if synced else None, config))
        some = [text.decode("utf-8", "surrogatepass") for text in encoded[row : row + batch]]
        posts = [{"id": str(row + place), "text": text} for place, text in enumerate(some)]
        return sum(decision.kept for decision in opened[0].add_many(posts))

    with tempfile.TemporaryDirectory() as folder:
        outcome = run("hybriddup", len(texts), batch, seconds, decide, resident_bytes)
        index_bytes = opened[0].stats().index_bytes
        opened[0].close()
    return replace(outcome, index_bytes_a_kept_post=round(index_bytes / outcome.kept))


def datasketch(texts: list[str], _: str, seconds: float, *, how: str, synced: bool) -> Outcome:
    """Return what datasketch does over Redis."""
    from datasketch import MinHash, MinHashLSH

    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder), synced=synced) as socket:
        storage = {"type": "redis", "basename": b"posts", "redis": {"unix_socket_path": socket}}
        index = MinHashLSH(
            threshold=THRESHOLD,
            num_perm=N_PERMUTATIONS,
            storage_config=storage,
            prepickle=False,
            hashfunc=xxhash.xxh3_64_digest,
        )
        sets = ([gram.encode("utf-8", "surrogatepass") for gram in set(bigrams(text))] for text in texts)
        sketches = MinHash.generator(sets, num_perm=N_PERMUTATIONS)
        decide = partial(WAYS[how], index, sketches)
        batch = 1 if how == "one by one" else BATCH
        return run("datasketch", len(texts), batch, seconds, decide, partial(used_memory, socket))


def one_by_one(index: Any, sketches: Iterator[Any], row: int) -> int:
    """Ask for the next post, and insert it where there is no answer."""
    sketch = next(sketches)
    if index.query(sketch):
        return 0
    index.insert(key_of(row), sketch, check_duplication=False)
    return 1


def in_batches(index: Any, sketches: Iterator[Any], row: int) -> int:
    """Ask for each post of a batch, and insert them in one session."""
    batch = next_batch(sketches)
    return insert(index, batch, row, [bool(index.query(sketch)) for sketch in batch])


def pipelined(index: Any, sketches: Iterator[Any], row: int) -> int:
    """Ask for all posts of a batch at once, a table after another, and insert them in one session."""
    batch = next_batch(sketches)
    found = [False] * len(batch)
    for (start, end), table in zip(index.hashranges, index.hashtables, strict=True):
        keys = [index._H(sketch.hashvalues[start:end]) for sketch in batch]
        found = [bool(bucket) or before for bucket, before in zip(table.getmany(*keys), found, strict=True)]
    return insert(index, batch, row, found)


def next_batch(sketches: Iterator[Any]) -> list[Any]:
    """Return the next sketches, as many as there are."""
    return [sketch for _, sketch in zip(range(BATCH), sketches, strict=False)]


def insert(index: Any, batch: Sequence[Any], row: int, found: Sequence[bool]) -> int:
    """Insert the posts that were not found, and return how many."""
    with index.insertion_session() as session:
        for place, sketch in enumerate(batch):
            if not found[place]:
                session.insert(key_of(row + place), sketch, check_duplication=False)
    return len(found) - sum(found)


def key_of(row: int) -> bytes:
    """Return the key of a post; Redis stores whole numbers in decimal compactly."""
    return str(row).encode()


WAYS = {"one by one": one_by_one, "batches": in_batches, "pipelined": pipelined}
Entry = Callable[[list[str], str, float], Outcome]
WINDOW = "hybriddup, batches, synced"
ENTRIES: dict[str, Entry] = {
    WINDOW: partial(window, batch=BATCH, synced=True),
    "hybriddup, one by one, synced": partial(window, batch=1, synced=True),
    "hybriddup, batches, unsynced": partial(window, batch=BATCH, synced=False),
} | {
    f"datasketch, {how}, {'synced' if synced else 'unsynced'}": partial(datasketch, how=how, synced=synced)
    for how in WAYS
    for synced in (True, False)
}


def measure(name: str, texts: list[str], config: str, seconds: float) -> Outcome:
    """Return what an entry does; to be called in a process of its own."""
    return replace(ENTRIES[name](texts, config, seconds), entry=name)


def ratios(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Return by how much each other entry is slower and larger than the window in batches and on disk."""
    ours = next((outcome for outcome in outcomes if outcome.entry == WINDOW), None)
    return {
        other.entry: {
            "rate": round(ours.rate / other.rate, 2),
            "memory": round(other.bytes_a_kept_post / ours.bytes_a_kept_post, 2),
        }
        for other in outcomes
        if ours is not None and other is not ours
    }


def main(arguments: list[str] | None = None) -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts", type=Path)
    parser.add_argument("--rows", type=int, help="only the first so many posts")
    parser.add_argument("--seconds", type=float, default=50.0, help="after which an entry is stopped")
    parser.add_argument("--entries", nargs="+", choices=ENTRIES, default=list(ENTRIES))
    parser.add_argument("--config", default="benchmark", help="of hybriddup")
    parser.add_argument("-o", "--output", type=Path, help="results as JSON")
    asked = parser.parse_args(arguments)
    texts = read_texts(asked.posts, asked.rows)
    outcomes: list[Outcome] = []
    for name in asked.entries:
        with get_context("spawn").Pool(1) as pool:
            outcomes.append(pool.apply(measure, (name, texts, asked.config, asked.seconds)))
        print(json.dumps(outcomes[-1].to_dict()), flush=True)
    report = {
        "corpus": asked.posts.name,
        "config": asked.config,
        "redis_server": server_version(),
        "times_the_window": ratios(outcomes),
        "entries": [outcome.to_dict() for outcome in outcomes],
        **setting(),
    }
    print(json.dumps(report["times_the_window"], indent=1))
    if asked.output is not None:
        asked.output.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
