"""What opens a window: paths, URLs, plugins."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hybriddup.errors import ConfigError, PluginError
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.spec import hookimpl
from hybriddup.window import Window
from hybriddup.window.opened import Asked
from tests.window.reference_window import CONFIG

TEXTS = ["a first post about the rain", "quite another one, on bridges", "and a third that names no one"]


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
