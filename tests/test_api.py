"""The public functions: they agree with each other, and refuse what is no list of posts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hybriddup
from hybriddup.config import load_settings
from hybriddup.errors import ConfigError, HybriddupError

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
