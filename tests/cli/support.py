"""What the tests of the command line share: texts that repeat, files of posts, and the outcome of a command."""

import csv
import json
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.processes import python, run_python

ROOT = Path(__file__).parents[2]

REPEATED = "你妈妈喊你回家吃饭哦，回家罗回家罗"
NEARLY = "你妈妈叫你回家吃饭啦，回家罗回家罗"
OTHER = "明天下雨吗，要不要带伞出门"


class Ran(NamedTuple):
    """The outcome of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]
Start = Callable[..., Any]
"""Starts a program; returns its process."""


def distinct_texts(n: int) -> list[str]:
    """Return texts of 40 letters, no two alike."""
    letters = random.Random(0)  # noqa: S311  texts, not secrets
    return ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=40)) for _ in range(n)]


def jsonl(*records: Any) -> str:
    """Return records as JSON Lines; bare text becomes a record with this text."""
    objects = ({"text": record} if isinstance(record, str) else record for record in records)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in objects)


def write_posts(path: Path, *records: Any) -> str:
    """Write records as JSON Lines and return the name of the file."""
    path.write_text(jsonl(*records), encoding="utf-8")
    return path.name


def write_table(path: Path, posts: list[dict[str, Any]]) -> str:
    """Write posts in the format that the name says."""
    if path.suffix == ".parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(posts), path, row_group_size=2)
    elif path.suffix == ".jsonl":
        write_posts(path, *posts)
    else:
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(posts[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(posts)
    return path.name


def read_objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def failed(run: Run, *arguments: str) -> str:
    """Run a command that must fail with exit code 2, write nothing and show no traceback; return its message."""
    before = contents(Path())
    ran = run(*arguments)
    assert (ran.code, ran.out, contents(Path())) == (2, "", before)
    assert "Traceback" not in ran.err
    return ran.err


def contents(directory: Path) -> dict[str, bytes]:
    """Every file in a directory with its bytes, and every directory without any, but for what Python compiled."""
    paths = [path for path in directory.rglob("*") if "__pycache__" not in path.parts]
    return {str(path): b"" if path.is_dir() else path.read_bytes() for path in paths}


def run_at_terminal(*arguments: str, columns: int, directory: Path | None = None) -> str:
    """Return what the program shows at a terminal of this width, with its control sequences."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": str(columns)}
    command = [*python(), "-m", "hybriddup", *arguments]
    process = subprocess.Popen(command, cwd=directory, env=environment, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    chunks = []
    try:
        while chunk := os.read(master, 65536):
            chunks.append(chunk)
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(master)
    assert process.wait(60) == 0
    return b"".join(chunks).decode()


LOADED = """
import sys
from hybriddup.__main__ import main
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
print(*sys.modules)
"""


def modules_loaded_by(*arguments: str) -> set[str]:
    """Return the names of all modules that a command has imported when it ends."""
    ran = run_python("-c", LOADED, *arguments, HYBRIDDUP_DISABLE_PLUGINS="")
    return set(ran.stdout.splitlines()[-1].split())
