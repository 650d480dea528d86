"""`hybriddup plugins`, and commands, tokenizers and guards that plugins add."""

import json
import sys
from pathlib import Path

import pytest

import hybriddup
from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, jsonl, names, write_posts

COMMAND = """
import hybriddup

@hybriddup.hookimpl
def hybriddup_register(registry):
    registry.add_tokenizer("shout", lambda text: [text.upper()])

@hybriddup.hookimpl
def hybriddup_add_commands(app):
    @app.command("greet")
    def greet(name: str):
        "Greet somebody."
        print("hello", name)
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the module of an installed plugin that adds a command."""
    site = tmp_path / "site"
    described = site / "hybriddup_greeter-1.2.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: hybriddup-greeter\nVersion: 1.2\n")
    (described / "entry_points.txt").write_text("[hybriddup]\ngreeter = greeter_of_the_tests\n")
    module = site / "greeter_of_the_tests.py"
    module.write_text(COMMAND)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, module.stem, raising=False)
    return module


def test_builtins_are_a_plugin_like_any_other(run: Run) -> None:
    out = run("plugins").out
    assert out.startswith("hybriddup.plugin.builtins (hybriddup ")
    assert "\nblock index  blocks, probing, scan, shingles\n" in out
    plugin = json.loads(run("plugins", "--json").out)[0]
    assert (plugin["distribution"], plugin["version"]) == ("hybriddup", hybriddup.__version__)
    assert plugin["hooks"] == ["hybriddup_register"]


def test_plugins_are_listed_with_their_distribution(run: Run, installed: Path) -> None:
    """An entry point in the group hybriddup is all that an installed plugin needs."""
    assert "greeter (hybriddup-greeter 1.2)\n" in run("plugins").out
    greeter = next(p for p in json.loads(run("plugins", "--json").out) if p["name"] == "greeter")
    assert (greeter["distribution"], greeter["version"]) == ("hybriddup-greeter", "1.2")
    assert sorted(greeter["hooks"]) == ["hybriddup_add_commands", "hybriddup_register"]
    assert greeter["components"] == {"tokenizer": ["shout"]}


def test_a_plugin_adds_a_command(run: Run, installed: Path) -> None:
    assert "greet" in run("--help").out
    assert run("greet", "world").out == "hello world\n"


def test_a_broken_plugin_does_not_hide_the_help(run: Run, installed: Path) -> None:
    installed.write_text("raise RuntimeError('broken')")
    ran = run("--help")
    assert ran.code == 0
    assert "dedupe" in ran.out
    assert "plugin 'greeter'" in ran.err


def test_a_broken_plugin_stops_a_run(run: Run, installed: Path) -> None:
    """Without it, results could differ in silence."""
    installed.write_text("raise RuntimeError('broken')")
    assert "cannot be imported: RuntimeError: broken" in failed(run, "dedupe", "posts.jsonl")


FINISHED = """
import hybriddup

@hybriddup.hookimpl
def hybriddup_run_finished(result):
    print(result.kept)
"""


WANDERER = """
import os
import hybriddup

@hybriddup.hookimpl
def hybriddup_register(registry):
    def wander(text):
        os.chdir("/")
        return list(text)

    registry.add_tokenizer("wander", wander)
"""


@pytest.fixture
def wanderer(tmp_path: Path, run: Run) -> list[str]:
    """Options for a tokenizer that changes the current directory; posts are in the same directory."""
    plugin = f"wanderer_{tmp_path.name}.py"  # a process loads a module once
    (tmp_path / plugin).write_text(WANDERER)
    (tmp_path / "wander.yaml").write_text("tokenizer: {use: wander}\n")
    write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY, OTHER)
    return ["--plugin", f"./{plugin}", "--config", "wander.yaml", "--workers", "1"]


def test_names_of_files_begin_where_the_command_was_given(run: Run, tmp_path: Path, wanderer: list[str]) -> None:
    """Though a plugin changes the current directory meanwhile."""
    outputs = ["--removed", "removed.csv", "--report", "report.html", "--summary", "summary.json"]
    ran = run("dedupe", "posts.jsonl", *outputs, *wanderer)
    assert (ran.code, Path.cwd()) == (0, Path("/")), ran.err
    assert (tmp_path / "posts.kept.jsonl").read_text("utf-8") == jsonl(REPEATED, OTHER)
    assert {"removed.csv", "report.html", "summary.json"} < set(names(tmp_path))


def test_what_is_learned_is_written_where_the_command_was_given(
    run: Run, tmp_path: Path, wanderer: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("learn", "posts.jsonl", "-o", "recipe.npz", *wanderer).code == 0
    monkeypatch.chdir(tmp_path)
    hybriddup.learn([REPEATED, OTHER], "python.npz", config="wander.yaml", plugins=[wanderer[1]], workers=1)
    assert {"recipe.npz", "python.npz"} < set(names(tmp_path))


def test_a_plugin_is_told_of_a_run_that_has_finished(run: Run, tmp_path: Path) -> None:
    (tmp_path / "told_of_runs.py").write_text(FINISHED, "utf-8")
    name = write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY, OTHER)
    assert run("dedupe", name, "--quiet", "--plugin", "./told_of_runs.py").out == "[0, 2]\n"


PRICES = """
import hybriddup
from hybriddup.testing import check_guard


def prices(a, b):
    in_a, in_b = ({word for word in text.split() if word.startswith("$")} for text in (a, b))
    return None if in_a == in_b else f"prices {sorted(in_a)} / {sorted(in_b)}"


@hybriddup.hookimpl
def hybriddup_register(registry):
    registry.add_guard("prices", prices)
"""
PRICED = [
    "the bakery on the corner sells its old oven for $a today",
    "the bakery on the corner sells its old oven for $b today",
    "The bakery on the corner sells its old oven for $a today!",
]


def test_a_plain_function_keeps_posts_apart(run: Run, tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text(PRICES)
    (tmp_path / "mine.yaml").write_text("must_agree: [prices]\nlengths: [{verifier: {use: edit, threshold: 0.8}}]\n")
    (tmp_path / "posts.txt").write_text("".join(f"{post}\n" for post in PRICED))
    ran = run("dedupe", "posts.txt", "--plugin", "prices", "--config", "mine.yaml", "--removed", "gone.jsonl")
    why = run("explain", "--plugin", "prices", "--config", "mine.yaml", *PRICED[:2])
    assert ran.code == 0, ran.err
    gone = [json.loads(line) for line in (tmp_path / "gone.jsonl").read_text("utf-8").splitlines()]
    assert [(post["row"], post["keeper_row"]) for post in gone] == [(2, 0)]
    assert "kept apart: prices ['$a'] / ['$b']" in why.out


def test_what_a_function_returns_is_checked(run: Run, tmp_path: Path) -> None:
    truths = PRICES.replace("return None if", "return True if").replace('"prices"', '"truths"')
    (tmp_path / "truths.py").write_text(truths)
    (tmp_path / "mine.yaml").write_text("must_agree: [truths]\nlengths: [{verifier: {use: edit, threshold: 0.8}}]\n")
    ran = run("explain", "--plugin", "truths", "--config", "mine.yaml", PRICED[0], PRICED[2])
    assert ran.code != 0
    assert "guard 'truths'" in ran.err
    assert "must return a str that is not empty, or None" in ran.err
