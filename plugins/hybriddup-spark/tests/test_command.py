"""`hybriddup spark dedupe` as its users run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from conftest import OLDEST_JAVA, java_version
from plugin_support.services import PROGRAM

README = Path(__file__).parents[1] / "README.md"
SAMPLES = Path(__file__).parents[3] / "tests" / "samples" / "posts.jsonl"


def spark(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [*PROGRAM, "spark", "dedupe", *map(str, arguments)]
    with_more = os.environ | environment
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, env=with_more)


@pytest.mark.skipif(java_version() < OLDEST_JAVA, reason="Spark needs Java 17 or newer")
def test_files_are_decided(tmp_path: Path) -> None:
    """Kept and removed posts are written once; a second run into the same directory is refused."""
    output = tmp_path / "decided"
    done = spark(SAMPLES, "-o", output, "--order-by", "id", "--work", tmp_path / "work")
    assert done.returncode == 0, done.stderr
    assert "Removed 1" in done.stderr
    summary = json.loads(next((output / "summary").glob("part-*")).read_text(encoding="utf-8"))
    kept, removed = (pq.read_table(output / name) for name in ("kept", "removed"))
    assert (len(kept), len(removed)) == (summary["n_kept"], summary["n_exact"] + summary["n_near"])
    assert len(kept) + len(removed) == len(SAMPLES.read_text(encoding="utf-8").splitlines())
    again = spark(SAMPLES, "-o", output, "--order-by", "id")
    assert again.returncode == 2
    assert "exists already" in again.stderr


@pytest.mark.skipif(java_version() < OLDEST_JAVA, reason="Spark needs Java 17 or newer")
def test_bad_records_are_counted_and_written(tmp_path: Path) -> None:
    """A line that is no record, a null, and a post with the id of another one; the others are decided. No post stays
    behind among the temporary files.
    """
    lines = [
        '{"id": 1, "text": "good morning, everybody"}',
        '{"id": 2, "text": nothing}',
        '{"id": 3, "text": null}',
        '{"id": 4, "text": "what is for lunch today?"}',
        '{"id": 4, "text": "good morning everybody!"}',
    ]
    (tmp_path / "posts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    output, temporary = tmp_path / "decided", tmp_path / "temporary"
    temporary.mkdir()
    options = ["-o", output, "--order-by", "id", "--config", "twitter"]
    done = spark(tmp_path / "posts.jsonl", *options, TMPDIR=str(temporary))
    assert done.returncode == 0, done.stderr
    assert not list(temporary.glob("hybriddup-*"))
    assert "2 records had no text, or could not be read." in done.stderr
    assert "1 post has the id of another one" in done.stderr
    bad = pq.read_table(output / "bad").to_pylist()
    assert sorted((row["id"] or 0, row["_corrupt_record"]) for row in bad) == [(0, lines[1]), (3, None)]
    summary = json.loads(next((output / "summary").glob("part-*")).read_text(encoding="utf-8"))
    assert (summary["n_read"], summary["n_bad"], summary["n_repeated_ids"], summary["n_near"]) == (3, 2, 1, 1)
    assert summary["n_tasks"] > 0
    assert summary["n_bytes_moved"] > 0


@pytest.mark.skipif(java_version() < OLDEST_JAVA, reason="Spark needs Java 17 or newer")
def test_files_are_compared_with_posts_that_were_kept_earlier(tmp_path: Path) -> None:
    """With the posts that another run kept, in another format."""
    pq.write_table(pa.table({"id": [1, 2], "text": ["good morning, everybody", "see you"]}), tmp_path / "old.parquet")
    (tmp_path / "new.jsonl").write_text('{"id": 3, "text": "good morning everybody!"}\n', encoding="utf-8")
    options = ["--against", tmp_path / "old.parquet", "-o", tmp_path / "out", "--order-by", "id"]
    options += ["--report", tmp_path / "report.html"]
    done = spark(tmp_path / "new.jsonl", *options, "--config", "twitter")
    assert done.returncode == 0, done.stderr
    assert "1 near; 1 of them repeat posts of --against" in done.stderr
    (removed,) = pq.read_table(tmp_path / "out" / "removed").to_pylist()
    assert (removed["id"], removed["duplicate_of"], removed["keeper_source"]) == (3, 1, "against")
    assert "good morning" in (tmp_path / "report.html").read_text(encoding="utf-8")
    same = spark(tmp_path / "new.jsonl", "--against", tmp_path / "new.jsonl", "-o", tmp_path / "x", "--order-by", "id")
    assert same.returncode == 2
    assert "is also an input" in same.stderr


@pytest.mark.skipif(java_version() < OLDEST_JAVA, reason="Spark needs Java 17 or newer")
def test_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    """A file that is not there, and a name that tells no format."""
    missing = spark(tmp_path / "no.parquet", "-o", tmp_path / "out", "--order-by", "id")
    assert missing.returncode == 2
    assert "PATH_NOT_FOUND" in missing.stderr
    assert "Traceback" not in missing.stderr
    unnamed = spark(SAMPLES, "-o", tmp_path / "out")
    assert unnamed.returncode == 2
    assert "--order-by: name the column" in unnamed.stderr


@pytest.mark.skipif(java_version() < OLDEST_JAVA, reason="Spark needs Java 17 or newer")
def test_spark_submit_runs_the_command(tmp_path: Path) -> None:
    """By the file that the README names, with settings of Spark: here one that tells fields apart by their case."""
    lines = ['{"id": 1, "text": "good morning", "Text": "a"}', '{"id": 2, "text": "good morning", "Text": "b"}']
    (tmp_path / "posts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = re.search(r"spark-submit --master [^`]*python -c '(.*?)'", README.read_text(encoding="utf-8"))
    assert found
    file = subprocess.run([sys.executable, "-c", found[1]], capture_output=True, text=True, check=True).stdout.strip()
    program = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--conf", "spark.sql.caseSensitive=true"]
    arguments = ["spark", "dedupe", str(tmp_path / "posts.jsonl"), "-o", str(tmp_path / "out"), "--order-by", "id"]
    settings = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    command = [*program, file, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, env=settings)
    assert done.returncode == 0, done.stderr
    assert [row["Text"] for row in pq.read_table(tmp_path / "out" / "kept").to_pylist()] == ["a"]


def test_the_help_teaches() -> None:
    """Without Java."""
    done = spark("--help")
    assert done.returncode == 0
    assert "spark-submit" in done.stdout
