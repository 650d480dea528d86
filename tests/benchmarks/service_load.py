"""How many requests and posts a second `hybriddup serve` decides, and how long a client waits.

python -m tests.benchmarks.service_load --base FILE [--window 300000] [--seconds 20] [--connections 64] [--batch 256]
python -m tests.benchmarks.service_load --corpus FILE --store DIR --window 6900000

README.md says how. The client runs in a process of its own on the same machine, and speaks HTTP/1.1 over plain asyncio
(with uvloop where it is there); what it costs is part of what is measured. First each request has one post, then
``--batch`` posts over an eighth of the connections. Prints one line of JSON for each part, with the setting.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from hybriddup.window import Window
from tests.benchmarks.corpora import SAMPLE_POSTS, generate, read_texts, records_of
from tests.benchmarks.setting import milliseconds, setting
from tests.plugin_support.services import ask, running_service

N_NEW = 200_000
"""New posts that the client has at hand; then it begins again, with other ids and ends of text."""
FILLED_AT_ONCE = 4096
HEAD = b"POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "


class Load(NamedTuple):
    """What the client measured."""

    requests: int
    posts: int
    """Those of the requests that were not refused."""
    seconds: float
    errors: int
    latencies: list[float]

    def to_dict(self) -> dict[str, Any]:
        """Return the rates, and the milliseconds that requests took."""
        return {
            "requests_per_second": round(self.requests / self.seconds),
            "posts_per_second": round(self.posts / self.seconds),
            "ms": milliseconds(self.latencies),
            "errors": self.errors,
        }


class Client:
    """Sends posts over several connections until the time is over."""

    def __init__(self, address: str, texts: Sequence[str], batch: int) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname, parts.port
        self.texts = texts
        self.batch = batch
        # ids of an earlier run on the same store would get the answers of then
        self.run_id = f"{time.time_ns():x}"
        self.n_made = self.errors = self.requests = 0
        self.latencies: list[float] = []
        self.counts_from = self.ends_at = 0.0

    def request(self) -> bytes:
        """Return the next request."""
        first, self.n_made = self.n_made, self.n_made + self.batch
        posts = [{"id": f"{self.run_id}-{n}", "text": self.text(n)} for n in range(first, self.n_made)]
        body = orjson.dumps(posts if self.batch > 1 else posts[0])
        return HEAD + str(len(body)).encode() + b"\r\n\r\n" + body

    def text(self, n: int) -> str:
        """Return the text of a post; those of a second turn differ from those of the first."""
        turn, place = divmod(n, len(self.texts))
        return self.texts[place] + (f" {turn}" * 5 if turn else "")

    async def connection(self) -> None:
        """Send one request after another until the time is over and there is an answer."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        request = self.request()
        while (began := time.perf_counter()) < self.ends_at or not self.latencies:
            head = await answer_to(request, reader, writer)
            if is_good := head.startswith(b"http/1.1 200"):
                request = self.request()
            self.note(began, is_good=is_good)
            if not head or b"connection: close" in head:
                writer.close()
                reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.close()

    def note(self, began: float, *, is_good: bool) -> None:
        """Count an answer, unless it belongs to the warm-up."""
        if began < self.counts_from:
            return
        self.requests += 1
        self.errors += not is_good
        self.latencies.append(time.perf_counter() - began)

    async def run(self, connections: int, warm_up: float, seconds: float) -> Load:
        """Return what was measured after the warm-up."""
        self.counts_from = time.perf_counter() + warm_up
        self.ends_at = self.counts_from + seconds
        await asyncio.gather(*(self.connection() for _ in range(connections)))
        spent = time.perf_counter() - self.counts_from
        return Load(self.requests, (self.requests - self.errors) * self.batch, spent, self.errors, self.latencies)


async def answer_to(request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Return the head of an answer, in lower case, without its body; nothing where the connection was cut off."""
    try:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r", 1)[0]))
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""
    return head


def measure(address: str, texts: Sequence[str], batch: int, connections: int, warm_up: float, seconds: float) -> Load:
    """Return what a client measures; to be called in a process of its own."""
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    return run(Client(address, texts, batch).run(connections, warm_up, seconds))


def fill(store: Path, texts: Iterator[str], n: int, config: str) -> None:
    """Fill a store with ``n`` posts; go past them where there is one."""
    if store.exists():
        deque(islice(texts, n), maxlen=0)
        return
    with Window.open(store, config) as window:
        while n > 0 and (part := list(islice(texts, min(n, FILLED_AT_ONCE)))):
            window.add_many(part)
            n -= len(part)


def benchmark(store: Path, texts: Iterator[str], asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the measurements of each part."""
    fill(store, texts, asked.window, asked.config)
    new = list(islice(texts, N_NEW))
    if len(new) < 2:
        raise SystemExit(f"the corpus has no posts after the first {asked.window:,}, so there are no new ones to send")
    began = time.perf_counter()
    with running_service(str(store), "--config", asked.config) as address:
        seconds = round(time.perf_counter() - began, 1)
        _, stats = ask(f"{address}/v1/stats")
        fixed = {"config": asked.config, "kept_in_window": stats["n_kept_in_window"], "ready_after_s": seconds}
        for batch, connections, part in parts_of(new, asked):
            with get_context("spawn").Pool(1) as pool:
                load = pool.apply(measure, (address, part, batch, connections, asked.warm_up, asked.seconds))
            yield {"posts_a_request": batch, "connections": connections, **load.to_dict(), **fixed, **setting()}


def parts_of(new: list[str], asked: argparse.Namespace) -> list[tuple[int, int, list[str]]]:
    """Return what to measure: posts a request, connections, and the texts to send."""
    if not asked.eager:
        half = len(new) // 2
        return [(1, asked.connections, new[:half]), (asked.batch, max(1, asked.connections // 8), new[half:])]
    shapes = [tuple(map(int, shape.split("x"))) for shape in asked.eager.split(",")]
    share = len(new) // len(shapes)
    return [(batch, connections, new[n * share : (n + 1) * share]) for n, (connections, batch) in enumerate(shapes)]


def main(arguments: list[str] | None = None) -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", type=Path, default=SAMPLE_POSTS, help="posts that a stream is made from")
    parser.add_argument("--corpus", type=Path, help="posts to fill with and to send, in this order, instead")
    parser.add_argument("--window", type=int, default=300_000, help="posts in the store before measuring, kept or not")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each part")
    parser.add_argument("--warm-up", type=float, default=2.0, help="seconds before each part that are not measured")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--batch", type=int, default=256, help="posts a request in the second part")
    parser.add_argument("--eager", help="connections x posts a request, several with commas, instead of both parts")
    parser.add_argument("--config", default="weibo")
    parser.add_argument("--store", type=Path, help="a store that stays; default: a temporary one")
    asked = parser.parse_args(arguments)
    if asked.corpus:
        texts = (record["text"] for record in records_of(asked.corpus))
    else:
        stream = generate("stream", asked.window + N_NEW, read_texts(asked.base))
        texts = (post.text for post in stream)
    with tempfile.TemporaryDirectory() as folder:
        for result in benchmark(asked.store or Path(folder) / "window", texts, asked):
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
