"""`hybriddup evaluate`: measures on labeled pairs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, write_posts, write_table


def pair(a: str, b: str, label: object) -> dict[str, Any]:
    return {"a": a, "b": b, "label": label}


PAIRS = [
    *(pair(REPEATED, NEARLY, 1), pair(REPEATED, OTHER, 0), pair(REPEATED, OTHER, 1), pair(OTHER, OTHER, 0)),
    *(pair("同意", "同意", True), pair("好的", "好的", "0")),
]


def test_measures_are_those_of_the_pairs(run: Run, tmp_path: Path) -> None:
    evaluation = json.loads(run("evaluate", write_posts(tmp_path / "pairs.jsonl", *PAIRS), "--json").out)
    decision = evaluation["total"]["decision"]
    assert (decision["n_found"], decision["n_right"], decision["n_wanted"]) == (4, 2, 3)
    assert (decision["precision"], decision["recall"]) == (0.5, 2 / 3)
    assert (evaluation["missed"], evaluation["mistaken"]) == ([2], [3, 5])
    n_pairs = {band["length_band"]: band["n_pairs"] for band in evaluation["bands"]}
    assert n_pairs == {"0-4": 2, "5-15": 3, "16-40": 1, "41-": 0}
    for band in [evaluation["total"], *evaluation["bands"]]:
        assert band["stage_1"]["n_right"] >= band["decision"]["n_right"]


def test_fields_may_have_any_name(run: Run, tmp_path: Path) -> None:
    renamed = ({"first": at["a"], "second": at["b"], "same": at["label"]} for at in PAIRS)
    write_posts(tmp_path / "pairs.jsonl", *renamed)
    names = ("--a-field", "first", "--b-field", "second", "--label-field", "same")
    evaluation = json.loads(run("evaluate", "pairs.jsonl", *names, "--json").out)
    assert evaluation["total"]["decision"]["n_found"] == 4
    said = failed(run, "evaluate", "pairs.jsonl", "--a-field", "first", "--b-field", "second")
    assert "no pair with the texts first and second and a label" in said


def test_the_curve_tells_what_each_threshold_would_reach(run: Run, tmp_path: Path) -> None:
    file = write_posts(tmp_path / "pairs.jsonl", *PAIRS)
    evaluation = json.loads(run("evaluate", file, "--curve", "--json").out)
    curve = {point["threshold"]: point for point in evaluation["curve"]}
    found = [point["n_found"] for point in evaluation["curve"]]
    assert len(curve) == 20
    assert found == sorted(found, reverse=True)
    assert curve[0.5]["n_found"] == evaluation["total"]["decision"]["n_found"]
    assert curve[1.0]["n_found"] < curve[0.5]["n_found"]
    assert run("evaluate", file, "--curve").out.splitlines()[-1].split()[0] == "1.00"


def test_wrong_pairs_can_be_written(run: Run, tmp_path: Path) -> None:
    file = write_posts(tmp_path / "pairs.jsonl", *PAIRS)
    assert run("evaluate", file, "--wrong", "wrong.jsonl").code == 0
    wrong = [json.loads(line) for line in (tmp_path / "wrong.jsonl").read_text("utf-8").splitlines()]
    found = [(at["a"], at["b"], at["label"]) for at in wrong]
    assert found == [(REPEATED, OTHER, 1), (OTHER, OTHER, 0), ("好的", "好的", 0)]
    assert all(at["score"] is None for at in wrong)
    assert wrong[0]["threshold"] == 0.65


def test_people_get_a_table_by_length(run: Run, tmp_path: Path) -> None:
    ran = run("evaluate", write_posts(tmp_path / "pairs.jsonl", *PAIRS), "--config", "twitter")
    lines = ran.out.splitlines()
    assert lines[0].split()[:3] == ["length", "pairs", "duplicates"]
    assert lines[1].split()[:3] == ["all", "6", "3"]
    assert any(line.split() == ["config", "twitter"] for line in lines)


def test_csv_has_the_same_columns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(f"label,a,b\nduplicate,{REPEATED},{NEARLY}\nfalse,{OTHER},{NEARLY}\n", "utf-8")
    total = json.loads(run("evaluate", "pairs.csv", "--json").out)["total"]
    assert (total["n_pairs"], total["decision"]["f1"]) == (2, 1.0)


def test_pairs_that_cannot_be_used_are_counted_and_shown(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "pairs.jsonl", *PAIRS, pair("a", "b", "maybe"), {"a": "a", "label": 1}, {"b": "b"})
    ran = run("evaluate", name, "--json")
    assert ran.code == 1
    evaluation = json.loads(ran.out)
    assert (evaluation["total"]["n_pairs"], evaluation["n_bad_lines"]) == (6, 3)
    assert "3 bad lines: left out of the measures" in ran.err
    assert "pairs.jsonl, record 7: field 'label' must be one of" in ran.err


@pytest.mark.parametrize(
    ("name", "pairs", "fault"),
    [
        ("pairs.csv", {"x": "p", "y": "q", "label": 1}, "no column is called 'a'; the columns are 'x', 'y', 'label'"),
        ("pairs.csv", {"a": "p", "y": "q", "label": 1}, "no column is called 'b'; the columns are 'a', 'y', 'label'"),
        ("pairs.csv", {"a": "p", "b": "q", "same": 1}, "no column is called 'label'; the columns are 'a', 'b', 'same'"),
        ("pairs.jsonl", {"x": "p", "y": "q"}, "field 'a' is missing (fields: 'x', 'y')"),
        ("pairs.jsonl", {"a": "p", "y": "q", "label": 1}, "field 'b' is missing (fields: 'a', 'y', 'label')"),
        ("pairs.jsonl", {"a": "p", "b": "q", "same": 1}, "field 'label' is missing (fields: 'a', 'b', 'same')"),
        ("pairs.parquet", {"x": "p", "b": "q", "label": 1}, "no column is called 'a'; the columns are 'x', 'b', 'labe"),
        ("pairs.parquet", {"a": "p", "b": 1, "label": 1}, "column 'b' holds int64, not strings"),
        ("pairs.parquet", {"a": "p", "b": "q", "label": 7}, "which is one of 1, true, duplicate, 0, false, different."),
        ("pairs.jsonl", None, "which is one of 1, true, duplicate, 0, false, different."),
    ],
)
def test_a_file_without_a_usable_pair_is_an_error_that_says_which_field_is_missing(
    run: Run, tmp_path: Path, name: str, pairs: dict[str, Any] | None, fault: str
) -> None:
    write_table(tmp_path / name, [pairs] if pairs else [])
    said = failed(run, "evaluate", name)
    assert f"{name} holds no pair with the texts a and b and a label" in said
    assert fault in said
    assert "--text-field" not in said
