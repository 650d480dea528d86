"""What configuration tests share: a manager with the built-ins, and what is said of a faulty file."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from hybriddup.config import load_settings
from hybriddup.errors import ConfigError
from hybriddup.plugin.manager import PluginManager, create_plugin_manager


@pytest.fixture
def manager() -> PluginManager:
    return create_plugin_manager(entry_points=False)


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manager: PluginManager) -> Callable[[str], list[str]]:
    """Return every fault found in a file ``posts.yaml`` with this text."""

    def faults_of(text: str) -> list[str]:
        monkeypatch.chdir(tmp_path)
        Path("posts.yaml").write_text(dedent(text).lstrip("\n"), "utf-8")
        with pytest.raises(ConfigError) as caught:
            load_settings("posts.yaml", manager)
        return str(caught.value).split("\n")

    return faults_of
