"""Measures windows in Redis on posts of one's own, beside datasketch on the same server where it is installed.

    python plugins/hybriddup-redis/tests/measure.py posts.jsonl --senders 2 --batch 256 --config weibo

The server, the senders and the peer share this machine. Rates are of all senders together, from when each has sent a
first post; the time of a batch is what 99 of a hundred take at most.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from servers import Server, serving

import hybriddup

PROCESSES = multiprocessing.get_context("spawn")


class Sent(NamedTuple):
    """What came of the posts of one sender."""

    n_kept: int
    seconds: list[float]
    """Of each batch."""


def send(address: str, config: str, texts: list[str], size: int, ready: Any) -> Sent:
    """Send posts in batches, when all senders are ready."""
    with hybriddup.Window.open(address, config=config, workers=1) as window:
        window.match("kernels are loaded")
        ready.wait()
        seconds, n_kept = [], 0
        for first in range(0, len(texts), size):
            began = time.perf_counter()
            n_kept += sum(one.kept for one in window.add_many(texts[first : first + size]))
            seconds.append(time.perf_counter() - began)
    return Sent(n_kept, seconds)


def send_to(queue: Any, *arguments: Any) -> None:
    """Send posts and tell what came of them."""
    queue.put(send(*arguments))


def measure_senders(server: Server, config: str, texts: list[str], n_senders: int, size: int) -> dict[str, float]:
    """Return the rate of several processes, how long batches took, and the memory of a kept post."""
    queue: Any = PROCESSES.Queue()
    ready = PROCESSES.Barrier(n_senders + 1)
    before = used_memory(server)
    shares = [texts[number::n_senders] for number in range(n_senders)]
    made = [(queue, server.url(), config, share, size, ready) for share in shares]
    senders = [PROCESSES.Process(target=send_to, args=arguments) for arguments in made]
    for sender in senders:
        sender.start()
    ready.wait()
    began = time.perf_counter()
    sent = [queue.get() for _ in senders]
    rate = len(texts) / (time.perf_counter() - began)
    n_kept = sum(one.n_kept for one in sent)
    slowest = float(np.percentile([second for one in sent for second in one.seconds], 99))
    memory = (used_memory(server) - before) / max(n_kept, 1)
    return {"posts a second": rate, "kept": n_kept, "99 % of batches, seconds": slowest, "bytes a kept post": memory}


def measure_callers(server: Server, config: str, texts: list[str], n_callers: int = 16) -> dict[str, float]:
    """Return the rate of threads of one process that send one post a call, and how long calls took."""
    seconds: list[float] = []

    def call(share: list[str]) -> None:
        for text in share:
            began = time.perf_counter()
            window.add(text)
            seconds.append(time.perf_counter() - began)

    with hybriddup.Window.open(server.url("callers"), config=config) as window:
        window.match("kernels are loaded")
        threads = [Thread(target=call, args=(texts[number::n_callers],)) for number in range(n_callers)]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = len(texts) / (time.perf_counter() - began)
    return {"posts a second": rate, "99 % of calls, seconds": float(np.percentile(seconds, 99))}


def measure_peer(server: Server, texts: list[str]) -> dict[str, float]:
    """Return the rates of datasketch's MinHashLSH: looking each post up and inserting it, and inserting alone."""
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
    rates = {"both, posts a second": 1 / (inserted + looked_up), "inserting alone": 1 / inserted}
    return rates | {"bytes a post": memory}


def used_memory(server: Server) -> int:
    """Return the bytes that the server has in use."""
    with server.client() as client:
        return int(client.info("memory")["used_memory"])


def measure(texts: list[str], config: str, n_senders: int, size: int, n_few: int) -> dict[str, dict[str, float]]:
    """Return all measurements, each on a new server; of callers and of the peer with the first few posts."""
    found = {}
    with TemporaryDirectory() as folder:
        for name, ask in {
            f"{n_senders} senders": lambda server: measure_senders(server, config, texts, n_senders, size),
            "one sender": lambda server: measure_senders(server, config, texts, 1, size),
            "one post a call": lambda server: measure_callers(server, config, texts[:n_few]),
            "datasketch": lambda server: measure_peer(server, texts[:n_few]),
        }.items():
            with serving(Path(folder) / name.replace(" ", "_")) as server:
                try:
                    found[name] = ask(server)
                except ImportError:
                    print(f"{name} is not installed")
    return found


def main() -> None:
    """Measure as asked, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts")
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
