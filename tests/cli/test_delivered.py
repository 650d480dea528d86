"""Posts in the forms in which platforms and spreadsheets deliver them."""

import json
from pathlib import Path

import pytest

from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, jsonl, read_objects

POSTS = [{"id": "1", "text": REPEATED}, {"id": "2", "text": OTHER}, {"id": "3", "text": NEARLY}]
PAGE = json.dumps({"data": POSTS, "meta": {"count": 3}}, ensure_ascii=False)
TABLE = f"id,text\r\n1,{REPEATED}\r\n2,{OTHER}\r\n3,{NEARLY}\r\n"


@pytest.mark.parametrize(
    ("name", "content", "kept"),
    [
        ("page.json", PAGE, "page.kept.json"),
        ("pages.jsonl", PAGE + "\n" + '{"data": [], "meta": {}}\n', "pages.kept.jsonl"),
        ("pretty.jsonl", "\n".join(json.dumps(post, indent=2) for post in POSTS), "pretty.kept.jsonl"),
        ("posts.jsonl", "\ufeff" + jsonl(*POSTS), "posts.kept.jsonl"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_json_in_pages_or_over_lines_is_read_and_written_as_json_lines(
    run: Run, tmp_path: Path, name: str, content: str, kept: str, encoding: str
) -> None:
    (tmp_path / name).write_bytes(content.removeprefix("\ufeff" * (encoding == "utf-16")).encode(encoding))
    ran = run("dedupe", name)
    assert ran.code == 0, ran.err
    assert [post["id"] for post in map(json.loads, (tmp_path / kept).read_text("utf-8-sig").splitlines())] == ["1", "2"]
    assert ("written as JSON Lines" in ran.err) is (name != "posts.jsonl")
    assert (encoding == "utf-8") or "posts are written as UTF-8" in ran.err


def test_the_archive_of_twitter_is_read(run: Run, tmp_path: Path) -> None:
    tweets = [{"tweet": {"id_str": post["id"], "full_text": post["text"]}} for post in POSTS]
    (tmp_path / "tweets.js").write_text("window.YTD.tweets.part0 = " + json.dumps(tweets, indent=1), "utf-8")
    said = failed(run, "dedupe", "tweets.js")
    assert "(fields: 'id_str', 'full_text')" in said
    assert "--text-field" in said
    assert run("dedupe", "tweets.js", "--text-field", "full_text", "--id-field", "id_str").code == 0
    assert [post["id_str"] for post in read_objects(tmp_path / "tweets.kept.jsonl")] == ["1", "2"]


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("first", ["", "sep={}\r\n"])
def test_the_delimiter_of_a_table_is_found(run: Run, tmp_path: Path, delimiter: str, encoding: str, first: str) -> None:
    content = first.format(delimiter) + TABLE.replace(",", delimiter)
    (tmp_path / "posts.csv").write_bytes(content.encode(encoding))
    assert run("dedupe", "posts.csv").code == 0
    written_in = "utf-8" if encoding == "utf-16" else encoding
    kept = (tmp_path / "posts.kept.csv").read_bytes().decode(written_in)
    assert kept == content.removesuffix(f"3{delimiter}{NEARLY}\r\n")
    assert run("dedupe", "posts.csv", "--mark", "-o", "marked.csv").code == 0
    marked = (tmp_path / "marked.csv").read_bytes().decode(written_in).splitlines()
    assert marked[bool(first)].split(delimiter)[:3] == ["id", "text", "duplicate_of"]


def test_a_few_rows_in_another_encoding_name_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_bytes((TABLE + "4,hello there\n5,hello there\n").encode("gb18030"))
    ran = run("dedupe", "posts.csv")
    assert ran.code == 1
    assert "posts.csv looks like gb18030; give --encoding gb18030." in ran.err
    assert run("dedupe", "posts.csv", "--encoding", "gb18030", "--force").code == 0


OLD = {
    "old.csv": (TABLE.replace(",", ";"), "gb18030", "text"),
    "old.tsv": (TABLE.replace(",", "\t").replace("text", "body"), "utf-16", "body"),
    "old.jsonl": (jsonl(*({"body": post["text"]} for post in POSTS)), "utf-8", "body"),
    "old.json": (PAGE.replace('"text"', '"body"'), "utf-8", "body"),
    "old.txt": ("\n".join(post["text"] for post in POSTS), "gb18030", "text"),
}


@pytest.mark.parametrize("old", list(OLD))
@pytest.mark.parametrize("new", ["new.csv", "new.jsonl"])
def test_an_older_file_has_its_own_format_encoding_delimiter_and_field(
    run: Run, tmp_path: Path, old: str, new: str
) -> None:
    content, encoding, field = OLD[old]
    (tmp_path / old).write_bytes(content.encode(encoding))
    fresh = {"new.csv": TABLE.replace(",", ";"), "new.jsonl": jsonl(*POSTS)}[new]
    (tmp_path / new).write_bytes(fresh.encode("gb18030"))
    options = ["--encoding", "gb18030"] + (["--delimiter", ";"] if new == "new.csv" else [])
    if field != "text":
        said = failed(run, "dedupe", new, *options, "--against", old)
        assert "--against-text-field" in said
        assert "Name the field with the posts with --text-field" not in said
        options += ["--against-text-field", field]
    ran = run("dedupe", new, *options, "--against", old, "--dry-run")
    assert "Would remove 3 of 3" in ran.err, ran.err


def test_tags_of_crawled_posts_are_not_compared_and_are_counted(run: Run, tmp_path: Path) -> None:
    icon = (
        '<span class="url-icon"><img alt=[赞] src="https://example.com/expression/zan.png" style="width:1em;" /></span>'
    )
    posts = [f"{text}{icon}" for text in (REPEATED, OTHER, "早安", "晚安")] + [f'<a href="/n/ann">@ann</a> {NEARLY}']
    (tmp_path / "posts.jsonl").write_text(jsonl(*posts), "utf-8")
    ran = run("dedupe", "posts.jsonl", "--removed", "-")
    assert [json.loads(line)["row"] for line in ran.out.splitlines()] == [4]
    assert "HTML tags were dropped from 5 posts" in ran.err
