"""Pairs of accounts that post the same text within a given time."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybriddup
from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, write_posts


def post(text: str, user: Any, seconds: float) -> dict[str, Any]:
    """A post some seconds after the first of January."""
    return {"text": text, "user": {"id": user}, "created_at": 1_767_225_600 + seconds}


POSTS = [
    *(post(REPEATED, "ann", 0), post(NEARLY, "bo", 60), post(REPEATED, "cy", 61), post(REPEATED, "ann", 70)),
    *(post(OTHER, "bo", 500), post(OTHER, "ann", 510), post(OTHER, "dee", 9000), post(OTHER, None, 505)),
]


def test_pairs_of_accounts_are_written_with_their_counts(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    ran = run("accounts", name, "--user", "user.id", "--within", "60s", "-o", "pairs.csv")
    assert ran.code == 0, ran.err
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as stream:
        found = list(csv.reader(stream))
    assert found == [
        ["account_a", "account_b", "n_pairs", "n_texts", "first_seen", "last_seen"],
        ["ann", "bo", "3", "2", "2026-01-01T00:00:00Z", "2026-01-01T00:08:30Z"],
        ["ann", "cy", "1", "1", "2026-01-01T00:01:01Z", "2026-01-01T00:01:10Z"],
        ["bo", "cy", "1", "1", "2026-01-01T00:01:00Z", "2026-01-01T00:01:01Z"],
    ]
    assert "3 pairs of accounts among 8 posts, within 60s" in ran.err
    assert "left out 1 posts without 'user.id' or a time in 'created_at'" in ran.err


def test_python_returns_the_same_pairs() -> None:
    pairs = hybriddup.accounts(POSTS, user="user.id", min_texts=2)
    assert [(one.account_a, one.account_b, one.n_pairs, one.n_texts) for one in pairs] == [("ann", "bo", 3, 2)]
    assert hybriddup.accounts(POSTS, user="user.id", within="1s")[0].account_b == "cy"
    assert hybriddup.accounts([], user="user") == []


def test_pairs_are_those_of_every_pair_of_posts() -> None:
    rng = np.random.default_rng(1)
    texts = [REPEATED, NEARLY, OTHER, "just finished the last chapter and I am not okay"]
    posts = [post(str(rng.choice(texts)), int(rng.integers(6)), float(rng.integers(2000))) for _ in range(200)]
    expected: dict[tuple[int, int], int] = {}
    kinds = [0 if one["text"] == NEARLY else texts.index(one["text"]) for one in posts]
    for i, a in enumerate(posts):
        for j, b in enumerate(posts[:i]):
            pair = tuple(sorted((a["user"]["id"], b["user"]["id"])))
            if kinds[i] == kinds[j] and pair[0] != pair[1] and abs(a["created_at"] - b["created_at"]) <= 100:
                expected[pair] = expected.get(pair, 0) + 1
    pairs = hybriddup.accounts(posts, user="user.id", within="100s")
    assert {tuple(sorted((one.account_a, one.account_b))): one.n_pairs for one in pairs} == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--user", "author"], "posts has the field 'author'; name the right one with --user"),
        (["--user", "user.id", "--time-field", "at"], "has the field 'at'; name the right one with --time-field"),
        (["--user", "user.id", "--within", "soon"], "within must be a number with s, m, h or d, such as 60s"),
        (["--user", "user.id", "-o", "pairs.xlsx"], "pairs of accounts are not written as .xlsx"),
    ],
)
def test_what_cannot_be_found_is_refused(run: Run, tmp_path: Path, options: list[str], message: str) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    assert message in failed(run, "accounts", name, *options)
