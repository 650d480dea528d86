"""Measures windows in Redis on posts of one's own, beside datasketch on the same server where it is installed.

    export PYTHONPATH=tests
    python plugins/hybriddup-redis/tests/measure.py posts.jsonl --senders 2 --batch 256 --config weibo

The server, the senders and the peer share this machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plugin_support.classic import SHORT_POSTS
from plugin_support.rates import Rate, measure_callers, measure_senders
from servers import Server, serving


def measure_window(server: Server, rate_of: Any, config: Any, texts: list[str], *arguments: Any) -> dict[str, float]:
    """Return a rate, the memory of a kept post, and what the server did."""
    before, n_before = used_memory(server), n_commands(server)
    rate: Rate = rate_of(server.url(), config, texts, *arguments)
    memory = (used_memory(server) - before) / max(rate.n_kept, 1)
    return {
        "posts a second": rate.per_second,
        "99 %, seconds": rate.slowest,
        "kept": rate.n_kept,
        "duplicates": len(texts) - rate.n_kept,
        "bytes a kept post": memory,
        "commands a post, in scripts": (n_commands(server) - n_before) / len(texts),
    }


def n_commands(server: Server) -> int:
    """Return how many commands the server has run, those in scripts included."""
    with server.client() as client:
        return sum(int(one["calls"]) for one in client.info("commandstats").values())


def measure_peer(server: Server, texts: list[str]) -> dict[str, float]:
    """Return the rates of datasketch's MinHashLSH: looking posts up, singly or by 256, and inserting them."""
    from datasketch import MinHash, MinHashLSH

    before = used_memory(server)
    storage = {"type": "redis", "basename": b"peer", "redis": {"host": "127.0.0.1", "port": server.port}}
    peer = MinHashLSH(threshold=0.5, num_perm=128, storage_config=storage)
    pieces = [[text[at : at + 2].encode("utf-8", "replace") for at in range(max(len(text) - 1, 1))] for text in texts]
    hashes = MinHash.bulk(pieces, num_perm=128)
    began = time.perf_counter()
    with peer.insertion_session(buffer_size=256) as session:
        for place, hashed in enumerate(hashes):
            session.insert(f"{place}", hashed)
    inserted = (time.perf_counter() - began) / len(texts)
    memory = (used_memory(server) - before) / len(texts)
    began = time.perf_counter()
    for hashed in hashes:
        peer.query(hashed)
    looked_up = (time.perf_counter() - began) / len(texts)
    began = time.perf_counter()
    for first in range(0, len(hashes), 256):
        for hashed in hashes[first : first + 256]:
            peer.add_to_query_buffer(hashed)
        peer.collect_query_buffer()
    buffered = (time.perf_counter() - began) / len(texts)
    return {
        "both, posts a second": 1 / (inserted + looked_up),
        "with buffered look-ups": 1 / (inserted + buffered),
        "inserting alone": 1 / inserted,
        "bytes a post": memory,
    }


def used_memory(server: Server) -> int:
    """Return the bytes that the server has in use."""
    with server.client() as client:
        return int(client.info("memory")["used_memory"])


def measure(texts: list[str], config: str, n_senders: int, size: int, n_few: int) -> dict[str, dict[str, float]]:
    """Return all measurements, each on a new server; of callers and of the peer with the first few posts.

    Those of the classic layout are for ``weibo`` with fingerprints of 64 bits and distance 3.
    """
    found = {}
    with TemporaryDirectory() as folder:
        for name, ask in {
            f"{n_senders} senders": lambda server: measure_window(
                server, measure_senders, config, texts, n_senders, size
            ),
            "one sender": lambda server: measure_window(server, measure_senders, config, texts, 1, size),
            f"{n_senders} senders, classic layout": lambda server: measure_window(
                server, measure_senders, SHORT_POSTS, texts, n_senders, size
            ),
            "one sender, classic layout": lambda server: measure_window(
                server, measure_senders, SHORT_POSTS, texts, 1, size
            ),
            "one post a call": lambda server: measure_window(server, measure_callers, config, texts[:n_few]),
            "datasketch": lambda server: measure_peer(server, texts[:n_few]),
        }.items():
            with serving(Path(folder) / name.replace(" ", "_").replace(",", "")) as server:
                try:
                    found[name] = ask(server)
                except ImportError:
                    print(f"{name} is not installed")
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts", help="JSON lines with texts, packed by gzip or not")
    parser.add_argument("--senders", type=int, default=2)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--config", default="weibo")
    parser.add_argument("--most", type=int, default=40_000, help="posts that are read")
    parser.add_argument("--few", type=int, default=8_000, help="of these for single calls and the peer")
    asked = parser.parse_args()
    with gzip.open(asked.posts) if asked.posts.endswith(".gz") else Path(asked.posts).open("rb") as lines:
        texts = [json.loads(line)["text"] for line in islice(lines, asked.most)]
    for name, numbers in measure(texts, asked.config, asked.senders, asked.batch, asked.few).items():
        print(f"{name}: {', '.join(f'{what} {number:,.3f}' for what, number in numbers.items())}")


if __name__ == "__main__":
    main()
