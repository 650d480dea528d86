"""Measures windows in HBase on posts of one's own, beside what the articles do: four scans and four puts a post.

    export PYTHONPATH=tests
    python plugins/hybriddup-hbase/tests/measure.py posts.jsonl --senders 2 --batch 256 --config weibo

HBase is started here, with one region server, unless --server says which Thrift server is asked; the windows that are
made there stay. The servers, the senders and the peer share this machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import happybase
from plugin_support.rates import Rate, measure_callers, measure_senders
from servers import serving

import hybriddup

FLAGS = b"abcd"
"""Of the four tables of the articles."""
MOST_APART = 3


def measure_articles(port: int, texts: list[str]) -> Rate:
    """Return the rate of four scans of a prefix and four puts a post, one post after another."""
    bits = [int(row[0]) for row in hybriddup.fingerprint(texts, config="articles")]
    connection = happybase.Connection("127.0.0.1", port)
    connection.create_table("articles", {"d": {"bloom_filter_type": "ROW"}})
    table, seconds, n_kept = connection.table("articles"), [], 0
    for own in bits:
        began = time.perf_counter()
        rows = [b"%04x" % (own >> 16 * number & 0xFFFF) + FLAGS[number : number + 1] for number in range(4)]
        met = [int.from_bytes(key[5:], "big") for row in rows for key, _ in table.scan(row_prefix=row)]
        if all((own ^ other).bit_count() > MOST_APART for other in met):
            n_kept += 1
            for row in rows:
                table.put(row + own.to_bytes(8, "big"), {b"d:": b"1"})
        seconds.append(time.perf_counter() - began)
    connection.close()
    return Rate(len(bits) / sum(seconds), sorted(seconds)[len(seconds) * 99 // 100], n_kept)


@contextmanager
def thrift_port(server: int | None, heap: str) -> Iterator[int]:
    """Yield the port of a Thrift server, whose HBase is started unless there is one."""
    if server is not None:
        yield server
        return
    with TemporaryDirectory() as folder, serving(Path(folder), heap=heap) as servers:
        yield servers.port


def measure(port: int, texts: list[str], config: str, n_senders: int, size: int, n_few: int) -> dict[str, Rate]:
    """Return all measurements, each in a new window; of callers and of the articles with the first few posts."""

    def window(name: str) -> str:
        return f"hbase://127.0.0.1:{port}/{name}-{uuid.uuid4().hex[:8]}"

    return {
        f"{n_senders} senders": measure_senders(window("senders"), config, texts, n_senders, size),
        "one sender": measure_senders(window("sender"), config, texts, 1, size),
        "one post a call": measure_callers(window("callers"), config, texts[:n_few]),
        "articles": measure_articles(port, texts[:n_few]),
    }


def main() -> None:
    """Measure as asked, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts")
    parser.add_argument("--senders", type=int, default=2)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--config", default="weibo")
    parser.add_argument("--most", type=int, default=40_000, help="posts that are read")
    parser.add_argument("--few", type=int, default=2_000, help="of these for single calls and the articles")
    parser.add_argument("--server", type=int, help="the port of a Thrift server on this machine")
    parser.add_argument("--heap", default="4g", help="memory of the region server that is started")
    asked = parser.parse_args()
    with gzip.open(asked.posts) if asked.posts.endswith(".gz") else Path(asked.posts).open("rb") as lines:
        texts = [json.loads(line)["text"] for line in islice(lines, asked.most)]
    with thrift_port(asked.server, asked.heap) as port:
        for name, rate in measure(port, texts, asked.config, asked.senders, asked.batch, asked.few).items():
            print(f"{name}: {rate.per_second:,.0f} posts a second, 99 % in {rate.slowest:.3f} s, {rate.n_kept:,} kept")


if __name__ == "__main__":
    main()
