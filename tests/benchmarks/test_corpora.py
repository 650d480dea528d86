"""The corpora for measuring are what their descriptions say."""

import gzip
import json
import re
from pathlib import Path

import pytest
from rapidfuzz.distance import Indel

from tests.benchmarks import corpora
from tests.benchmarks.corpora import generate, read_texts, write_posts

TEXTS = read_texts()


@pytest.mark.parametrize("shape", corpora.SHAPES)
def test_same_seed_gives_same_bytes(shape: str, tmp_path: Path) -> None:
    first, again, other = (list(generate(shape, 300, TEXTS, seed=seed)) for seed in (1, 1, 2))
    names = [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"]
    for path, posts in zip(names, (first, again), strict=True):
        write_posts(posts, path)
    assert names[0].read_bytes() == names[1].read_bytes()
    assert first != other


@pytest.mark.parametrize("n", [0, 1, 7, 1000, 3001])
@pytest.mark.parametrize("shape", corpora.SHAPES)
def test_number_of_posts_is_exact_and_ids_differ(shape: str, n: int) -> None:
    posts = list(generate(shape, n, TEXTS))
    assert len(posts) == n
    assert len({post.id for post in posts}) == n


def test_unrelated_posts_match_nothing() -> None:
    posts = list(generate("copies", 1500, TEXTS, seed=4))
    unrelated = [post for post in posts if post.id.startswith("unrelated")]
    assert len(unrelated) == int(1500 * corpora.UNRELATED_SHARE)
    assert max(Indel.normalized_similarity(a.text, b.text) for a in unrelated for b in posts if a.id != b.id) < 0.8


def test_a_stream_repeats_a_quarter_some_of_it_as_it_was() -> None:
    seen: list[str] = []
    n_equal = n_repeats = n_long = 0
    for post in generate("stream", 1500, TEXTS, seed=8):
        if len(post.text) >= 40:
            best = max((Indel.normalized_similarity(post.text, text) for text in seen), default=0.0)
            n_long, n_repeats, n_equal = n_long + 1, n_repeats + (best >= 0.76), n_equal + (best == 1.0)
        seen.append(post.text)
    assert abs(n_repeats / n_long - corpora.STREAM_REPEATS) < 0.06
    assert n_equal / n_long >= corpora.STREAM_REPEATS * corpora.STREAM_EQUAL * 0.6


def test_command_line_writes_json_lines(tmp_path: Path) -> None:
    base, output = tmp_path / "base.jsonl.gz", tmp_path / "out.jsonl.gz"
    with gzip.open(base, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"text": f"第{i}条：{text}"}) + "\n" for i, text in enumerate(TEXTS[:50]))
    corpora.main(["copies", "--posts", "90", "--base", str(base), "-o", str(output), "--in-order"])
    with gzip.open(output, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    assert len(records) == 90
    assert records[0] == {"id": "original-0", "text": f"第0条：{TEXTS[0]}"}


@pytest.mark.parametrize("shape", corpora.SHAPES)
def test_base_without_enough_text_is_an_error(shape: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    base = tmp_path / "base.jsonl"
    base.write_text('{"text": "hi"}\n', "utf-8")
    with pytest.raises(SystemExit):
        corpora.main([shape, "--posts", "5", "--base", str(base), "-o", str(tmp_path / "out.jsonl")])
    assert "needs at least 10 different texts of 40 to 140 characters; it has 0" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


def test_readme_names_every_file_and_no_other() -> None:
    here = Path(__file__).parent
    text = (here / "README.md").read_text("utf-8")
    modules = {path.stem for path in here.glob("*.py") if not path.stem.startswith("test_")}
    assert [name for name in modules if f"{name}.py" not in text] == []
    assert set(re.findall(r"tests\.benchmarks\.(\w+)", text)) <= modules
