"""How fast a live window decides posts once it is full, what it holds, and how long closing and opening it take.

python -m tests.benchmarks.window POSTS.jsonl[.gz] [--posts 6700000] [--measured 100000] [--store DIR] [-o OUT.json]

The window is filled with the first ``--posts`` of the file, then gets ``--measured`` more, each batch of which pushes
the oldest out; the file has to have as many as both together. A batch is read before its time begins. Memory is what
the process holds more than before the window was opened, its kernels being loaded by then. Closing writes nothing, so
that opening takes as long as after a crash. README.md says more. Prints JSON, with the setting.
"""

import argparse
import json
import sqlite3
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from hybriddup.cli.windows import settle
from hybriddup.window import Window, WindowStats
from hybriddup.window.stores.sqlite_file import FILE
from tests.benchmarks.corpora import SAMPLE_POSTS, read_texts, records_of
from tests.benchmarks.setting import milliseconds, setting
from tests.benchmarks.tools import memory_mb

FILLED_AT_ONCE = 4096
HORIZON = 172_800.0
BEGINNING = 4_102_444_800.0
"""The first second of the year 2100. So a server that goes by the real clock, which stands still until then, finds the
store as full as it was left."""
NOT_MEASURED = 4
"""Batches before the measured ones, after opening a store that was full."""
IN_MEMORY = "memory"


class Clock:
    """A clock that goes on with the posts sent, ``per_horizon`` of them within the horizon."""

    def __init__(self, per_horizon: int) -> None:
        self.n_sent = 0
        self.step = HORIZON / per_horizon

    def __call__(self) -> float:
        """Return the time, in seconds since 1970."""
        return BEGINNING + self.n_sent * self.step

    def go_on_from(self, watermark: float | None) -> None:
        """Go on where the posts of a window end."""
        self.n_sent = 0 if watermark is None else round((watermark - BEGINNING) / self.step)


class Timed(NamedTuple):
    """Batches, and the seconds that each of them took."""

    batch: int
    seconds: list[float]

    def rate(self, share: float = 1.0) -> float:
        """Return the posts a second in the last share of the batches."""
        last = self.seconds[-max(1, int(len(self.seconds) * share)) :]
        return self.batch * len(last) / sum(last)

    def to_dict(self) -> dict[str, Any]:
        """Return rates, and the milliseconds a batch."""
        return {
            "posts": self.batch * len(self.seconds),
            "posts_per_second": round(self.rate()),
            "posts_per_second_in_the_last_tenth": round(self.rate(0.1)),
            "batch": self.batch,
            "ms_a_batch": milliseconds(self.seconds),
        }


def posts_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the posts of a JSON Lines file, with their ids."""
    for number, record in enumerate(records_of(path)):
        yield {"id": record.get("id", number), "text": record["text"]}


def send(window: Window, posts: Iterator[dict[str, Any]], n: int, batch: int, clock: Clock) -> Timed:
    """Give ``n`` posts to the window, or as many more as make whole batches, and return the seconds of each."""
    timed = Timed(batch, [])
    for _ in range(ceil(n / batch)):
        part = list(islice(posts, batch))
        if len(part) < batch:
            raise SystemExit(f"the file ends after {clock.n_sent:,} posts: give one with more, or lower --posts")
        for post in part:
            clock.n_sent += 1
            post["created_at"] = clock()
        began = time.perf_counter()
        window.add_many(part)
        timed.seconds.append(time.perf_counter() - began)
    return timed


def unsent(path: Path, window: Window, clock: Clock) -> Iterator[dict[str, Any]]:
    """Return the posts that the window has not seen yet, and set the clock to where it ends."""
    clock.go_on_from(window.stats().watermark)
    posts = posts_of(path)
    last = deque(islice(posts, clock.n_sent), maxlen=1)
    if last and window.get(last[0]["id"]) is None:
        raise SystemExit(f"the store was filled from another file than {path}, or with another number of --posts")
    return posts


def benchmark(asked: argparse.Namespace, store: Path | None) -> dict[str, Any]:
    """Fill a window if it is not full, measure it, close it, and open it again; None is what was not done."""
    warm_up(asked.config)
    opening = Opening(store, asked.config, asked.workers, Clock(asked.posts))
    clock, resident = opening.clock, memory_mb("VmRSS")
    window, opened_after = opening.open()
    with window:
        found = window.stats()
        posts = unsent(asked.corpus, window, clock)
        n_missing = max(0, asked.posts - clock.n_sent)
        filled = send(window, posts, n_missing, min(FILLED_AT_ONCE, asked.posts), clock)
        settle()  # as `hybriddup serve` and `watch` do
        send(window, posts, NOT_MEASURED * asked.batch, asked.batch, clock)
        full = window.stats()
        measured = send(window, posts, asked.measured, asked.batch, clock)
        after = window.stats()
        held = int((memory_mb("VmRSS") - resident) * 2**20)
        closed_after = seconds_of(window.close)
    return {
        "corpus": asked.corpus.name,
        "config": asked.config,
        "store": "in memory" if store is None else "on disk",
        "opened": {"kept": found.n_kept_in_window, "seconds": opened_after},
        "filled": filled.to_dict() if n_missing else None,
        "measured": measured.to_dict() | difference(full, after),
        "window": {"kept": after.n_kept_in_window, "index": after.index, "limits_hit": dict(after.limits_hit)},
        "memory": memory_of(after, held),
        "closed_after_s": closed_after,
        "opened_again_after_s": None if store is None else opening.again(after),
        "opened_read_only_after_s": None if store is None else opening.again(after, read_only=True),
        "opened_from_posts_after_s": opening.from_posts(after) if asked.from_posts and store else None,
        "setting": setting(),
    }


@dataclass(frozen=True)
class Opening:
    """How the window is opened."""

    store: Path | None
    config: str
    workers: int | None
    clock: Clock

    def open(self, *, read_only: bool = False) -> tuple[Window, float]:
        """Return the window, and the seconds that opening it took."""
        began = time.perf_counter()
        fixed: dict[str, Any] = {"horizon": HORIZON, "time": "event", "clock": self.clock}
        window = Window.open(self.store, self.config, workers=self.workers, read_only=read_only, **fixed)
        return window, round(time.perf_counter() - began, 2)

    def again(self, closed: WindowStats, *, read_only: bool = False) -> float:
        """Return the seconds that opening takes, having made sure that the window holds what it held."""
        window, seconds = self.open(read_only=read_only)
        n_kept = window.stats().n_kept_in_window
        window.close()
        if n_kept != closed.n_kept_in_window:
            raise SystemExit(f"opened again, the window holds {n_kept:,} kept posts, not {closed.n_kept_in_window:,}")
        return seconds

    def from_posts(self, closed: WindowStats) -> float:
        """Return the same if all is derived from the posts."""
        assert self.store is not None
        with closing(sqlite3.connect(self.store / FILE, isolation_level=None)) as connection:
            connection.execute("UPDATE batches SET made_with = '', records = NULL, records_checksum = NULL")
        return self.again(closed)


def warm_up(config: str) -> None:
    """Have the kernels compiled and loaded, so that neither time nor memory of that is measured."""
    with Window.open(None, config) as window:
        texts = read_texts(SAMPLE_POSTS)
        for start in range(0, len(texts), 64):
            window.add_many(texts[start : start + 64])


def seconds_of(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    began = time.perf_counter()
    action()
    return round(time.perf_counter() - began, 2)


def difference(before: WindowStats, after: WindowStats) -> dict[str, Any]:
    """Return what became of the posts between, and the seconds by step, the longest first."""
    counts = {name: getattr(after, f"n_{name}") - getattr(before, f"n_{name}") for name in ("kept", "exact", "near")}
    seconds = Counter(after.seconds)
    seconds.subtract(before.seconds)  # type: ignore[arg-type]  # floats subtract as well
    steps = {step: round(value, 2) for step, value in seconds.most_common()}
    return {**counts, "expired": after.n_expired - before.n_expired, "seconds": steps}


def memory_of(stats: WindowStats, held: int) -> dict[str, Any]:
    """Return bytes in memory and on disk, and over the kept posts of the window."""
    sizes = {"resident": held, "index": stats.index_bytes, "store": stats.store_bytes}
    n_kept = max(1, stats.n_kept_in_window)
    return {f"{name}_mb": round(size / 1e6) for name, size in sizes.items()} | {
        f"{name}_bytes_a_kept_post": round(size / n_kept) for name, size in sizes.items()
    }


def main(arguments: list[str] | None = None) -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--posts", type=int, default=6_700_000, help="within the horizon, kept and duplicate")
    parser.add_argument("--measured", type=int, default=100_000, help="posts after these")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--store", help=f"directory that stays; {IN_MEMORY} for none; default: a temporary one")
    parser.add_argument("--config", default="weibo")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--from-posts", action="store_true", help="open the window from the posts alone, too")
    parser.add_argument("-o", "--output", type=Path, help="results as JSON")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        store = None if asked.store == IN_MEMORY else Path(asked.store or f"{folder}/window")
        report = json.dumps(benchmark(asked, store), ensure_ascii=False, indent=1)
    print(report)
    if asked.output is not None:
        asked.output.write_text(report + "\n", "utf-8")


if __name__ == "__main__":
    main()
