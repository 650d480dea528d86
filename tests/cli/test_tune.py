"""`hybriddup tune`: a configuration fitted to labeled pairs."""

import json
from pathlib import Path

import pytest

from hybriddup.config import load_settings
from tests.cli.support import Run, write_posts
from tests.study.test_tune import made_pairs, similar

CONFIG = """\
normalizer: {use: none}
compare: all
weighter: {use: tf}
blocks: {use: scan}
lengths: [{max_hamming_distance: 127, verifier: {use: edit, threshold: 0.95}}]
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    labeled = made_pairs(120, similar(0.7))
    write_posts(tmp_path / "pairs.jsonl", *({"a": a, "b": b, "label": int(label)} for a, b, label in labeled))
    (tmp_path / "edit.yaml").write_text(CONFIG)
    return tmp_path


def test_a_configuration_is_written_that_can_be_used(run: Run, files: Path) -> None:
    ran = run("tune", "pairs.jsonl", "--config", "edit.yaml", "-o", "mine.yaml", "--wrong", "wrong.jsonl")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()[:3]] == ["95", "before", "after"]
    assert 0.6 < load_settings(files / "mine.yaml").lengths[0].verifier.threshold < 0.8  # type: ignore[union-attr]
    assert (files / "mine.yaml").read_text().startswith("# Fitted by `hybriddup tune pairs.jsonl --config edit.yaml`")
    assert run("config", "check", "mine.yaml").code == 0
    n_wrong = len((files / "wrong.jsonl").read_text().splitlines())
    assert f"still wrong  {n_wrong} of these pairs, judged by the configuration that was fitted to them;" in ran.out


def test_few_pairs_are_told_of(run: Run, files: Path) -> None:
    few = (files / "pairs.jsonl").read_text("utf-8").splitlines(keepends=True)[:80]
    (files / "few.jsonl").write_text("".join(few), "utf-8")
    assert "note: 80 pairs are few" in run("tune", "few.jsonl", "--config", "edit.yaml", "-o", "mine.yaml").err


def test_machines_get_json(run: Run, files: Path) -> None:
    ran = run("tune", "pairs.jsonl", "--config", "edit.yaml", "-o", "mine.yaml", "--json")
    told = json.loads(ran.out)
    assert told["way"] == "threshold"
    assert told["after"]["measures"]["f1"] > told["before"]["measures"]["f1"]


def test_files_that_exist_are_replaced_with_force(run: Run, files: Path) -> None:
    (files / "mine.yaml").write_text("keep: last\n")
    assert run("tune", "pairs.jsonl", "--config", "edit.yaml", "-o", "mine.yaml", "--force").code == 0
    assert (files / "mine.yaml").read_text() != "keep: last\n"
