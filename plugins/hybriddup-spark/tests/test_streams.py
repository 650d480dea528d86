"""Data that come as a stream: the example of README.md, with a window in a real Redis that executors share."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import hybriddup

README = Path(__file__).parents[1] / "README.md"
SAMPLES = Path(__file__).parents[3] / "tests" / "samples" / "posts.jsonl"
PROGRAM = shutil.which("redis-server")


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """The address of a Redis that answers."""
    if PROGRAM is None:
        pytest.skip("no redis-server is installed (Debian: apt-get install redis-server)")
    pytest.importorskip("hybriddup_redis", reason="hybriddup-redis is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [PROGRAM, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path), "--appendonly", "yes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert any("Ready to accept connections" in line for line in process.stdout or ())
        yield f"redis://127.0.0.1:{port}/0?window=stream"
        process.terminate()


def test_a_stream_is_decided_by_a_shared_window(session: SparkSession, redis: str, tmp_path: Path) -> None:
    """No two posts that were kept match, whichever executor decided; a batch that comes again gets the same answers."""
    posts = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    for number in range(3):
        lines = [json.dumps({"id": post["id"], "text": post["text"]}) for post in posts[number::3]]
        (incoming / f"{number}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = re.search(r"```python\n(import hybriddup\n.*?foreachBatch.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert found is not None
    names = {"spark": session, "STORE": redis, "INCOMING": str(incoming), "OUTPUT": str(tmp_path / "out")}
    exec(found[1], names)  # noqa: S102  our own example
    query = names["query"]
    assert query.awaitTermination(200)
    kept = session.read.json(str(tmp_path / "out" / "*" / "*.json")).toArrow().to_pylist()
    with hybriddup.Window.open(redis) as window:
        answers = {decision.id: decision.decision for decision in window.add_many(posts)}
    assert sorted(one["id"] for one in kept) == sorted(one for one, answer in answers.items() if answer == "kept")
    assert 200 < len(kept) < len(posts)
