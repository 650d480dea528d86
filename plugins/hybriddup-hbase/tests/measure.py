"""Measures windows in HBase on posts of one's own, with buckets and with the classic layout.

    export PYTHONPATH=tests
    python plugins/hybriddup-hbase/tests/measure.py posts.jsonl --senders 2 --batch 256 --config weibo

HBase is started here, with one region server, unless --server says which Thrift server is asked; the windows that are
made there stay. The servers and the senders share this machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import happybase
from plugin_support.classic import SHORT_POSTS
from plugin_support.rates import Rate, measure_callers, measure_senders
from servers import serving

CELL = 24
"""Bytes that HBase stores for a cell in addition to its row, column and value."""


class Held(NamedTuple):
    """What a table holds for a kept post."""

    n_rows: float
    n_bytes: float
    """Uncompressed."""


def held_by(port: int, window: str, n_kept: int) -> Held:
    """Return what the table of a window holds for each kept post, as a plain client sees it."""
    n_rows = n_bytes = 0
    with closing(happybase.Connection("127.0.0.1", port)) as connection:
        for key, row in connection.table(window.rpartition("/")[2]).scan():
            n_rows += 1
            n_bytes += sum(CELL + len(key) + len(column) + len(value) for column, value in row.items())
    return Held(n_rows / n_kept, n_bytes / n_kept)


@contextmanager
def thrift_port(server: int | None, heap: str) -> Iterator[int]:
    """Yield the port of a Thrift server, whose HBase is started unless there is one."""
    if server is not None:
        yield server
        return
    with TemporaryDirectory() as folder, serving(Path(folder), heap=heap) as servers:
        yield servers.port


def measure(
    port: int, texts: list[str], config: str, n_senders: int, size: int, n_few: int
) -> dict[str, tuple[Rate, Held]]:
    """Return all measurements, each in a new window; of callers with the first few posts.

    Those of the classic layout are for ``weibo`` with fingerprints of 64 bits and distance 3.
    """
    found = {}
    for name, rate_of, chosen, some, *arguments in (
        (f"{n_senders} senders", measure_senders, config, texts, n_senders, size),
        (f"{n_senders} senders, classic layout", measure_senders, SHORT_POSTS, texts, n_senders, size),
        ("one sender", measure_senders, config, texts, 1, size),
        ("one sender, classic layout", measure_senders, SHORT_POSTS, texts, 1, size),
        ("one post a call", measure_callers, config, texts[:n_few]),
        ("one post a call, classic layout", measure_callers, SHORT_POSTS, texts[:n_few]),
    ):
        window = f"hbase://127.0.0.1:{port}/measured-{uuid.uuid4().hex[:8]}"
        rate = rate_of(window, chosen, some, *arguments)
        found[name] = rate, held_by(port, window, rate.n_kept)
    return found


def main() -> None:
    """Measure as asked, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts")
    parser.add_argument("--senders", type=int, default=2)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--config", default="weibo")
    parser.add_argument("--most", type=int, default=40_000, help="posts that are read")
    parser.add_argument("--few", type=int, default=2_000, help="of these for single calls")
    parser.add_argument("--server", type=int, help="the port of a Thrift server on this machine")
    parser.add_argument("--heap", default="4g", help="memory of the region server that is started")
    asked = parser.parse_args()
    with gzip.open(asked.posts) if asked.posts.endswith(".gz") else Path(asked.posts).open("rb") as lines:
        texts = [json.loads(line)["text"] for line in islice(lines, asked.most)]
    with thrift_port(asked.server, asked.heap) as port:
        found = measure(port, texts, asked.config, asked.senders, asked.batch, asked.few)
    for name, (rate, held) in found.items():
        print(
            f"{name}: {rate.per_second:,.0f} posts a second, 99 % in {rate.slowest:.3f} s, {rate.n_kept:,} kept; "
            f"{held.n_rows:.1f} rows and {held.n_bytes:,.0f} bytes a kept post"
        )


if __name__ == "__main__":
    main()
