"""The recipe id: changes with whatever makes a fingerprint, and with nothing else."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hybriddup
from hybriddup.config import Settings, load_settings
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.run.recipe import compare_recipes, hash_recipe, recipe_parts
from tests.builders import examples, plugin_of


def part(**own: Any) -> SimpleNamespace:
    """A component that adds to the recipe."""
    return SimpleNamespace(recipe=lambda: own)


def recipe_id(settings: Settings, components: dict[str, Any]) -> str:
    return hash_recipe(recipe_parts(settings, components))


def changed(config: Any) -> Settings:
    return load_settings(config, create_plugin_manager(entry_points=False))


@pytest.fixture(scope="module")
def posts() -> Settings:
    return changed("posts")


MAKES_ANOTHER = [
    {"normalizer": {"use": "none"}},
    {"normalizer": {"urls": "mask"}},
    {"tokenizer": {"cjk": [1, 3]}},
    {"weighter": {"clip": [2, 6]}},
    {"hasher": {"seed": 1}},
    {"hasher": {"use": "md5"}},
    {"fingerprint": {"bits": 256}},
]
MAKES_THE_SAME = [
    {"blocks": {"use": "scan"}},
    {"keep": "last"},
    {"audit": {"sample": 0}},
    {"must_agree": ["numbers"]},
    {"lengths": [{"exact_only": True}]},
    {"tokenizer": dict(reversed(Settings().tokenizer.to_dict().items()))},
]


@pytest.mark.parametrize("change", [*MAKES_ANOTHER, *MAKES_THE_SAME], ids=str)
def test_what_makes_a_fingerprint_and_nothing_else_changes_the_id(posts: Settings, change: dict[str, Any]) -> None:
    assert (recipe_id(changed(change), {}) != recipe_id(posts, {})) == (change in MAKES_ANOTHER)


@pytest.mark.parametrize("role", ["normalizer", "tokenizer", "weighter", "hasher"])
def test_recipe_of_a_component_changes_the_id(posts: Settings, role: str) -> None:
    first, second = (recipe_id(posts, {role: part(checksum=checksum)}) for checksum in ("abc", "abd"))
    assert len({first, second, recipe_id(posts, {})}) == 3


def test_checksum_takes_the_place_of_the_option_of_its_name(posts: Settings) -> None:
    parts = recipe_parts(posts, {"tokenizer": part(cjk="checksum")})
    assert parts["tokenizer"] == {**posts.tokenizer.to_dict(), "cjk": "checksum"}


def test_id_is_the_same_on_every_machine() -> None:
    parts = {
        "format": 1,
        "normalizer": {"use": "none"},
        "tokenizer": {"use": "char_ngrams", "cjk": [1, 2], "other": [2, 3]},
        "weighter": {"use": "tf"},
        "hasher": {"use": "xxh3", "seed": 0},
        "fingerprint": {"bits": 128},
    }
    assert hash_recipe(parts) == "63c8b342a96d3b91de92da0a63eac716"


def test_numbers_of_numpy_are_plain_numbers(posts: Settings) -> None:
    """A component need not convert what it computed."""
    assert recipe_id(posts, {"weighter": part(n=np.int64(3))}) == recipe_id(posts, {"weighter": part(n=3)})


def test_comparison_names_every_difference() -> None:
    first = changed({"tokenizer": {"cjk": [1, 2]}, "weighter": {"use": "tf"}, "hasher": {"seed": 7}})
    second = changed({"tokenizer": {"cjk": [2, 2]}, "weighter": {"use": "uniform"}, "hasher": {"use": "md5"}})
    assert list(compare_recipes(recipe_parts(first, {}), recipe_parts(second, {}), "there")) == [
        "tokenizer.cjk is [1,2] here and [2,2] there",
        'weighter.use is "tf" here and "uniform" there',
        'hasher.use is "xxh3" here and "md5" there',
        "hasher.seed is 7 here and null there",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@examples(100)
@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4))
def test_equal_parts_have_one_id_and_no_difference(parts: dict[str, Any]) -> None:
    turned = dict(reversed(parts.items()))
    assert hash_recipe(turned) == hash_recipe(parts)
    assert list(compare_recipes(turned, parts, "there")) == []


def test_edit_of_a_function_of_the_calling_program_changes_the_id() -> None:
    """No release stands for it, so its code does."""

    def id_of(code: str) -> str:
        manager = create_plugin_manager(entry_points=False)
        manager.registry.add_tokenizer("mine", eval(code))  # noqa: S307  in no file, as in a notebook
        tokenizer = manager.registry.create_by_name("tokenizer", "mine")
        return recipe_id(load_settings({"tokenizer": {"use": "mine"}}, manager), {"tokenizer": tokenizer})

    assert id_of("lambda text: [text[:2]]") == id_of("lambda text: [text[:2]]")
    assert id_of("lambda text: [text[:2]]") != id_of("lambda text: [text[:3]]")


def test_normalizers_in_a_chain_do_what_they_do_one_by_one() -> None:
    posts = ["Read THIS #ad", "read this", "ASK for more"]
    strip = plugin_of(lambda registry: registry.add_normalizer("strip", lambda text: text.removesuffix(" #ad")))
    config = {"normalizer": [{"use": "strip"}, {"use": "microblog"}]}
    chained = hybriddup.dedupe(posts, config=config, plugins=[strip])
    alone = hybriddup.dedupe([text.removesuffix(" #ad") for text in posts], config={"normalizer": {"use": "microblog"}})
    assert chained.kept == alone.kept == [0, 2]
    assert [part["use"] for part in chained.recipe.parts["fingerprint"]["normalizer"]] == ["strip", "microblog"]
    turned = hybriddup.dedupe(posts, config={"normalizer": config["normalizer"][::-1]}, plugins=[strip])
    assert turned.summary.recipe_id != chained.summary.recipe_id
