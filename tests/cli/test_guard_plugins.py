"""A plain function of a user as a guard, from the command line to what is removed."""

import json
from pathlib import Path

from tests.cli.support import Run

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
POSTS = [
    "the bakery on the corner sells its old oven for $a today",
    "the bakery on the corner sells its old oven for $b today",
    "The bakery on the corner sells its old oven for $a today!",
]


def test_a_plain_function_keeps_posts_apart(run: Run, tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text(PRICES)
    (tmp_path / "mine.yaml").write_text("must_agree: [prices]\nlengths: [{verifier: {use: edit, threshold: 0.8}}]\n")
    (tmp_path / "posts.txt").write_text("".join(f"{post}\n" for post in POSTS))
    ran = run("dedupe", "posts.txt", "--plugin", "prices", "--config", "mine.yaml", "--removed", "gone.jsonl")
    why = run("explain", "--plugin", "prices", "--config", "mine.yaml", *POSTS[:2])
    assert ran.code == 0, ran.err
    gone = [json.loads(line) for line in (tmp_path / "gone.jsonl").read_text("utf-8").splitlines()]
    assert [(post["row"], post["keeper_row"]) for post in gone] == [(2, 0)]
    assert "kept apart: prices ['$a'] / ['$b']" in why.out


def test_what_a_function_returns_is_checked(run: Run, tmp_path: Path) -> None:
    truths = PRICES.replace("return None if", "return True if").replace('"prices"', '"truths"')
    (tmp_path / "truths.py").write_text(truths)
    (tmp_path / "mine.yaml").write_text("must_agree: [truths]\nlengths: [{verifier: {use: edit, threshold: 0.8}}]\n")
    ran = run("explain", "--plugin", "truths", "--config", "mine.yaml", POSTS[0], POSTS[2])
    assert ran.code != 0
    assert "guard 'truths'" in ran.err
    assert "must return a str that is not empty, or None" in ran.err
