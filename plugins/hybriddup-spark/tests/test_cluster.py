"""Executors in processes of their own, one of which is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import OLDEST_JAVA, java_version

import hybriddup

SCRIPT = Path(__file__).parent / "lose_an_executor.py"
SAMPLES = Path(__file__).parents[3] / "tests" / "samples" / "posts.jsonl"


@pytest.mark.skipif(java_version() < OLDEST_JAVA, reason="Spark needs Java 17 or newer")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="executors are found in /proc")
def test_a_lost_executor_changes_nothing(tmp_path: Path) -> None:
    """Killed in the middle of a round, of two: what it had done is done again."""
    posts = [json.loads(line)["text"] for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    hybriddup.learn(posts, tmp_path / "a.recipe")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(tmp_path / "workers")}
    command = [sys.executable, str(SCRIPT), str(SAMPLES), str(tmp_path / "a.recipe")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    run = hybriddup.dedupe(posts, config={"recipe": str(tmp_path / "a.recipe")})
    assert json.loads(done.stdout.splitlines()[-1]) == {str(one.row): one.keeper_row for one in run.removed}
