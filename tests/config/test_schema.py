"""The JSON Schema for editors: accepts what loads, refuses what does not, and describes every key."""

from typing import Any

import pytest
import yaml

import hybriddup
from hybriddup.config import Settings, load_settings
from hybriddup.config.read import shipped_directory, shipped_names
from hybriddup.config.schema import config_schema
from hybriddup.errors import ConfigError
from hybriddup.plugin.manager import PluginManager, create_plugin_manager
from hybriddup.steps.options import Options

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return config_schema(create_plugin_manager(entry_points=False).registry)


def accepts(schema: dict[str, Any], config: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(config))


def test_schema_is_a_schema(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)


LCS = {"use": "lcs", "threshold": 0.9}


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_configuration_keeps_the_schema(schema: dict[str, Any], manager: PluginManager, name: str) -> None:
    written = yaml.safe_load((shipped_directory() / f"{name}.yaml").read_text("utf-8"))
    assert accepts(schema, written)
    assert accepts(schema, load_settings(name, manager).to_dict())


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"tokenizer": {"cjk": [2, 2]}},
        {"tokenizer": {"use": "jieba", "hmm": False}},
        {"keep": {"highest": "likes"}},
        {"lengths": [{"exact_only": True}]},
        {"lengths": [{"max_hamming_distance": 3, "verifier": {"any": [{"use": "lcs", "threshold": 0.9}]}}]},
        {"lengths": [{"verifier": {"any": [LCS, {"all": [LCS, {"any": [LCS]}]}]}, "must_agree": ["numbers"]}]},
        {"keep": [{"highest": "likes"}, "most_complete", "last"]},
        {"without_text": "drop", "normalizer": {"residue": ["来自.{1,9}客户端"]}},
    ],
)
def test_schema_and_loader_accept_the_same(schema: dict[str, Any], manager: PluginManager, config: Any) -> None:
    load_settings(config, manager)
    assert accepts(schema, config)


@pytest.mark.parametrize(
    "config",
    [
        [],
        {"lenghts": []},
        {"lengths": []},
        {"keep": "best"},
        {"keep": {"highst": "likes"}},
        {"fingerprint": {"bits": 100}},
        {"tokenizer": "jiebar"},
        {"tokenizer": {"use": "no_such"}},
        {"tokenizer": {"use": "jieba", "cjk": [1, 2]}},
        {"tokenizer": {"hmm": False}},
        {"lengths": [{"max_hamming_distance": 3, "verifier": {"use": "edit"}}]},
        {"lengths": [{"max_hamming_distance": 3, "verifier": {"use": "edit", "threshold": 1.5}}]},
        {"lengths": [{"max_hamming_distance": 3, "verifier": {"use": "edit", "threshold": 1, "size": 3}}]},
        {"lengths": [{"verifier": {"any": [{"all": [LCS, {"use": "lcs"}]}]}}]},
        {"lengths": [{"verifier": {"any": [{"all": []}]}}]},
        {"keep": []},
        {"keep": [["first"]]},
    ],
)
def test_schema_and_loader_refuse_the_same(schema: dict[str, Any], manager: PluginManager, config: Any) -> None:
    with pytest.raises(ConfigError):
        load_settings(config, manager)
    assert not accepts(schema, config)


def test_every_key_is_described_in_the_schema(schema: dict[str, Any]) -> None:
    """An editor shows a sentence for each key, and the default."""
    properties = schema["properties"]
    assert list(properties) == [*Settings.model_fields, "threshold"]
    described = Settings.model_json_schema()["properties"]
    for key in Settings.model_fields:
        assert properties[key]["description"] == " ".join(described[key]["description"].split())
        assert properties[key]["default"] == Settings().to_dict()[key]


def test_options_of_every_component_are_described_in_the_schema(schema: dict[str, Any], manager: PluginManager) -> None:
    """Each component is a branch with its own options."""
    branches = {
        branch["title"]: branch["properties"]
        for branch in schema["properties"]["tokenizer"]["oneOf"]
        if "properties" in branch
    }
    assert sorted(branches) == manager.registry.names("tokenizer")
    model: Any = manager.registry.find("tokenizer", "jieba").options_model()
    described = model.model_json_schema()["properties"]
    for name in model.model_fields:
        assert branches["jieba"][name]["description"] == " ".join(described[name]["description"].split())


def test_options_of_a_class_with_text_at_the_margin_are_described() -> None:
    class Loud(Options):
        """Options of a component, whose text has a line

        at the margin."""

        volume: int = 3
        """Repetitions of each token."""

    assert Loud.model_json_schema()["properties"]["volume"]["description"] == "Repetitions of each token."


def test_components_of_plugins_are_in_the_schema(manager: PluginManager) -> None:
    class Shout:
        class Options(hybriddup.Options):
            volume: int = 3

        def __call__(self, text: str) -> list[str]:
            return [text.upper()]

    manager.registry.add_tokenizer("shout", Shout)
    assert accepts(config_schema(manager.registry), {"tokenizer": {"use": "shout", "volume": 4}})
