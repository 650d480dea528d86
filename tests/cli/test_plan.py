"""`hybriddup plan`: the table, the choice, data for machines, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.support import Run, packages_loaded_by, run_at_terminal

SMALL_RADIUS = ("plan", "--posts", "50M", "--bits", "64", "--max-hamming-distance", "3")
EDITED = ("plan", "--posts", "1M", "--edit-share", "0.1")


def rows(out: str) -> dict[str, str]:
    """The lines of the table by the name of the shape."""
    return {line.split("  ")[0]: line for line in out.splitlines()}


def test_people_get_every_shape_with_what_it_costs_and_finds(run: Run) -> None:
    """The reference numbers stand in the line of their shape, and a verdict at its end."""
    ran = run(*SMALL_RADIUS)
    assert (ran.code, ran.err) == (0, "")
    table = rows(ran.out)
    heading = "shape tables key bits look-ups candidates time bytes memory recall verdict"
    assert table["shape"].split() == heading.split()
    assert table["blocks: 4 choose 1"].split()[4:12] == ["4", "16", "4", "3,052", "1.6", "us", "24.0", "1.2"]
    assert table["blocks: 5 choose 2"].split()[4:8] == ["10", "25-26", "10", "10.4"]
    assert " 43,745 " in table["naive: probe all"]
    assert "over memory" in rows(run(*SMALL_RADIUS, "--memory", "1.5GB").out)["blocks: 5 choose 2"]


def test_choice_is_said_in_a_sentence_with_the_lines_that_configure_it(run: Run) -> None:
    """They load as a configuration."""
    out = run(*SMALL_RADIUS, "--recall", "1").out
    assert "probing: 3 within 0-1 bit is chosen: of those that find at least 1 of the pairs it is the fastest" in out
    assert "\nfingerprint: {bits: 64}\nblocks: {use: probing, n_blocks: 3}\n" in out


def test_configuration_that_is_shown_can_be_used(run: Run, tmp_path: Path) -> None:
    """`config check` takes it."""
    out = run(*EDITED).out
    lines = out[out.index("fingerprint:") :].splitlines()[:2]
    (tmp_path / "mine.yaml").write_text("\n".join(lines), "utf-8")
    assert run("config", "check", "mine.yaml").out == "mine.yaml: ok\n"


def test_machines_get_the_same_as_json(run: Run) -> None:
    """Whole numbers in full, and nothing but JSON on standard output."""
    data = json.loads(run(*SMALL_RADIUS, "--json", "--memory", "1500MB", "--recall", "1").out)
    assert (data["posts"], data["memory"], data["max_hamming_distance"]) == (50_000_000, 1_500_000_000, 3)
    assert (data["chosen"], data["blocks"]) == (
        "probing: 3 within 0-1 bit",
        {"use": "probing", "n_blocks": 3},
    )
    assert {shape["name"] for shape in data["shapes"]} >= {"scan", "naive: store all", "blocks: 5 choose 2"}


def test_share_of_edits_stands_for_distances_that_are_modeled(run: Run) -> None:
    """What is assumed is printed."""
    out = " ".join(run(*EDITED).out.split())
    assert "copies with 0.1 of the characters edited: by a model" in out
    assert "the sums behind the bits are Gaussian" in out


def test_no_fitting_shape_is_an_answer_too(run: Run) -> None:
    """Nothing to configure; what would be needed."""
    ran = run(*SMALL_RADIUS, "--memory", "1MB")
    assert ran.code == 0
    assert "No shape finds at least 0.99 of the pairs in at most 1.0 MB: scan needs least, 400 MB." in ran.out
    assert "blocks: {" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--posts", "many", "--edit-share", "0.1"], "error: --posts must be a whole number"),
        (["--posts", "1M", "--edit-share", "0.1", "--memory", "2 XB"], "error: --memory must be a number of bytes"),
        (["--posts", "1M"], "error: give either --max-hamming-distance, in bits, or --edit-share"),
        (["--posts", "1M", "--edit-share", "0.1", "--bits", "100"], "error: --bits must be a multiple of 64"),
        (["--posts", "1M", "--edit-share", "much"], "--edit-share"),
        (["--edit-share", "0.1"], "--posts"),
    ],
)
def test_what_cannot_be_planned_is_one_message(run: Run, arguments: list[str], message: str) -> None:
    """Exit code 2, and nothing on standard output."""
    ran = run("plan", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("columns", "n_tables"), [(80, 2), (160, 1)])
def test_no_cell_is_broken_at_a_terminal(columns: int, n_tables: int) -> None:
    """Where all columns do not fit, they are drawn as two tables, each with the names of the shapes."""
    shown = re.sub(r"\x1b\[[\d;]*m", "", run_at_terminal(*SMALL_RADIUS, columns=columns)).replace("\r", "")
    assert len(re.findall(r"^blocks: 5 choose 2 .*\S", shown, re.MULTILINE)) == n_tables
    assert len(re.findall(r"^scan .* 6,782 x slower *$", shown, re.MULTILINE)) == 1
    assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (("plan", "--help"), {"numba", "llvmlite", "jieba", "sklearn", "scipy", "numpy", "rich", "yaml"}),
        (EDITED, {"numba", "llvmlite", "jieba", "sklearn", "scipy", "pandas"}),
    ],
)
def test_planning_loads_no_more_than_numpy(arguments: tuple[str, ...], unwanted: set[str]) -> None:
    """And its help not even that."""
    assert packages_loaded_by(*arguments) & unwanted == set()
