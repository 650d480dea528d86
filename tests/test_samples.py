"""The sample posts are what their README says: ids, labels, counts, hosts and encodings."""

import csv
import re
import unicodedata
from collections import defaultdict
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from rapidfuzz.distance import Indel

from tests.posts import SAMPLES, load_sample

README = SAMPLES / "README.md"
LINK = re.compile(r"https?://[!-~]+")
REPOST_MARK = re.compile(r"转发微博|//@[\w·-]+:|回复@[\w·-]+:|\brt @[\w·-]+:?")
MENTION = re.compile(r"@[\w·-]+")


def fold(text: str) -> str:
    """Return the text without what README.md sets aside: case, width, links, repost marks, mentions, white space."""
    text = LINK.sub("", unicodedata.normalize("NFKC", text).casefold())
    text = MENTION.sub("", REPOST_MARK.sub("", text))
    return re.sub(r"\s+", "", text)


def similarity(a: str, b: str) -> float:
    return Indel.normalized_similarity(fold(a), fold(b))


def script(text: str) -> str:
    """Return ``Chinese``, ``English`` or ``other`` by the letters of the text, links and handles aside."""
    letters = [c for c in MENTION.sub("", LINK.sub("", text)) if c.isalpha()]
    names = {unicodedata.name(c, "").split(" ")[0].removeprefix("FULLWIDTH") for c in letters}
    if names & {"HIRAGANA", "KATAKANA", "HALFWIDTH", "HANGUL"} or not letters:
        return "other"
    if "CJK" in names:
        return "Chinese"
    return "English" if names <= {"LATIN"} else "other"


POSTS = load_sample("posts.jsonl")
TEXTS = {post["id"]: post["text"] for post in POSTS}
PLACES = {post["id"]: place for place, post in enumerate(POSTS)}
TRUTH = load_sample("truth.jsonl")
PAIRS = load_sample("pairs.jsonl")


def families() -> dict[str, str]:
    """Return for each planted post the first post of its family."""
    roots = {post_id: post_id for post_id in TEXTS}
    for line in TRUTH:
        roots[line["b"]] = roots[line["a"]]
    return roots


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_every_file_is_utf8_with_unix_line_ends(path: Path) -> None:
    data = path.read_bytes()
    assert data.decode("utf-8").endswith("\n")
    assert not data.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in data


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_links_lead_to_reserved_hosts_only(path: Path) -> None:
    hosts = {urlsplit(link).hostname for link in LINK.findall(path.read_text(encoding="utf-8"))}
    assert hosts <= {"example.com", "example.org"}


def test_posts_have_the_documented_fields_in_order() -> None:
    types = [("id", str), ("text", str), ("created_at", str), ("user", str), ("likes", int)]
    assert all([(name, type(value)) for name, value in post.items()] == types for post in POSTS)
    assert len(TEXTS) == len(POSTS)
    times = [datetime.fromisoformat(post["created_at"]) for post in POSTS]
    assert all(earlier < later for earlier, later in pairwise(times))


def test_truth_says_once_what_each_planted_post_is() -> None:
    planted = [line["b"] for line in TRUTH]
    assert len(set(planted)) == len(planted)
    assert all(line["note"] and PLACES[line["a"]] < PLACES[line["b"]] for line in TRUTH)


def test_the_sentence_pair_of_the_design_is_planted() -> None:
    pair = {"你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"}
    traditional = {"你媽媽喊你回家吃飯哦，回家羅回家羅", "你媽媽叫你回家吃飯啦，回家羅回家羅"}
    assert pair | traditional <= set(TEXTS.values())


def test_pairs_are_balanced_and_distinct() -> None:
    """As many pairs are labeled 1 as 0, and no pair is listed twice, either way round."""
    labels = [pair["label"] for pair in PAIRS]
    assert set(labels) == {0, 1}
    assert labels.count(1) == labels.count(0)
    assert len({frozenset((pair["a"], pair["b"])) for pair in PAIRS}) == len(PAIRS)


def test_the_small_files_hold_the_same_posts() -> None:
    with (SAMPLES / "posts_small.csv").open(encoding="utf-8", newline="") as file:
        comma = list(csv.DictReader(file))
    with (SAMPLES / "posts_small.tsv").open(encoding="utf-8", newline="") as file:
        tab = list(csv.DictReader(file, dialect="excel-tab"))
    lines = (SAMPLES / "posts_small.txt").read_text(encoding="utf-8").splitlines()
    assert any("\n" in row["text"] for row in comma)
    assert [{**row, "text": row["text"].replace("\n", " ")} for row in comma] == tab
    assert [row["text"] for row in tab] == lines


def kind_rows() -> list[str]:
    """Return the rows of README.md's table of kinds, computed from the files."""
    found = defaultdict(list)
    for line in TRUTH:
        found[line["relation"], line["kind"]].append(similarity(TEXTS[line["a"]], TEXTS[line["b"]]))
    rows = []
    for relation in ("exact", "near", "different"):
        for kind in sorted(kind for of, kind in found if of == relation):
            scores = found[relation, kind]
            reach = "none" if kind == "link_only" else f"{min(scores):.2f} to {max(scores):.2f}"
            rows.append(f"| {relation} | `{kind}` | {len(scores)} | {reach} |")
    return rows


def count_rows() -> list[str]:
    """Return the rows of README.md's table of counts, computed from the files."""
    scripts = [script(text) for text in TEXTS.values()]
    relations = [line["relation"] for line in TRUTH]
    close = [line for line in TRUTH if similarity(TEXTS[line["a"]], TEXTS[line["b"]]) >= 0.8 and fold(TEXTS[line["a"]])]
    close_negatives = [line["kind"] for line in close if line["relation"] == "different"]
    close_repeats = [line for line in close if line["relation"] == "near"]
    roots = families()
    counts = {
        "posts": len(POSTS),
        "posts in Chinese": scripts.count("Chinese"),
        "posts in English": scripts.count("English"),
        "posts in other languages, or without letters": scripts.count("other"),
        "exact repeats": relations.count("exact"),
        "near repeats": relations.count("near"),
        "near repeats with an edit similarity under 0.80": relations.count("near") - len(close_repeats),
        "hard negatives": relations.count("different"),
        "hard negatives with an edit similarity of 0.80 or more": len(close_negatives),
        "the same, kind `number` left out": len(close_negatives) - close_negatives.count("number"),
        "families (a post and what was made from it)": len({roots[line["a"]] for line in TRUTH}),
        "posts without a family": len(POSTS) - len({post_id for line in TRUTH for post_id in (line["a"], line["b"])}),
        "labeled pairs": len(PAIRS),
    }
    return [f"| {name} | {count} |" for name, count in counts.items()]


def test_the_readme_counts_what_is_there() -> None:
    readme = README.read_text(encoding="utf-8").splitlines()
    tables = [line for line in readme if re.match(r"\| .* \d", line)]
    assert tables == count_rows() + kind_rows()
