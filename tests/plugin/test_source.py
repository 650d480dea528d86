"""Checksums of source: an edit of a component that no release stands for makes another recipe id."""

import functools
import importlib.util
import linecache
from pathlib import Path
from typing import Any

import pytest

from hybriddup.plugin.source import source_recipe
from tests.plugin.conftest import WriteModule
from tests.processes import run_python

PLUGIN = """
    import hybriddup
    from hybriddup.data.records import tokens_from_lists

    def grams(text: str) -> list[str]:
        return [text[i : i + {n}] for i in range(len(text))]

    class Batch:
        def tokenize_batch(self, texts):
            return tokens_from_lists([grams(text) for text in texts])

    @hybriddup.hookimpl
    def hybriddup_register(registry):
        registry.add_tokenizer("grams", grams)
        registry.add_tokenizer("batch", Batch)
"""

PRINT_IDS = """
from hybriddup.config import load_settings
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.run.recipe import hash_recipe, recipe_parts

manager = create_plugin_manager(entry_points=False, modules=["my_plugin"])
for name in ("grams", "batch"):
    settings = load_settings({"tokenizer": {"use": name}}, manager)
    tokenizer = manager.registry.create_by_name("tokenizer", name)
    print(hash_recipe(recipe_parts(settings, {"tokenizer": tokenizer})))
"""


def output_of(*arguments: str, seed: int = 0) -> str:
    return str(run_python(*arguments, PYTHONHASHSEED=str(seed), PYTHONDONTWRITEBYTECODE="1").stdout)


def typed(code: str, name: str = "work") -> Any:
    """What code that is in no file defines."""
    namespace: dict[str, Any] = {"__name__": "typed_in"}
    exec(compile(code, "<typed>", "exec"), namespace)  # noqa: S102  as a notebook does
    return namespace[name]


def test_edit_of_an_unpackaged_plugin_changes_the_recipe_id(write_module: WriteModule) -> None:
    write_module("my_plugin", PLUGIN.format(n=2))
    first, again = (output_of("-c", PRINT_IDS, seed=seed).split() for seed in (1, 2))
    write_module("my_plugin", PLUGIN.format(n=3))
    edited = output_of("-c", PRINT_IDS).split()
    assert first == again
    assert len(set(first + edited)) == 4


def test_script_of_the_calling_program_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
import os
from hybriddup.plugin.source import source_recipe

def work(text):
    return text[:{n}]

os.chdir("/")
print(source_recipe(work))
"""
    monkeypatch.chdir(tmp_path)
    printed = []
    for n in (2, 2, 3):
        Path("script.py").write_text(code.format(n=n), "utf-8")
        printed.append(output_of("script.py"))
    assert printed[0] == printed[1] != printed[2]
    assert all("source-sha256" in line for line in printed)


def test_module_that_was_imported_by_hand_has_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "by_hand.py").write_text("def work(text):\n    return text\n", "utf-8")
    spec: Any = importlib.util.spec_from_file_location("by_hand", tmp_path / "by_hand.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert list(source_recipe(module.work)) == ["source-sha256"]


CALL = "def __call__(self, text): return text"


@pytest.mark.parametrize(
    ("code", "edited"),
    [
        ("def work(text): return text[:2]", "def work(text): return text[:3]"),
        ("def work(text, n=2): return text[:n]", "def work(text, n=3): return text[:n]"),
        ("def work(text, *, n=2): return text[:n]", "def work(text, *, n=3): return text[:n]"),
        ("def work(text): return text.upper()", "def work(text): return text.lower()"),
        ("def work(text): return text in {'a', 'b'}", "def work(text): return text in {'a', 'c'}"),
        ("def work(text): return [c + 'x' for c in text]", "def work(text): return [c + 'y' for c in text]"),
        (f"class work:\n    {CALL}[:2]", f"class work:\n    {CALL}[:3]"),
        (f"class work:\n    n = 2\n    {CALL}[: self.n]", f"class work:\n    n = 3\n    {CALL}[: self.n]"),
    ],
)
def test_code_stands_for_a_file_that_is_not_there(code: str, edited: str) -> None:
    recipe = source_recipe(typed(code))
    assert list(recipe) == ["code-sha256"]
    assert source_recipe(typed(code)) == recipe
    assert source_recipe(typed(edited)) != recipe


def test_cell_of_a_notebook_counts_whole() -> None:
    recipes = []
    for number, n in enumerate((2, 2, 3)):
        cell = f"work = (lambda n: lambda text: text[:n])({n})\n"
        name = f"<cell {number} of a notebook>"
        linecache.cache[name] = (len(cell), None, [cell], name)
        namespace: dict[str, Any] = {"__name__": "typed_in"}
        exec(compile(cell, name, "exec"), namespace)  # noqa: S102  as a notebook does
        recipes.append(source_recipe(namespace["work"]))
    assert recipes[0] == recipes[1] != recipes[2]
    assert list(recipes[0]) == ["source-sha256"]


def test_checksum_of_code_is_the_same_in_each_process() -> None:
    code = """
from hybriddup.plugin.source import source_recipe
kept = object()
class Work:
    letters = frozenset({"a", "b", "c", "d"})
    def __call__(self, text, kept=kept):
        return [c for c in text if c in {"x", "y", "z"} and (lambda: c)()]
    @property
    def size(self):
        return 3
print(source_recipe(Work), source_recipe(Work()), source_recipe(Work().__call__))
"""
    generated = f"exec(compile({code!r}, '<generated>', 'exec'), {{'__name__': 'generated'}})"  # as no file has it
    printed = {output_of("-c", generated, seed=seed) for seed in (1, 2, 3)}
    assert len(printed) == 1
    assert "code-sha256" in printed.pop()


def test_arguments_of_a_partial_count() -> None:
    recipes = [source_recipe(functools.partial(output_of, seed=seed)) for seed in (2, 3, 3)]
    assert recipes[0] != recipes[1] == recipes[2]
    assert recipes[0]["source-sha256"] == source_recipe(output_of)["source-sha256"]


def test_function_behind_a_decorator_is_what_counts() -> None:
    assert source_recipe(functools.lru_cache(output_of)) == source_recipe(output_of)


@pytest.mark.parametrize("component", [str.split, len, "abc".split])
def test_what_has_no_source_adds_nothing(component: object) -> None:
    assert source_recipe(component) == {}
