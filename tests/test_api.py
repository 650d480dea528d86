"""The public functions: what they take and refuse, and what users receive, how it prints and becomes plain data."""

import dataclasses
import importlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import polars as pl
import pytest

import hybriddup
from hybriddup.config import load_settings
from hybriddup.errors import ConfigError, HybriddupError
from hybriddup.window.records import Decision, Evidence
from tests.processes import ROOT, run_python

PAIR = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]


def as_rows(result: hybriddup.Result) -> list[tuple[int, int]]:
    return [(post.row, post.keeper_row) for post in result.removed]


@pytest.mark.parametrize(
    "posts",
    [
        PAIR,
        tuple(PAIR),
        iter(PAIR),
        [{"text": text} for text in PAIR],
        pd.DataFrame({"text": PAIR}),
        pl.DataFrame({"text": PAIR}),
    ],
    ids=["list", "tuple", "iterator", "dicts", "pandas", "polars"],
)
def test_posts_may_come_in_any_of_these(posts: Any) -> None:
    assert as_rows(hybriddup.dedupe(posts)) == [(1, 0)]


def test_ids_are_the_users_own() -> None:
    posts = [{"text": PAIR[0], "id": "first"}, {"text": PAIR[1]}]
    removed = hybriddup.dedupe(posts).removed[0]
    assert (removed.id, removed.duplicate_of, removed.text) == (1, "first", PAIR[1])


def test_configuration_may_come_in_any_form(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("keep: last\n", encoding="utf-8")
    settings = load_settings({"keep": "last"})
    configs: list[Any] = [str(file), file, {"keep": "last"}, settings]
    assert [hybriddup.dedupe(PAIR, config=config).kept for config in configs] == [[1]] * 4
    assert hybriddup.dedupe(PAIR, config="weibo").kept == [0]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: hybriddup.dedupe("one text"), r"A list with one text is \[text\]"),
        (lambda: hybriddup.explain("a", 7), r"b must be a string, or with run a row; got int 7"),  # type: ignore[arg-type]
        (lambda: hybriddup.explain("a", "b", corpus="ab"), r"A list with one text is \[text\]"),
        (lambda: hybriddup.explain("a", "b", corpus=["a", None]), r"posts\[1\] must be a string"),  # type: ignore[list-item]
        (lambda: hybriddup.learn(["a"], "no/such/folder.npz"), r"folder.npz could not be written: No such file"),
        (lambda: hybriddup.dedupe(["a"]).report("no/such/page.html"), r"page.html could not be written: No such file"),
        (lambda: hybriddup.dedupe(["a"], plugins="mine"), r"A list with one plugin is \['mine'\]"),
        (lambda: hybriddup.Window.open(time="events"), r"time must be one of arrival, event; got 'events'"),  # type: ignore[arg-type]
    ],
)
def test_every_error_is_of_the_family_and_says_what_is_wrong(ask: Callable[[], Any], message: str) -> None:
    """So that callers can catch all of them, and users need no traceback."""
    with pytest.raises(HybriddupError, match=message):
        ask()


@pytest.mark.parametrize("workers", [-1, 0, "2", 1.5, True])
@pytest.mark.parametrize("function", [hybriddup.dedupe, hybriddup.fingerprint])
def test_workers_are_a_whole_number_of_at_least_one(function: Any, workers: Any) -> None:
    with pytest.raises(ConfigError, match=rf"workers must be a whole number, 1 or more.*got {workers!r}"):
        function(PAIR, workers=workers)


@pytest.mark.parametrize("bits", [64, 128, 256])
def test_fingerprints_have_the_width_asked_for(bits: int) -> None:
    config = {"fingerprint": {"bits": bits}, "lengths": [{"exact_only": True}]}
    fingerprints = hybriddup.fingerprint(["good morning", ""], config=config)
    assert (fingerprints.dtype, fingerprints.shape) == (np.uint64, (2, bits // 64))
    assert not fingerprints[1].any()
    assert hybriddup.fingerprint([], config=config).shape == (0, bits // 64)


def test_result_says_in_one_line_what_was_decided() -> None:
    """As a notebook or a debugger shows it."""
    assert repr(hybriddup.dedupe([*PAIR, PAIR[0]])) == "Result: kept 1 of 3, removed 2 (1 exact, 1 near)"


def test_labels_name_the_keeper_of_each_row() -> None:
    """Rows that stay, and rows that were left out, are their own."""
    posts = [PAIR[0], "", PAIR[1], "明天下雨吗，要不要带伞出门"]
    assert hybriddup.dedupe(posts, config={"without_text": "drop"}).labels.tolist() == [0, 1, 0, 3]


def test_filter_returns_the_kept_posts_as_they_were_given() -> None:
    frame = pl.DataFrame({"text": [*PAIR, "x"], "likes": [1, 2, 3]})
    result = hybriddup.dedupe(frame)
    assert result.filter(frame).equals(pl.DataFrame({"text": [PAIR[0], "x"], "likes": [1, 3]}))
    assert result.filter([1, 2, 3]) == [1, 3]
    assert result.to_polars()["keeper_row"].to_list() == result.to_pandas()["keeper_row"].to_list() == [0]


POSTS = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "明天下雨吗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]
EXAMPLES = """
import hybriddup

result = hybriddup.dedupe([{"text": "a"}, {"text": "b"}])
kept: list[dict[str, str]] = result.filter([{"text": "a"}, {"text": "b"}])
first: hybriddup.Removed = result.removed[0]
summary: hybriddup.Summary = result.summary
with hybriddup.Window.open(horizon="2d") as window:
    decision: hybriddup.Decision = window.add({"id": "a", "text": "b"})
    print(decision.decision, "of", decision.duplicate_of, len(window), "a" in window)
    post: hybriddup.StoredPost | None = window.get("a")
    stats: hybriddup.WindowStats = window.stats()
tuned: hybriddup.Tuned = hybriddup.tune([("a", "b", True)])
"""


def test_names_are_what_is_listed() -> None:
    assert dir(hybriddup) == sorted([*hybriddup.__all__, "__version__"])
    assert all(inspect.getdoc(getattr(hybriddup, name)) for name in hybriddup.__all__)
    answers = {"Decision", "Match", "StoredPost", "WindowStats", "Summary", "Explanation", "Evaluation", "Tuned"}
    assert answers <= set(dir(hybriddup))
    errors = vars(importlib.import_module("hybriddup.errors")).values()
    assert {error.__name__ for error in errors if inspect.isclass(error)} <= set(dir(hybriddup))


WRONG = """
import hybriddup

hybriddup.dedupe(3)
hybriddup.dedup(["a"])
hybriddup.dedupe(["a"]).kept.append("row")
"""
FAULTS = """\
wrong.py:4: error: Argument 1 to "dedupe" has incompatible type "int"
wrong.py:5: error: Module has no attribute "dedup"
wrong.py:6: error: Argument 1 to "append" of "list" has incompatible type
Found 3 errors"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "found"),
    [(EXAMPLES, "Success: no issues found in 1 source file"), (WRONG, FAULTS)],
    ids=["right", "wrong"],
)
def test_types_are_those_of_strict_checking(tmp_path: Path, code: str, found: str) -> None:
    """Though names are loaded when they are first used."""
    (tmp_path / "wrong.py").write_text(code)
    mypy = ("-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "wrong.py")
    ran = run_python(*mypy, cwd=tmp_path, check=False, MYPYPATH=str(ROOT))
    pairs = zip(ran.stdout.splitlines(), found.splitlines(), strict=True)
    assert [(line, start) for line, start in pairs if not line.startswith(start)] == []


def test_a_decision_is_an_object_in_json() -> None:
    with hybriddup.Window.open() as window:
        kept, duplicate = window.add_many([{"id": n, "text": POSTS[n]} for n in (0, 2)])
        stored = window.get(2)
    assert (kept.duplicate_of, duplicate.duplicate_of, stored.duplicate_of) == (None, 0, 0)
    sent = orjson.loads(orjson.dumps(duplicate))
    assert (sent["decision"], sent["evidence"]["duplicate_of"]) == ("duplicate", 0)
    plain = json.loads(json.dumps(duplicate.to_dict()))
    assert {"id": 2, "decision": "duplicate", "duplicate_of": 0, "reason": "near"}.items() <= plain.items()
    assert json.loads(json.dumps(stored.to_dict())).items() >= {"text": POSTS[2], "duplicate_of": 0}.items()
    with pytest.raises(dataclasses.FrozenInstanceError):
        duplicate.position = 7
    with pytest.raises(dataclasses.FrozenInstanceError):
        duplicate.evidence.score = 1.0
    assert [type(answer) for answer in (duplicate, duplicate.evidence)] == [Decision, Evidence]


def test_a_window_has_a_length_and_contains_ids() -> None:
    with hybriddup.Window.open(horizon="2d") as window:
        assert (len(window), bool(window), repr(window)) == (0, True, "Window: 0 kept posts, horizon 2 days, 0:00:00")
        window.add_many([{"id": n, "text": text} for n, text in enumerate(POSTS)])
        assert (len(window), 0 in window, 2 in window, "2" in window, None in window) == (2, True, True, False, False)
    assert repr(window) == "Window: closed"


def test_nothing_prints_a_thousand_posts() -> None:
    result = hybriddup.dedupe([f"{text} {'x' * 300}" for text in POSTS for _ in range(400)])
    assert repr(result.summary).startswith("Summary: kept ")
    assert repr(hybriddup.load_settings("posts")).startswith("Settings: microblog, char_ngrams")
    shown = repr(result.removed)
    assert shown.endswith(f"and {len(result.removed) - 3:,} more]")
    assert all(len(repr(one)) < 600 for one in (result.removed, result.removed[0], result.summary, result))
    assert repr(result.removed[:1]) == f"[{result.removed[0]!r}]"


def test_a_file_is_deduplicated_as_by_the_command(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in POSTS))
    result = hybriddup.dedupe_files(path, removed=tmp_path / "removed.csv")
    assert result.kept == [0, 1]
    assert (tmp_path / "posts.kept.jsonl").read_text() == "".join(path.read_text().splitlines(keepends=True)[:2])
    assert len((tmp_path / "removed.csv").read_text().splitlines()) == 2
    with pytest.raises(hybriddup.OutputError, match="exists already"):
        hybriddup.dedupe_files([path])
    assert hybriddup.dedupe_files([path], threshold=0.99, force=True, dry_run=True).kept == [0, 1, 2]


def test_an_arrow_table_is_taken_and_returned() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"body": [*POSTS, None], "user": [{"id": n} for n in (1, 1, 1, 2)]})
    result = hybriddup.dedupe(table, text_field="body", id_field="user.id", per="user.id")
    assert result.filter(table).column("body").to_pylist() == [*POSTS[:2], None]
    assert result.removed[0].duplicate_of == 1
    with pytest.raises(hybriddup.InputError, match="has no column 'text' \\(columns: 'body', 'user'\\)"):
        hybriddup.dedupe(table)


def test_a_higher_threshold_needs_no_new_run() -> None:
    result = hybriddup.dedupe([*POSTS, POSTS[0]])
    score = result.removed[0].score
    assert 0.5 < score < 1
    for threshold, kept in [(0.5, [0, 1]), (score, [0, 1]), (1.0, [0, 1, 2])]:
        raised = result.rethreshold(threshold)
        assert (raised.kept, raised.summary.n_kept) == (kept, len(kept))
        assert [post.row for post in raised.removed] == [row for row in (2, 3) if row not in kept]
        assert raised.summary.n_near == 3 - len(kept)
        assert all(post.score >= post.threshold >= min(threshold, post.score) for post in raised.removed)
        assert raised.labels.tolist() == [row if row in kept else 0 for row in range(4)]
    assert result.rethreshold(0.7).rethreshold(0.9).kept == [0, 1, 2]


EITHER = {"any": [{"use": "edit", "threshold": 0.9}, {"use": "post", "threshold": 0.5}]}


@pytest.mark.parametrize(
    ("config", "threshold", "message"),
    [
        ("posts", 0.3, "from 0.5, the lowest of this run"),
        ("posts", 1.1, "to 1.0; got 1.1"),
        ({"lengths": [{"verifier": EITHER}]}, 0.9, "several verifiers judge together"),
    ],
)
def test_a_threshold_that_scores_cannot_answer_is_refused(config: Any, threshold: float, message: str) -> None:
    with pytest.raises(hybriddup.InputError, match=message):
        hybriddup.dedupe(POSTS, config=config).rethreshold(threshold)


def bands(config: dict[str, Any]) -> list[Any]:
    lengths = hybriddup.load_settings(config).lengths
    return [band.verifier and (band.verifier.use, band.verifier.threshold) for band in lengths]


def test_a_threshold_may_be_written_alone() -> None:
    assert bands({"threshold": 0.8}) == [("post", 0.8)] * 4
    two = [{"up_to": 40, "threshold": 0.8}, {"verifier": "edit", "threshold": 0.9}]
    assert bands({"lengths": two}) == [("post", 0.8), ("edit", 0.9)]
    one_for_all = {"threshold": 0.7, "lengths": [{"up_to": 8, "exact_only": True}, {"verifier": {"use": "edit"}}]}
    assert bands(one_for_all) == [None, ("edit", 0.7)]
    own = {"threshold": 0.7, "lengths": [{"verifier": {"use": "edit", "threshold": 0.9}}]}
    assert bands(own) == [("edit", 0.9)]


def test_a_component_may_be_written_by_its_name() -> None:
    settings = hybriddup.load_settings({"tokenizer": "jieba", "normalizer": ["microblog", "chat"]})
    assert (settings.tokenizer.use, settings.tokenizer.options["hmm"]) == ("jieba", True)
    assert [one.use for one in settings.normalizers] == ["microblog", "chat"]
    assert hybriddup.load_settings(settings) == settings


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"threshold": 2}, "^threshold must be a number from 0.0 to 1.0"),
        ({"lengths": [{"threshold": "high"}]}, r"^lengths\[0\].threshold must be a number"),
        (
            {"threshold": 0.5, "lengths": [{"verifier": {"any": [{"use": "edit", "threshold": 0.8}]}}]},
            r"^threshold is one threshold, but lengths\[0\] has several verifiers",
        ),
        ({"tokenizer": "jiebar"}, "Did you mean 'jieba'"),
    ],
)
def test_a_wrong_shorthand_is_one_error(config: dict[str, Any], message: str) -> None:
    with pytest.raises(hybriddup.ConfigError, match=message) as error:
        hybriddup.load_settings(config)
    assert len(str(error.value).splitlines()) == 1
