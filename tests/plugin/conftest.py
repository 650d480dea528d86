"""Plugins made for a test: modules on disk, beside the user or installed as a distribution."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

WriteModule = Callable[[str, str], None]
Install = Callable[..., None]


@pytest.fixture(autouse=True)
def _forget_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what loading plugins adds to the interpreter."""
    path, before = list(sys.path), set(sys.modules)
    monkeypatch.delenv("HYBRIDDUP_DISABLE_PLUGINS", raising=False)
    yield
    sys.path[:] = path
    for name in sys.modules.keys() - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def write_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteModule:
    """Write a module into the current directory, which is on no search path."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])

    def write(name: str, code: str) -> None:
        (here / f"{name}.py").write_text(dedent(code), "utf-8")
        importlib.invalidate_caches()

    return write


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution with one module, offered as an entry point named like the module."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def install_distribution(distribution: str, module: str, code: str, entry_point: str = "") -> None:
        (site / f"{module}.py").write_text(dedent(code), "utf-8")
        metadata = site / f"{distribution.replace('-', '_')}-1.2.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n", "utf-8")
        (metadata / "entry_points.txt").write_text(f"[hybriddup]\n{entry_point or module} = {module}\n", "utf-8")
        importlib.invalidate_caches()

    return install_distribution
