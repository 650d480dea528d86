"""`hybriddup plan`: the table, the choice, data for machines, and what is refused."""

import json
from pathlib import Path

import pytest

from hybriddup.cli.options import BYTES, COUNTS, parse_number
from hybriddup.cli.plan import show
from hybriddup.errors import ConfigError
from tests.cli.support import Run, failed

CLOSE = ("plan", "--posts", "50M", "--bits", "64", "--max-hamming-distance", "3")
EDITED = ("plan", "--posts", "1M", "--edit-share", "0.1")


def test_people_get_every_shape_with_what_it_costs_and_finds(run: Run) -> None:
    ran = run(*CLOSE, "--memory", "6GB")
    lines = {line.split("  ")[0]: line.split() for line in ran.out.splitlines()}
    assert (ran.code, ran.err) == (0, "")
    assert " ".join(lines["block index"]).endswith("us, window us, run GB recall verdict")
    assert lines["blocks: 5 choose 2, 10 keys"][-3:] == ["1.0000", "over", "memory"]
    assert lines["shingles: 16 of each text, 12 of one in Han"][-3:] == ["recall", "by", "text"]
    assert lines["probing: 2 keys, 66 within 1 bits looked up"][-1] == "chosen"
    assert "43,745" in lines["naive: look up all neighbours"]


@pytest.mark.parametrize("arguments", [CLOSE, EDITED, (*EDITED, "--bits", "64")])
def test_configuration_that_is_shown_can_be_used(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    out = run(*arguments).out
    (tmp_path / "mine.yaml").write_text(out[out.rindex("\n\n") :], "utf-8")
    checked = run("config", "check", "mine.yaml")
    assert (checked.out, checked.err) == ("mine.yaml: ok\n", "")


def test_plan_for_edited_posts_says_what_was_measured_and_advises_the_default(run: Run) -> None:
    out = run(*EDITED).out
    assert "Measured on 800 made-up posts and edited copies: 1.0000 share a shingle; half differ in up to" in out
    assert out.endswith("\n\nblocks: {use: shingles}\n")


def test_machines_get_the_same_as_json(run: Run) -> None:
    data = json.loads(run(*CLOSE, "--json", "--memory", "6GB", "--recall", "1").out)
    far = json.loads(run("plan", "--posts", "1M", "--max-hamming-distance", "60", "--json").out)
    assert (data["question"]["posts"], data["question"]["memory"], data["limit"]) == (50_000_000, 6 * 10**9, 3)
    assert data["configuration"]["blocks"] == {"use": "probing", "n_blocks": 2}
    assert data["chosen"] in [shape["name"] for shape in data["shapes"] if shape["verdict"] == "chosen"]
    assert far["shapes"][-1]["keys"] > 2**64
    assert any(note.startswith("warning: ") for note in far["notes"])


def test_no_fitting_shape_is_an_answer_too(run: Run) -> None:
    """Nothing to configure; what would be needed."""
    ran = run(*CLOSE, "--memory", "1MB")
    assert ran.code == 0
    assert "No shape finds 0.99 of the pairs in 0.001 GB: scan: every pair compared needs least, 2.206 GB." in ran.out
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
    assert message in failed(run, "plan", *arguments)


@pytest.mark.parametrize(
    ("units", "text", "number"),
    [
        (COUNTS, "50M", 50_000_000), (COUNTS, "50_000_000", 50_000_000), (COUNTS, "1,000", 1000),
        (COUNTS, "1.5k", 1500), (COUNTS, ".5G", 5e8), (BYTES, "1.5GB", 1_500_000_000),
        (BYTES, "800MiB", 800 * 2**20), (BYTES, "7 b", 7), (BYTES, "2t", 2 * 10**12),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(units: dict[str, int], text: str, number: int) -> None:
    assert parse_number(text, "--posts", units, "a number") == number


@pytest.mark.parametrize("text", ["", "0", "-3", "1,5", "1.5", "3 X", "M"])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--posts must be a count; got"):
        parse_number(text, "--posts", COUNTS, "a count")


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (0.754, "0.754"), (3051.8, "3,052"), (16, "16"), (1e30, "1.0e+30")]
)
def test_numbers_are_shown_with_about_three_digits(value: float, shown: str) -> None:
    assert show(value) == shown
