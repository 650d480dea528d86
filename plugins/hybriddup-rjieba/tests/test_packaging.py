"""The installed distribution is found by its entry point."""

from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version

import pytest

from hybriddup.plugin.manager import create_plugin_manager

try:
    INSTALLED = version("hybriddup-rjieba")
except PackageNotFoundError:
    INSTALLED = ""


@pytest.mark.skipif(not INSTALLED, reason="needs the distribution installed: pip install -e plugins/hybriddup-rjieba")
def test_hybriddup_lists_the_installed_plugin_with_its_distribution() -> None:
    """`hybriddup plugins` shows the plugin, its distribution, version and component."""
    described = [asdict(plugin) for plugin in create_plugin_manager().describe() if plugin.name == "rjieba"]

    assert described == [
        {
            "name": "rjieba",
            "distribution": "hybriddup-rjieba",
            "version": INSTALLED,
            "hooks": ["hybriddup_register"],
            "components": {"tokenizer": ["rjieba"]},
        }
    ]
