"""The corpora for measuring are what their descriptions say."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from rapidfuzz.distance import Indel

from tests.benchmarks.corpora import (
    SHAPES,
    STREAM_EQUAL,
    STREAM_REPEATS,
    UNRELATED_SHARE,
    Base,
    generate,
    main,
    read_texts,
    write_posts,
)

TEXTS = read_texts()


@pytest.mark.parametrize("shape", SHAPES)
def test_same_seed_gives_same_bytes(shape: str, tmp_path: Path) -> None:
    """Two files of one shape and seed are equal, compressed ones too; another seed gives other posts."""
    first, again, other = (list(generate(shape, 300, TEXTS, seed=seed)) for seed in (1, 1, 2))
    names = [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"]
    for path, posts in zip(names, (first, again), strict=True):
        write_posts(posts, path)

    assert names[0].read_bytes() == names[1].read_bytes()
    assert first != other


@pytest.mark.parametrize("n", [0, 1, 7, 1000, 3001])
@pytest.mark.parametrize("shape", SHAPES)
def test_number_of_posts_is_exact_and_ids_differ(shape: str, n: int) -> None:
    """Each shape has as many posts as asked for, each with an id of its own."""
    posts = list(generate(shape, n, TEXTS))

    assert len(posts) == n
    assert len({post.id for post in posts}) == n


def test_copies_hold_the_base_once_as_it_is() -> None:
    """The first pass is the base's first posts, unedited; the others are copies of the same posts."""
    posts = list(generate("copies", 1000, TEXTS, shuffled=False))

    assert [post.text for post in posts[:300]] == TEXTS[:300]
    assert Counter(post.id.split("-")[0] for post in posts) == {"original": 300, "copy": 600, "unrelated": 100}


def test_copies_are_edited_by_no_more_than_a_fifth() -> None:
    """No copy takes more edits than a fifth of the post's characters, and shares of 0 and nearly 20 % both occur."""
    base = Base(TEXTS, Random(3))  # noqa: S311
    long_texts = [text for text in TEXTS if len(text) >= 40]
    shares = [Indel.distance(text, base.edited(text)) / 2 / len(text) for text in long_texts * 5]

    assert max(shares) <= 0.2
    assert min(shares) < 0.01
    assert max(shares) > 0.15


def test_unrelated_posts_match_nothing() -> None:
    """No post of random phrases reaches 0.8 with any other post."""
    posts = list(generate("copies", 1500, TEXTS, seed=4))
    unrelated = [post for post in posts if post.id.startswith("unrelated")]

    assert len(unrelated) == int(1500 * UNRELATED_SHARE)
    assert max(Indel.normalized_similarity(a.text, b.text) for a in unrelated for b in posts if a.id != b.id) < 0.8


def test_relettered_posts_repeat_each_other_as_the_originals_do() -> None:
    """Other letters change no similarity between two posts without links, and make other posts."""
    plain = [text for text in TEXTS if "http" not in text][:60]
    others = Base(plain, Random(5)).relettered().texts  # noqa: S311
    pairs = [(a, b) for a in range(60) for b in range(a)]

    assert [Indel.distance(others[a], others[b]) for a, b in pairs] == [
        Indel.distance(plain[a], plain[b]) for a, b in pairs
    ]
    assert sum(a == b for a, b in zip(plain, others, strict=True)) < 5


def test_number_of_passes_stays_the_same_at_every_size() -> None:
    """With passes given, a base too small is made longer instead of being repeated more often."""
    posts = list(generate("copies", 3000, TEXTS, passes=3, shuffled=False))
    kinds = Counter("-".join(post.id.split("-")[:-1]) for post in posts)

    assert kinds == {"original": 900, "copy-1": 900, "copy-2": 900, "unrelated": 300}


def test_half_of_templates_are_edits_of_ten_posts() -> None:
    """Each template has a tenth of that half, and each edit reaches 0.8 with some post of the base."""
    posts = list(generate("templates", 1000, TEXTS))
    edits = [post for post in posts if post.id.startswith("template")]
    by_template = Counter(post.id.split("-")[1] for post in edits)
    first = next(post.text for post in edits)

    assert list(by_template.values()) == [50] * 10
    assert max(Indel.normalized_similarity(first, text) for text in TEXTS) >= 0.8


def test_a_stream_is_made_one_by_one() -> None:
    """The first of a billion are there at once, because the others are not made yet."""
    assert len(list(islice(generate("stream", 10**9, TEXTS), 5))) == 5


def test_a_stream_has_the_lengths_of_its_base() -> None:
    """Quartiles of the lengths are those of the base, but for what edits change."""
    posts = list(generate("stream", 4000, TEXTS))
    ours, theirs = (sorted(map(len, texts)) for texts in ([post.text for post in posts], TEXTS))

    for share in (0.25, 0.5, 0.75):
        assert abs(ours[int(share * len(ours))] - theirs[int(share * len(theirs))]) <= 4


def test_a_stream_repeats_a_quarter_some_of_it_as_it_was() -> None:
    """Shares of posts that are equal to an earlier one and that resemble one, among those long enough to tell."""
    seen: list[str] = []
    n_equal = n_repeats = n_long = 0
    for post in generate("stream", 1500, TEXTS, seed=8):
        if len(post.text) >= 40:
            best = max((Indel.normalized_similarity(post.text, text) for text in seen), default=0.0)
            n_long, n_repeats, n_equal = n_long + 1, n_repeats + (best >= 0.76), n_equal + (best == 1.0)
        seen.append(post.text)

    assert abs(n_repeats / n_long - STREAM_REPEATS) < 0.06
    assert n_equal / n_long >= STREAM_REPEATS * STREAM_EQUAL * 0.6


def test_command_line_writes_json_lines(tmp_path: Path) -> None:
    """Plain or compressed, from a base of one's own, which may be compressed too."""
    base, output = tmp_path / "base.jsonl.gz", tmp_path / "out.jsonl.gz"
    with gzip.open(base, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"text": f"第{i}条：{text}"}) + "\n" for i, text in enumerate(TEXTS[:50]))

    main(["copies", "--posts", "90", "--base", str(base), "-o", str(output), "--in-order"])
    with gzip.open(output, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]

    assert len(records) == 90
    assert records[0] == {"id": "original-0", "text": f"第0条：{TEXTS[0]}"}


@pytest.mark.parametrize("shape", SHAPES)
def test_base_without_enough_text_is_an_error(shape: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The message says what a base must have."""
    base = tmp_path / "base.jsonl"
    base.write_text('{"text": "hi"}\n', "utf-8")

    with pytest.raises(SystemExit):
        main([shape, "--posts", "5", "--base", str(base), "-o", str(tmp_path / "out.jsonl")])
    assert "needs at least 10 different texts of 40 to 140 characters; it has 0" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()
