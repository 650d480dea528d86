"""Whatever byte of a store is damaged: the window answers as before, or says what is wrong."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybriddup.errors import StoreError
from hybriddup.window import Window
from tests.window.reference_window import CONFIG
from tests.window.stores import FILE

N_DAMAGES = int(os.environ.get("HYBRIDDUP_DAMAGES", "24"))
N_POSTS = 300


def text_of(number: int) -> str:
    """The text of a post: each third is another of the posts before with a letter changed."""
    random = Random(number)  # noqa: S311
    if number % 3 == 2:
        text = text_of(random.randrange(number))
        place = random.randrange(len(text))
        return text[:place] + "x" + text[place + 1 :]
    return "".join(random.choices("ABCDefghijklmno", k=24))


def answers(store: Path) -> list[Any]:
    """What a window says of its posts, and decides of others that repeat them; StoreError if it finds damage."""
    with Window.open(store, CONFIG | {"normalizer": {"use": "microblog"}}, clock=lambda: 1e9) as window:
        stored = [window.get(number) for number in range(N_POSTS)]
        found = [window.match(text_of(number)) for number in range(0, N_POSTS, 7)]
        decided = window.add_many([{"id": f"again {n}", "text": f"{text_of(n)}!"} for n in range(N_POSTS)])
        return [stored, found, decided, window.stats().n_kept_in_window]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with batches of several sizes, merged ones, a deleted post, and posts in SQLite's log."""
    made = tmp_path_factory.mktemp("whole")
    with Window.open(made / "open", CONFIG | {"normalizer": {"use": "microblog"}}, clock=lambda: 1e9) as window:
        posts = [{"id": number, "text": text_of(number)} for number in range(N_POSTS)]
        for number in range(100):
            window.add(posts[number])
        window.add_many(posts[100:200])
        window.delete(50)
    with Window.open(made / "open", CONFIG | {"normalizer": {"use": "microblog"}}, clock=lambda: 1e9) as window:
        window.add_many(posts[200:250])
        window.add_many(posts[250:])
        shutil.copytree(made / "open", made / "store")
    return made / "store"


@pytest.fixture(scope="module")
def expected(whole: Path) -> Any:
    return answers(Path(shutil.copytree(whole, whole.with_name("expected"))))


def damaged(content: bytes, random: Random) -> bytes:
    """The bytes of a file with a bit flipped, or with a part of another page, of zeros or of noise."""
    place = random.randrange(len(content))
    n = random.choice([1, 1, 1, 8, 200, 4096])
    other = random.randrange(len(content))
    part = random.choice(
        [bytes([content[place] ^ 1 << random.randrange(8)]), bytes(n), random.randbytes(n), content[other : other + n]]
    )
    return (content[:place] + part + content[place + len(part) :])[: len(content)]


@pytest.mark.parametrize("n", [3, pytest.param(N_DAMAGES, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [FILE, f"{FILE}-wal", f"{FILE}-shm", "writer.lock"])
def test_damage_is_an_error_or_changes_no_answer(
    whole: Path, expected: Any, tmp_path: Path, name: str, n: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Of SQLite's log, posts may be lost that only it has; then the window says so."""
    content, n_errors = (whole / name).read_bytes(), 0
    for seed in range(n):
        store = Path(shutil.copytree(whole, tmp_path / str(seed)))
        (store / name).write_bytes(damaged(content, Random(seed)))  # noqa: S311
        caplog.clear()
        try:
            said = answers(store)
        except StoreError:
            n_errors += 1
        else:
            assert said == expected or "has lost acknowledged posts" in caplog.text, seed
        shutil.rmtree(store)
    assert n_errors > 0 or name != FILE or n < N_DAMAGES
