"""`hybriddup explain`: two texts, or a removed post and its keeper."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, jsonl, write_posts


def test_each_step_and_the_verdict_are_shown(run: Run) -> None:
    ran = run("explain", REPEATED, NEARLY)
    assert ran.code == 0
    labels = ["text", "normalized", "tokens", "fingerprint", "length band", "distance", "block keys", "second look"]
    assert [label for label in labels if f"\n{label}  " not in ran.out] == []
    verdict = "B repeats A if a run compares the two: the post score 0.7106 reaches the threshold 0.5"
    assert ran.out.splitlines()[-1].startswith(verdict)


def test_texts_that_differ_are_explained_too(run: Run) -> None:
    assert "B does not repeat A" in run("explain", REPEATED, OTHER).out


def test_invisible_characters_are_shown_as_escapes(run: Run) -> None:
    ran = run("explain", "first line\nsecond line", "half an emoji \ud83d")
    assert "first line\\nsecond line" in ran.out
    assert "half an emoji \\ud83d" in ran.out


def test_the_explanation_for_machines_is_json(run: Run) -> None:
    explanation = json.loads(run("explain", REPEATED, NEARLY, "--json").out)
    assert explanation["matches"] is True
    assert explanation["length_band"] == "16-40"
    assert explanation["a"]["text"] == REPEATED


def test_texts_that_begin_with_a_dash_follow_two_dashes(run: Run) -> None:
    assert run("explain", "--json", "--", "-- first", "-- second").code == 0


def test_two_texts_are_explained_as_in_a_run(run: Run, tmp_path: Path) -> None:
    posts = write_posts(tmp_path / "posts.jsonl", *(f"{REPEATED} #{name}" for name in ("一", "二", "三")), NEARLY)
    run("dedupe", posts, "-o", "kept.jsonl", "--save-recipe", "recipe.npz")
    alone = run("explain", REPEATED, NEARLY)
    assert "--recipe" in alone.out.splitlines()[-1]
    for known in (["--input", posts], ["--recipe", "recipe.npz"]):
        ran = run("explain", REPEATED, NEARLY, *known)
        assert ran.out.splitlines()[-1].startswith("B repeats A: the post score 0.7106 reaches the threshold 0.5")
    as_json = [json.loads(run("explain", REPEATED, NEARLY, "--json", *more).out) for more in ([], ["--input", posts])]
    assert [explanation["is_certain"] for explanation in as_json] == [False, True]


def test_a_removed_post_was_compared(run: Run, tmp_path: Path) -> None:
    posts = write_posts(tmp_path / "posts.jsonl", REPEATED, OTHER, NEARLY)
    run("dedupe", posts, "-o", "kept.jsonl", "--removed", "removed.jsonl", "--save-recipe", "recipe.npz")
    run("learn", write_posts(tmp_path / "others.jsonl", *[OTHER] * 9, "啊啊啊", NEARLY), "-o", "other.npz")
    by_row = ["explain", "--file", "removed.jsonl", "--row", "2"]
    ran = run(*by_row)
    assert ran.out.splitlines()[-1].startswith("B repeats A: the post score ")
    assert "note" not in run(*by_row, "--recipe", "recipe.npz").err
    assert "differ from the run's" in " ".join(run(*by_row, "--recipe", "other.npz").err.split())


def test_two_kept_posts_are_explained_as_posts_of_the_run(run: Run, tmp_path: Path) -> None:
    posts = write_posts(tmp_path / "posts.jsonl", OTHER, REPEATED, OTHER, NEARLY)
    run("dedupe", posts, "-o", "kept.jsonl", "--save-recipe", "recipe.npz", "--threshold", "0.99")
    kept = ["explain", "--kept", "kept.jsonl", "--row", "1", "--row", "2", "--json"]
    known = [json.loads(run(*kept, *more).out) for more in (["--input", posts], ["--recipe", "recipe.npz"])]
    assert known[0] == known[1]
    assert (known[0]["a"]["text"], known[0]["b"]["text"]) == (REPEATED, NEARLY)
    assert (known[0]["outcome"], known[0]["is_candidate"]) == ("kept", True)
    assert {"回家罗", "你妈妈"} & set(known[0]["shared_keys"])
    assert "The run kept both, so it did not verify this pair." in known[0]["verdict"]
    alone = json.loads(run(*kept).out)
    assert (alone["outcome"], alone["is_candidate"]) == ("kept", None)
    assert "not known: a run might not compare this pair" in run(*kept[:-1]).out
    as_run = json.loads(run(*kept, "--input", posts, "--threshold", "0.99").out)
    assert (as_run["matches"], as_run["threshold"]) == (False, 0.99)


def test_kept_posts_of_two_users_were_never_compared(run: Run, tmp_path: Path) -> None:
    kept = write_posts(tmp_path / "kept.jsonl", *({"text": REPEATED, "user": user} for user in ("ann", "bo", "ann")))
    by_user = ["explain", "--kept", kept, "--per", "user", "--row", "0", "--row"]
    assert "user is 'ann' and 'bo', and the run compared only posts with the same user" in run(*by_user, "1").out
    assert "B repeats A" in run(*by_user, "2").out


def test_a_removed_post_has_the_distance_and_the_score_of_its_run(run: Run, tmp_path: Path) -> None:
    posts = write_posts(tmp_path / "posts.jsonl", *[f"{text}{OTHER}" for text in "天地玄黄"], REPEATED, NEARLY)
    run("dedupe", posts, "--removed", "removed.jsonl")
    records = [json.loads(line) for line in (tmp_path / "removed.jsonl").read_text("utf-8").splitlines()]
    record = next(record for record in records if record["text"] == NEARLY)
    record |= {"hamming_distance": 39, "score": 0.75}
    (tmp_path / "removed.jsonl").write_text(jsonl(record), "utf-8")
    by_row = ["explain", "--file", "removed.jsonl", "--row", "5", "--json"]
    explained = json.loads(run(*by_row).out)
    assert (explained["outcome"], explained["is_candidate"]) == ("removed", True)
    assert (explained["hamming_distance"], explained["score"]) == (39, 0.75)
    other = json.loads(run(*by_row, "--config", "twitter").out)
    assert (other["outcome"], other["is_candidate"]) == (None, None)
    assert other["hamming_distance"] != 39


def test_a_removed_post_is_explained_by_its_row(run: Run, tmp_path: Path) -> None:
    posts = [{"body": body, "likes": likes} for body, likes in ((OTHER, 1), (NEARLY, 5), (REPEATED, 9))]
    inputs = [write_posts(tmp_path / "a.jsonl", *posts[:2]), write_posts(tmp_path / "b.jsonl", posts[2])]
    outputs = ["-o", "kept.jsonl", "--removed", "removed.jsonl.gz", "--summary", "summary.json"]
    (tmp_path / "liked.yaml").write_text("keep: {highest: likes}\n", "utf-8")
    field = ["--text-field", "body"]
    run("dedupe", *inputs, *outputs, *field, "--config", "liked.yaml", "--threshold", "0.3")
    by_row = ["explain", "--file", "removed.jsonl.gz", "--row", "1", "--json"]
    with_inputs = run(*by_row, "--input", inputs[0], "--input", inputs[1], *field)
    explanation = json.loads(with_inputs.out)
    assert (explanation["a"]["text"], explanation["b"]["text"]) == (REPEATED, NEARLY)
    assert (explanation["matches"], explanation["threshold"]) == (True, 0.3)
    assert explanation["recipe_id"] == json.loads((tmp_path / "summary.json").read_text("utf-8"))["recipe_id"]
    assert "note" not in with_inputs.err
    alone = run(*by_row)
    assert json.loads(alone.out)["reasons"] == explanation["reasons"]
    assert "note" not in alone.err


def test_an_explanation_by_something_else_than_the_run_says_so(run: Run, tmp_path: Path) -> None:
    """By another configuration, as it was asked for; or by the same one, changed since."""
    posts = write_posts(tmp_path / "posts.jsonl", REPEATED, OTHER, NEARLY)
    (tmp_path / "mine.yaml").write_text("keep: last\n", "utf-8")
    run("dedupe", posts, "--removed", "removed.jsonl", "--config", "mine.yaml")
    by_row = ["explain", "--file", "removed.jsonl", "--row", "0"]
    by_twitter = " ".join(run(*by_row, "--config", "twitter").err.split())
    assert "note: removed.jsonl was made with the configuration mine.yaml; this explanation uses twitter" in by_twitter
    assert "note" not in run(*by_row, "--input", posts).err
    (tmp_path / "mine.yaml").write_text("keep: last\nfingerprint: {bits: 256}\n", "utf-8")
    assert "differ from the run's" in " ".join(run(*by_row, "--input", posts).err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["only one text"], "give two texts, or --file REMOVED and --row N, or --kept KEPT and --row N --row M"),
        (["a", "b", "--input", "posts.jsonl", "--recipe", "recipe.npz"], "give either --input or --recipe"),
        (["a", "b", "--recipe", "absent.npz"], "cannot read absent.npz"),
        (["--file", "removed.jsonl"], "or --file REMOVED and --row N"),
        (["a", "b", "--row", "2"], "or --file REMOVED and --row N"),
        (["--kept", "posts.jsonl", "--row", "2"], "or --kept KEPT and --row N --row M"),
        (["--kept", "posts.jsonl", "--row", "2", "--row", "3"], "--row 3 is not a post of posts.jsonl"),
        (["a", "b", "--per", "user"], "--per goes with --kept"),
        (["--file", "removed.jsonl", "--row", "1", "--input", "posts.jsonl"], "row 1 is not among the 1 removed posts"),
        (["--file", "removed.jsonl", "--row", "2", "--input", "other.jsonl"], "differs from the text in removed.jsonl"),
        (["--file", "posts.jsonl", "--row", "2", "--input", "posts.jsonl"], "is not a file of removed posts"),
        (["--file", "absent", "--row", "2", "--input", "posts.jsonl"], "absent cannot be read"),
    ],
)
def test_what_cannot_be_explained_is_an_error(run: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    run("dedupe", write_posts(tmp_path / "posts.jsonl", REPEATED, OTHER, NEARLY), "--removed", "removed.jsonl")
    (tmp_path / "other.jsonl").write_text(jsonl(OTHER, OTHER, OTHER), "utf-8")
    assert message in " ".join(failed(run, "explain", *arguments).split())


def test_what_makes_a_score_is_told(run: Run) -> None:
    one, other = "今天新增确诊病例，累计已经很多例了", "今天新增确诊病例12例，累计已经有很多例了"
    numbers = json.loads(run("explain", one, other, "--json").out)
    assert numbers["reasons"][:2] == ["added: 12例", "added: 有"]
    directions = [line.split(": ")[0] for line in numbers["reasons"][2:]]
    assert set(directions) <= {"raises the score", "lowers the score"}
    added = [list(map(float, re.findall(r"\(([+-][0-9.]+)\)", line))) for line in numbers["reasons"][2:]]
    assert sum(map(len, added)) == 4
    assert added == [sorted(of_line, key=abs, reverse=True) for of_line in added]
    assert not any(re.search("[a-z]_[a-z]", line) for line in numbers["reasons"])
    assert "because" in run("explain", one, other).out


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("good morning all my friends", "good morning all my friends!", "score is 1: only marks and spelling differ"),
        ("good morning all my friends", "nice evening to you", "the shorter text are in the other, under 0.7"),
        ("[泪水啊]", "[泪水呀]", "the score is 0: there are no words, and the hashtags or emoji differ"),
    ],
)
def test_a_score_that_no_word_makes_has_its_reason(run: Run, one: str, other: str, reason: str) -> None:
    assert reason in run("explain", one, other).out
