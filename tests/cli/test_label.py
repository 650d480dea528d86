"""`hybriddup label`: pairs of one's own posts, judged one by one."""

import json
from pathlib import Path

import pytest

import hybriddup
from tests.cli.support import NEARLY, REPEATED, Run, read_objects, write_posts
from tests.posts import generated_posts

POSTS = [text for text in dict.fromkeys(generated_posts(8, 300)) if text.isprintable()]
PAIRS = "pairs.jsonl"


@pytest.fixture
def posts(tmp_path: Path) -> str:
    return write_posts(tmp_path / "posts.jsonl", *POSTS)


def typed(*letters: str) -> bytes:
    return "".join(f"{letter}\n" for letter in letters).encode()


def test_answers_are_written_and_the_end_of_the_input_ends_it(run: Run, posts: str, tmp_path: Path) -> None:
    ran = run("label", posts, "-o", PAIRS, stdin=typed("y", "n", "what?", "Yes", "u"))
    assert ran.code == 0
    written = read_objects(tmp_path / PAIRS)
    assert [at["label"] for at in written] == [1, 0, 1, "unsure"]
    assert {at[side] for at in written for side in "ab"} <= set(POSTS)
    assert len({frozenset((at["a"], at["b"])) for at in written}) == 4
    assert "4 answers in pairs.jsonl" in ran.err


def test_back_asks_about_the_pair_before_again(run: Run, posts: str, tmp_path: Path) -> None:
    run("label", posts, "-o", PAIRS, stdin=typed("b", "y", "y", "b", "n", "q", "y"))
    assert [at["label"] for at in read_objects(tmp_path / PAIRS)] == [1, 0]


def test_the_same_command_goes_on(run: Run, posts: str, tmp_path: Path) -> None:
    run("label", posts, "-o", PAIRS, stdin=typed(*"yny"))
    before = read_objects(tmp_path / PAIRS)
    run("label", posts, "-o", PAIRS, stdin=typed(*"nn"))
    after = read_objects(tmp_path / PAIRS)
    assert after[:3] == before
    assert len({frozenset((at["a"], at["b"])) for at in after}) == len(after) == 5


def test_posts_come_back_with_any_characters_and_from_any_field(run: Run, tmp_path: Path) -> None:
    """A lone surrogate among them; a bad line is left out, and the exit code says so."""
    texts = {REPEATED + "\ud83d", NEARLY + "\ud83d"}
    lines = [*(json.dumps({"body": text}) for text in texts), "broken"]
    (tmp_path / "posts.jsonl").write_text("\n".join(lines), "utf-8")
    ran = run("label", "posts.jsonl", "-o", PAIRS, "--text-field", "body", stdin=typed("y"))
    assert (ran.code, "1 bad line: not shown" in ran.err) == (1, True)
    [at] = read_objects(tmp_path / PAIRS)
    assert {at["a"], at["b"]} == texts


def test_pairs_of_all_scores_come_first(run: Run, posts: str, tmp_path: Path) -> None:
    """So that it is seen where judgement turns, and a hundred answers can be tuned with."""
    run("label", posts, "-o", PAIRS, stdin=typed(*"u" * 33))
    scores = [hybriddup.explain(at["a"], at["b"]).score for at in read_objects(tmp_path / PAIRS)]
    assert len({round(10 * score) for score in scores if score is not None}) >= 8


def test_answers_can_be_tuned_with(run: Run, posts: str, tmp_path: Path) -> None:
    run("label", posts, "-o", PAIRS, stdin=typed(*"ynynynuynynynynynynynynyn"))
    ran = run("tune", PAIRS, "-o", "mine.yaml")
    assert (ran.code, ran.err.count("bad")) == (0, 0)
    assert (tmp_path / "mine.yaml").exists()


def test_pairs_are_shown_with_what_only_one_has_in_brackets(run: Run, tmp_path: Path) -> None:
    posts = write_posts(tmp_path / "two.jsonl", "see you soon,\x07 Zoë 👨‍👩‍👧", "see you late,\x07 Zoé 👨‍👩‍👦")
    shown = run("label", posts, "-o", PAIRS, stdin=b"").out
    assert "see you ⟦soon⟧,  ⟦Zoë⟧ ⟦👨‍👩‍👧⟧\n" in shown
    assert "see you ⟦late⟧,  ⟦Zoé⟧ ⟦👨‍👩‍👦⟧\n" in shown
