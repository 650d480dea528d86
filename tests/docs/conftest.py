"""A directory in which the commands of README.md run as they are written."""

import gzip
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, block_with
from tests.processes import python

Shell = Callable[[str], subprocess.CompletedProcess[str]]
SAMPLES = ROOT / "tests" / "samples"
TABLE = "id,body\n1,the early train was late again\n2,the early train was late again!\n3,what is for lunch today?\n"

PLUGINS = (
    ("five_grams", "def five_grams", "five_grams"),
    ("word_pairs", "class WordPairs", "word_pairs"),
    ("every_role", "def both_ends", "both_ends"),
)
"""File names of the documents' plugins and configurations, and what to know the code and the configuration by."""


def make_workspace(work: Path) -> Path:
    """Make a directory with the files that README.md names: posts, configurations and plugins, as it has them."""
    work.mkdir()
    (work / "tests").symlink_to(ROOT / "tests")
    for name in ("posts.jsonl", "pairs.jsonl"):
        shutil.copy(SAMPLES / name, work)
    with closing(sqlite3.connect(work / "posts.db")) as database, database:
        database.execute("CREATE TABLE posts (id, text)")
        posts = map(json.loads, (work / "posts.jsonl").read_text("utf-8").splitlines())
        database.executemany("INSERT INTO posts VALUES (:id, :text)", ({"id": None} | post for post in posts))
    (work / "monday.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    (work / "tuesday.csv").write_text(TABLE, "utf-8")
    (work / "mine.yaml").write_text(block_with("yaml", "lengths:"), "utf-8")
    for name, marker, component in PLUGINS:
        (work / f"{name}.py").write_text(block_with("python", marker), "utf-8")
        (work / f"{name}.yaml").write_text(block_with("yaml", f"use: {component}"), "utf-8")
    return work


def make_shell(workspace: Path) -> Shell:
    """Return a function that runs a line in bash, where `hybriddup` and `python` are those of this environment."""
    programs = workspace.parent / "bin"
    programs.mkdir()
    hybriddup = [*python(), "-P", "-m", "hybriddup"]  # -P: as when it is installed
    for name, command in (("hybriddup", hybriddup), ("python", python())):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', "utf-8")
        program.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}

    def run(line: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-o", "pipefail", "-c", line]
        return subprocess.run(
            command, cwd=workspace, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
        )

    return run


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a new directory with the files that README.md names."""
    return make_workspace(tmp_path / "work")


@pytest.fixture
def shell(workspace: Path) -> Shell:
    """Return a function that runs a line in that directory."""
    return make_shell(workspace)


def read_ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()]
