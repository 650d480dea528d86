"""A run on a cluster with two executors. Prints what goes, as JSON: id to keeper.

python decide_on_cluster.py MASTER POSTS.jsonl RECIPE [--lose-one]

A master ``connect:local[1]`` is a server of Spark Connect on this machine.

With ``--lose-one``, one executor is killed behind the first round; both must be started by this process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from threading import Timer

import pyarrow as pa
from hybriddup_spark import dedupe
from pyspark.sql import SparkSession

from hybriddup.run.recipe import load_recipe

SECONDS_BEHIND = 1.0
EXECUTOR = b"CoarseGrainedExecutorBackend"


def executors() -> list[int]:
    """Return the process ids of the executors that this process has started, by way of others."""
    own = {os.getpid()}
    parents = {int(path.name): parent_of(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
    for _ in range(8):
        own |= {child for child, parent in parents.items() if parent in own}
    return [process for process in sorted(own) if EXECUTOR in Path(f"/proc/{process}/cmdline").read_bytes()]


def parent_of(process: Path) -> int:
    """Return the parent of a process, 0 where it has ended."""
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def connected(master: str) -> SparkSession:
    """Return a session with a server of Spark Connect."""
    return SparkSession.builder.remote(master.removeprefix("connect:")).getOrCreate()


def session_at(master: str) -> SparkSession:
    """Return a session with two executors."""
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.executor.memory", "1g")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def main(master: str, posts: str, recipe: str, *options: str) -> None:
    """Run, and print."""
    session = connected(master) if master.startswith("connect:") else session_at(master)
    read = [json.loads(line) for line in Path(posts).read_text(encoding="utf-8").splitlines()]
    frame = session.createDataFrame(
        pa.table({"id": list(range(len(read))), "text": [one["text"] for one in read]})
    ).repartition(4)
    killed: list[int] = []

    def after_round(_: int) -> None:
        if options and not killed:
            running = executors()
            assert len(running) == 2, running
            killed.append(running[0])
            Timer(SECONDS_BEHIND, os.kill, (running[0], signal.SIGKILL)).start()

    with tempfile.TemporaryDirectory() as work:
        learned = load_recipe(recipe)
        result = dedupe(frame, order_by="id", recipe=learned, work=work, posts_per_round=200, advance=after_round)
        removed = {str(row["id"]): row["duplicate_of"] for row in result.removed.toArrow().to_pylist()}
    assert len(killed) == len(options)
    assert not set(killed) & set(executors())
    print(json.dumps(removed))


if __name__ == "__main__":
    main(*sys.argv[1:])
