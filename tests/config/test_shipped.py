"""The shipped configurations: each loads, and is commented; posts is the defaults."""

import re
from pathlib import Path

import pytest
import yaml

import hybriddup
from hybriddup.config import Settings, load_settings
from hybriddup.config.read import SCHEMA_FILE, shipped_directory, shipped_names
from hybriddup.config.shorthands import spell_out
from hybriddup.plugin.manager import PluginManager

NAMES = ["articles", "benchmark", "headlines", "posts", "sms", "twitter", "weibo"]


def test_shipped_configurations_are_those_documented() -> None:
    assert shipped_names() == NAMES
    assert sorted(path.name for path in shipped_directory().glob("*.yaml")) == [f"{name}.yaml" for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_shipped_configuration_loads_without_plugins_and_says_what_it_is_for(manager: PluginManager, name: str) -> None:
    settings = load_settings(name, manager)
    assert settings.plugins == ()
    assert settings.lengths[-1].up_to is None
    text = (shipped_directory() / f"{name}.yaml").read_text("utf-8")
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA_FILE}\n# {name}: ")
    assert len(re.findall(r"^#", text, re.MULTILINE)) >= 3
    assert max(map(len, text.splitlines())) <= 120


def test_posts_is_the_defaults() -> None:
    """The file names every default, so that it can be read instead of the code."""
    written = yaml.safe_load((shipped_directory() / "posts.yaml").read_text("utf-8"))
    assert {"plugins": [], "recipe": None, **spell_out(written, {}).data} == Settings().to_dict()


def test_weibo_adds_to_posts_what_is_particular_to_weibo(manager: PluginManager) -> None:
    """As its file says: what the platform leaves in a text, and one threshold for texts of five and more characters."""
    posts, weibo = load_settings("posts", manager).to_dict(), load_settings("weibo", manager).to_dict()
    assert weibo.pop("normalizer") == posts.pop("normalizer") | {"residue": "drop"}
    shorter, *longer = posts["lengths"]
    assert weibo["lengths"] == [shorter, longer[-1] | {"verifier": longer[-1]["verifier"] | {"threshold": 0.44}}]
    assert weibo | {"lengths": longer} == posts | {"lengths": longer}


def test_benchmark_is_the_rule_of_the_comparison(manager: PluginManager) -> None:
    settings = load_settings("benchmark", manager)
    assert settings.normalizer.use == "none"
    assert {(band.verifier.use, band.verifier.threshold) for band in settings.lengths} == {("edit", 0.8)}  # type: ignore[union-attr]
    assert not any(band.exact_only for band in settings.lengths)
    assert settings.blocks.use == "shingles"


def test_articles_promise_every_pair(manager: PluginManager) -> None:
    settings = load_settings("articles", manager)
    assert (settings.fingerprint.bits, settings.max_hamming_distance) == (64, 3)
    assert (settings.blocks.use, settings.blocks.options["n_blocks"]) == ("blocks", 4)


def test_shipped_configurations_are_found_inside_an_installed_package(tmp_path: Path) -> None:
    assert shipped_directory(tmp_path / "hybriddup") == tmp_path / "configs"
    (tmp_path / "hybriddup" / "configs").mkdir(parents=True)
    assert shipped_directory(tmp_path / "hybriddup") == tmp_path / "hybriddup" / "configs"
    assert shipped_names() == NAMES


def test_wheel_is_told_to_hold_the_configurations() -> None:
    pyproject = Path(hybriddup.__file__).parents[1] / "pyproject.toml"
    if not pyproject.is_file():
        pytest.skip("not a source tree")
    assert 'configs = "hybriddup/configs"' in pyproject.read_text("utf-8")
