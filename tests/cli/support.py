"""What the tests of the command line share: texts that repeat, files of posts, and the outcome of a command."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

REPEATED = "你妈妈喊你回家吃饭哦，回家罗回家罗"
NEARLY = "你妈妈叫你回家吃饭啦，回家罗回家罗"
OTHER = "明天下雨吗，要不要带伞出门"


class Ran(NamedTuple):
    """The outcome of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


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


def read_objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())
