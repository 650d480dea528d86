"""What opens a window: paths, URLs, plugins; and a window that only looks, beside the process that writes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hybriddup.errors import ConfigError, PluginError, StoreError, WindowError
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.spec import hookimpl
from hybriddup.window import Window
from hybriddup.window.opened import Asked
from tests.window.reference_window import CONFIG

TEXTS = ["a first post about the rain", "quite another one, on bridges", "and a third that names no one"]
WRITER = """
import sys
from hybriddup.window import Window
from tests.window.reference_window import CONFIG

with Window.open(sys.argv[1], CONFIG) as window:
    for line in sys.stdin:
        print(window.add(line.strip()).decision, flush=True)
"""


@pytest.mark.parametrize("form", ["path", "Path", "file://", "file://localhost"])
def test_a_directory_is_opened_by_its_path_or_its_url(tmp_path: Path, form: str) -> None:
    """Whatever characters it has."""
    folder = tmp_path / "über: 100% a" / "b"
    forms: dict[str, Any] = {
        "path": str(folder),
        "Path": folder,
        "file://": folder.as_uri(),
        "file://localhost": folder.as_uri().replace("file://", "file://localhost"),
    }
    with Window.open(forms[form], CONFIG) as window:
        window.add(TEXTS[0])
    assert (folder / "posts.sqlite3").exists()
    with Window.open(folder, CONFIG) as window:
        assert window.add(TEXTS[0]).evidence is not None


@pytest.mark.parametrize("path", [None, "memory://"])
def test_a_window_in_memory_lasts_as_long_as_it_is_open(path: str | None) -> None:
    """Each is another one."""
    with Window.open(path, CONFIG) as first, Window.open(path, CONFIG) as second:
        assert [window.add(TEXTS[0]).decision for window in (first, second, first)] == ["kept", "kept", "duplicate"]


@pytest.mark.parametrize(
    "url", ["file://elsewhere/store", "file:///store?a=1", "file:///store#a", "memory://a", "file://"]
)
def test_a_url_that_cannot_be_meant_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError):
        Window.open(url, CONFIG)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_scheme_is_refused_without_repeating_the_url() -> None:
    """It may hold a password."""
    with pytest.raises(PluginError, match=r"window 'carrier' is not known.*available: file, memory") as caught:
        Window.open("carrier://pigeon:coop-secret@roof/1", CONFIG)
    assert "coop-secret" not in str(caught.value)


class Pigeons:
    """Opens windows of a plugin."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Asked]] = []

    def open_window(self, url: str, asked: Asked) -> Any:
        """Return something."""
        self.asked.append((url, asked))
        return "a window"


def test_a_plugin_opens_windows_of_its_own() -> None:
    """It is given the URL, and what is asked for, checked."""
    pigeons, plugin = Pigeons(), ModuleType("tests_pigeons")

    @hookimpl
    def hybriddup_register(registry: Registry) -> None:
        registry.add_window("carrier", pigeons)

    plugin.hybriddup_register = hybriddup_register  # type: ignore[attr-defined]
    opened: object = Window.open("CARRIER://roof/1", CONFIG, horizon="3h", time="event", workers=1, plugins=[plugin])
    assert opened == "a window"
    [(url, asked)] = pigeons.asked
    assert (url, asked.workers, asked.read_only) == ("CARRIER://roof/1", 1, False)
    assert (asked.timing.horizon, asked.timing.time_of, asked.settings.fingerprint.bits) == (10_800, "event", 64)


@pytest.fixture
def writer(tmp_path: Path) -> Any:
    """A process that adds posts to a window."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "store")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


def send(process: Any, text: str) -> str:
    """Have a post decided by another process."""
    process.stdin.write(text + "\n")
    process.stdin.flush()
    return str(process.stdout.readline().strip())


def test_a_second_process_looks_at_what_the_first_one_adds(tmp_path: Path, writer: Any) -> None:
    """As it is added, and also after the first one was killed; it cannot add, and writes nothing."""
    assert send(writer, TEXTS[0]) == "kept"
    with pytest.raises(StoreError, match=r"in use by process .*read_only=True"):
        Window.open(tmp_path / "store", CONFIG)
    with Window.open(tmp_path / "store", CONFIG, read_only=True) as reader:
        assert [match.is_match for match in reader.match(TEXTS[0])] == [True]
        assert not any(match.is_match for match in reader.match(TEXTS[1]))
        assert [send(writer, text) for text in (TEXTS[1], TEXTS[0])] == ["kept", "duplicate"]
        assert [match.id for match in reader.match(TEXTS[1]) if match.is_match] == ["#1"]
        post = reader.get("#2")
        assert post is not None
        assert (post.kept, reader.stats().n_kept_in_window) == (False, 2)
        assert reader.explain(TEXTS[1], "#1").matches
        for call in (lambda: reader.add(TEXTS[2]), reader.rewind):
            with pytest.raises(WindowError, match="read_only=True"):
                call()
        files = {path: path.read_bytes() for path in (tmp_path / "store" / "derived").iterdir()}
        writer.kill()
        writer.wait()
        assert [match.id for match in reader.match(TEXTS[1]) if match.is_match] == ["#1"]
        assert files == {path: path.read_bytes() for path in (tmp_path / "store" / "derived").iterdir()}
    with Window.open(tmp_path / "store", CONFIG) as window:
        assert window.add(TEXTS[1]).evidence is not None


def test_a_reader_forgets_what_the_writer_forgets(tmp_path: Path) -> None:
    """By the time of the store, which is that of the posts."""
    now = [0.0]
    clock: Callable[[], float] = lambda: now[0]  # noqa: E731
    with Window.open(tmp_path, CONFIG, horizon=100, max_step=1000, clock=clock) as window:
        window.add(TEXTS[0])
        with Window.open(tmp_path, CONFIG, horizon=100, max_step=1000, clock=clock, read_only=True) as reader:
            assert reader.stats().n_kept_in_window == 1
            for place in range(600):
                now[0] += 1
                window.add(f"{place * 7919 % 600} posts came by then")
            assert not any(match.is_match for match in reader.match(TEXTS[0]))
            assert reader.stats().n_kept_in_window == window.stats().n_kept_in_window
            assert reader.get("#0") is None


def test_a_reader_goes_by_what_the_writer_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights change the fingerprints, so that all is derived anew."""
    for module in ("state", "learning"):
        monkeypatch.setattr(f"hybriddup.window.{module}.FIT_AT", 60)
    texts = [f"the rain of day {place} was heavy on bridge {place * 31 % 60}" for place in range(80)]
    config = CONFIG | {"weighter": {"use": "tfidf"}, "blocks": {"use": "shingles"}}
    with Window.open(tmp_path, config) as window:
        window.add_many(texts[:50])
        with Window.open(tmp_path, config, read_only=True) as reader:
            assert reader.match(texts[7]) == window.match(texts[7])
            window.add_many(texts[50:])
            assert [reader.match(text) for text in texts[:20]] == [window.match(text) for text in texts[:20]]


def test_there_is_nothing_to_read_where_nothing_was_written(tmp_path: Path) -> None:
    """No directory is made for a window that only looks."""
    with pytest.raises(StoreError, match="there is no such store"):
        Window.open(tmp_path / "none", CONFIG, read_only=True)
    assert list(tmp_path.iterdir()) == []
