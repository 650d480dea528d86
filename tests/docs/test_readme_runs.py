"""The code in README.md runs as it is written and prints what README.md says."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import hybriddup
from hybriddup import testing
from tests.docs.conftest import SAMPLES, Shell, make_shell, make_workspace, read_ids
from tests.docs.markdown import README, ROOT, Block, block_with, blocks_in
from tests.processes import python_program

FRESH = ".venv/bin/"
FIRST_COMMAND = block_with("sh", f"{FRESH}hybriddup dedupe")
TEST_COMMAND = block_with("sh", f"{FRESH}python -m pytest")
EXAMPLES = [block for block in blocks_in("sh", [README]) if FRESH not in block.text]


def at_line(block: Block) -> str:
    return f"{block.path.parent.name} line {block.line}"


def job_of(command: str) -> str:
    """The part of the first command after installing, for an environment that has hybriddup already."""
    _, _, job = command.strip().partition("pip install '.[report,serve]' && ")
    return job.replace(FRESH, "")


def test_picture_shows_removed_sample_posts_below_their_keepers_with_scores(tmp_path: Path) -> None:
    picture = next(block.text for block in blocks_in("", [README]) if "removed" in block.text)
    texts = [json.loads(line)["text"] for line in (SAMPLES / "posts.jsonl").read_text("utf-8").splitlines()]
    result = hybriddup.dedupe(texts)
    scores = {(texts[post.keeper_row], texts[post.row]): f"{post.score:.2}" for post in result.removed}
    shown, keeper = {}, ""
    for line in picture.splitlines():
        if line.startswith("kept"):
            keeper = line.removeprefix("kept").strip()
        else:
            _, score, text = line.split(maxsplit=2)
            shown[keeper, text] = score
    assert len(shown) >= 3
    assert {pair: scores.get(pair) for pair in shown} == shown


@pytest.mark.parametrize("command", [FIRST_COMMAND, TEST_COMMAND], ids=["run", "test"])
def test_set_up_is_one_line_that_makes_its_own_environment(command: str) -> None:
    assert command.count("\n") == 1
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")


class FirstRun(NamedTuple):
    """The first command, run twice in a directory that was clean before."""

    first: subprocess.CompletedProcess[str]
    second: subprocess.CompletedProcess[str]
    new: set[str]
    """Names of what it left in the directory."""


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    workspace = make_workspace(tmp_path_factory.mktemp("first") / "work")
    before, run = set(workspace.iterdir()), make_shell(workspace)
    first, second = run(job_of(FIRST_COMMAND)), run(job_of(FIRST_COMMAND))
    return FirstRun(first, second, {path.name for path in set(workspace.iterdir()) - before})


def test_first_command_prints_the_outcome_and_removals_that_readme_shows(first_run: FirstRun) -> None:
    shown, ran = block_with("text", "\nRemoved ").splitlines(), first_run.first
    assert ran.returncode == 0, ran.stderr
    outcome = [line for line in shown if not line.startswith(("{", "..."))]
    assert ran.stderr.splitlines()[-len(outcome) :] == outcome, "paste the new output into README.md"
    assert ran.stdout.splitlines() == [line for line in shown if line.startswith("{")]


def test_first_command_runs_again(first_run: FirstRun) -> None:
    assert (first_run.second.returncode, first_run.second.stdout) == (0, first_run.first.stdout)


def test_first_command_leaves_the_repository_clean(first_run: FirstRun) -> None:
    assert first_run.new == {"build"}
    assert "/build/" in (ROOT / ".gitignore").read_text("utf-8").split()


@pytest.mark.parametrize("block", EXAMPLES, ids=at_line)
def test_commands_succeed_one_after_another(shell: Shell, block: Block) -> None:
    for line in block.text.splitlines():
        ran = shell(line)
        assert ran.returncode == 0, f"{line}\n{ran.stderr}"


@pytest.mark.parametrize("block", [block for block in blocks_in("python") if block.output], ids=at_line)
def test_python_example_prints_what_readme_says(shell: Shell, workspace: Path, block: Block) -> None:
    (workspace / "example.py").write_text(block.text, "utf-8")
    ran = shell("python example.py")
    assert ran.stdout == block.output, ran.stderr


def test_measuring_example_prints_a_rate(shell: Shell, workspace: Path) -> None:
    (workspace / "measure.py").write_text(block_with("python", "perf_counter"), "utf-8")
    ran = shell("python measure.py")
    assert re.match(r"[\d,]+ posts/s, \d+ removed\nstage-1 recall \S+ \(estimated\)\n", ran.stdout), ran.stderr


def test_configuration_example_keeps_posts_with_other_numbers(shell: Shell) -> None:
    texts = '"the show goes on tonight EP01, all welcome" "the show goes on tonight EP02, all welcome"'
    ran = shell(f"hybriddup explain --config mine.yaml {texts}")
    assert "kept apart: numbers 01 / 02" in ran.stdout, ran.stderr


def test_ten_line_plugin_has_ten_lines() -> None:
    assert len(block_with("python", "def five_grams").splitlines()) == 10


def test_ten_line_plugin_removes_repeats(shell: Shell, workspace: Path) -> None:
    ran = shell("hybriddup dedupe posts.jsonl -o kept.jsonl --plugin five_grams --config five_grams.yaml")
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"[1-9]\d* near", ran.stderr)
    assert set(read_ids(workspace / "kept.jsonl")) < set(read_ids(workspace / "posts.jsonl"))


def test_ten_line_plugin_is_listed(shell: Shell) -> None:
    assert re.search(r"^tokenizer +five_grams$", shell("hybriddup plugins --plugin five_grams").stdout, re.MULTILINE)


def test_ten_line_tokenizer_keeps_the_contract(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(workspace)
    monkeypatch.setattr(sys, "executable", python_program())
    import five_grams  # type: ignore[import-not-found]

    testing.check_tokenizer(five_grams.five_grams)


def test_plugin_with_options_is_loaded_by_the_configuration(shell: Shell) -> None:
    ran = shell("hybriddup config show word_pairs.yaml --plugin word_pairs")
    assert re.search(r"use: word_pairs,?\s+reach: 2", ran.stdout), ran.stderr


def test_plugin_with_options_refuses_wrong_ones(shell: Shell, workspace: Path) -> None:
    (workspace / "word_pairs.yaml").write_text("plugins: [word_pairs]\ntokenizer: {use: word_pairs, reach: 9}\n")
    ran = shell("hybriddup config check word_pairs.yaml --plugin word_pairs")
    assert (ran.returncode, "tokenizer.reach" in ran.stderr) == (2, True)


def test_plugin_with_every_role_removes_repeats_of_its_own_format(shell: Shell, workspace: Path) -> None:
    posts = ["the early train was late again", "what is for lunch today?", "The early train was late again!"]
    (workspace / "mine.posts").write_text("\n\n".join(posts), "utf-8")
    ran = shell("hybriddup dedupe mine.posts --plugin every_role --config every_role.yaml -o kept.posts")
    assert ran.returncode == 0, ran.stderr
    assert (workspace / "kept.posts").read_text("utf-8").split("\n\n") == [*posts[:2], ""]


def test_components_of_every_role_keep_their_contracts(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(workspace)
    monkeypatch.setattr(sys, "executable", python_program())
    import every_role as plugin  # type: ignore[import-not-found]

    content, texts = b"one\n\ntwo\n\nthree", ["one", "two", "three"]
    testing.check_normalizer(plugin.squeeze)
    testing.check_tokenizer(plugin.bigrams)
    testing.check_weighter(plugin.by_length)
    testing.check_hasher(plugin.blake)
    testing.check_block_index(plugin.both_ends)
    testing.check_verifier(plugin.same_beginning)
    testing.check_guard(plugin.questions)
    testing.check_reader(plugin.Paragraphs, content=content, texts=texts)
    testing.check_writer(plugin.Paragraphs, reader=plugin.Paragraphs, content=content)
