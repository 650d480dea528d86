"""What opens a window: paths, URLs, plugins."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from hybriddup.errors import ConfigError, PluginError, StoreError, WindowError
from hybriddup.window import Window
from hybriddup.window.protocols import WindowOptions
from tests.window.plugins import plugin
from tests.window.reference_window import CONFIG

WITH_SECRETS = "carrier://me:pw%201@roof/1?window=tweets&auth_token=t-7"
TEXTS = ["a first post about the rain", "quite another one, on bridges", "and a third that names no one"]


def uri_on(host: str) -> Callable[[Path], str]:
    return lambda path: path.absolute().as_uri().replace("file://", f"FILE://{host}")


@pytest.mark.parametrize("name", ["über: 100% a", "posts:2026", "a?b#c;d&e=f", "%61", "C:", "b/c"])
@pytest.mark.parametrize(
    "form", [str, Path, Path.absolute, uri_on(""), uri_on("localhost"), lambda path: f"file:{uri_on('')(path)[7:]}"]
)
def test_a_directory_is_opened_by_its_path_or_its_url(
    form: Callable[[Path], Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Window.open(form(Path(name)), CONFIG) as window:
        window.add(TEXTS[0])
    assert (tmp_path / name / "posts.sqlite3").exists()


@pytest.mark.parametrize("name", ["memory:", "file:", "redis:"])
def test_a_path_object_is_never_a_url(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Window.open(Path(name), CONFIG).close()
    assert (tmp_path / name / "posts.sqlite3").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_name_that_is_not_utf_8_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xff\xfe")
    Window.open(str(folder), CONFIG).close()
    assert (folder / "posts.sqlite3").exists()


@pytest.mark.parametrize("path", [None, "memory:", "memory://", "MEMORY:"])
def test_a_window_in_memory_lasts_as_long_as_it_is_open(path: str | None) -> None:
    with Window.open(path, CONFIG) as first, Window.open(path, CONFIG) as second:
        assert [window.add(TEXTS[0]).decision for window in (first, second, first)] == ["kept", "kept", "duplicate"]


@pytest.mark.parametrize(
    "url",
    [
        "file://me:secret@elsewhere/store",
        "file:///store?token=secret",
        "file:///store#secret",
        "file:///secret%00",
        "file://[secret",
        "memory://secret",
        "file://",
    ],
)
def test_a_url_that_cannot_be_meant_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        Window.open(url, CONFIG)
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_scheme_is_refused_without_repeating_the_url() -> None:
    with pytest.raises(PluginError, match=r"window 'carrier' is not known.*available: .*file,.* memory") as caught:
        Window.open("carrier://pigeon:coop-secret@roof/1", CONFIG)
    assert "coop-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "cause", "expected", "message"),
    [
        (StoreError("no answer from me:pw 1@roof"), None, StoreError, "no answer from me:***@roof"),
        (OSError("AUTH pw%201 failed"), None, PluginError, "AUTH *** failed"),
        (WindowError("wrong token t-7"), None, WindowError, "wrong token ***"),
        (StoreError("no answer"), OSError("pw 1"), StoreError, "no answer"),
        (StoreError("no window tweets"), OSError("timed out"), StoreError, "no window tweets"),
        (OSError("timed out"), None, PluginError, "OSError: timed out"),
    ],
)
def test_what_opening_says_never_repeats_a_password(
    error: Exception, cause: Exception | None, expected: type[Exception], message: str
) -> None:
    error.__cause__ = cause
    failing = plugin(SimpleNamespace(open_window=Mock(side_effect=error)), "window", "carrier")
    with pytest.raises(expected) as caught:
        Window.open(WITH_SECRETS, CONFIG, plugins=[failing])
    assert str(caught.value).endswith(message)
    assert not re.search("pw.*1|t-7", "".join(traceback.format_exception(caught.value)))


def test_a_plugin_opens_windows_of_its_own() -> None:
    given = list[tuple[str, WindowOptions]]()
    pigeons = SimpleNamespace(open_window=lambda url, asked: given.append((url, asked)) or "a window")
    options: Any = {"horizon": "3h", "time": "event", "workers": 1, "plugins": [plugin(pigeons, "window", "carrier")]}
    opened: object = Window.open("CARRIER://roof/1", CONFIG, **options)
    assert opened == "a window"
    [(url, asked)] = given
    assert (url, asked.workers, asked.read_only) == ("CARRIER://roof/1", 1, False)
    assert (asked.timing.horizon, asked.timing.time_of, asked.settings.fingerprint.bits) == (10_800, "event", 64)
