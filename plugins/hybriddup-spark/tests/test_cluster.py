"""Executors in processes of their own: one is lost, and a standalone cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import OLDEST_JAVA, java_version
from servers import standalone_cluster

import hybriddup

SCRIPT = Path(__file__).parent / "decide_on_cluster.py"
SAMPLES = Path(__file__).parents[3] / "tests" / "samples" / "posts.jsonl"
needs_java = pytest.mark.skipif(java_version() < OLDEST_JAVA, reason="Spark needs Java 17 or newer")
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="executors are found in /proc")


def decided_on(master: str, folder: Path, *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return which of the sample posts go for which keepers: on a cluster, and on this machine."""
    posts = [json.loads(line)["text"] for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    recipe = folder / "a.recipe"
    hybriddup.learn(posts, recipe)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(folder / "workers")}
    command = [sys.executable, str(SCRIPT), master, str(SAMPLES), str(recipe), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    run = hybriddup.dedupe(posts, config={"recipe": str(recipe)})
    return json.loads(done.stdout.splitlines()[-1]), {str(one.row): one.keeper_row for one in run.removed}


@needs_java
@needs_proc
def test_a_lost_executor_changes_nothing(tmp_path: Path) -> None:
    """Killed in the middle of a round, of two: what it had done is done again."""
    on_cluster, here = decided_on("local-cluster[2,1,1024]", tmp_path, "--lose-one")
    assert on_cluster == here


@needs_java
def test_a_standalone_cluster_decides_the_same(tmp_path: Path) -> None:
    """A master and two workers of one core."""
    with standalone_cluster(tmp_path, n_workers=2) as master:
        on_cluster, here = decided_on(master, tmp_path)
    assert on_cluster == here


@needs_java
def test_a_session_through_spark_connect_decides_the_same(tmp_path: Path) -> None:
    """A client that only speaks to a server, which has the Java session."""
    pytest.importorskip("grpc", reason="Spark Connect needs pyspark[connect]")
    on_server, here = decided_on("connect:local[2]", tmp_path)
    assert on_server == here
