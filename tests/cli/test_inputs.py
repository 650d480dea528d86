"""What `hybriddup dedupe` and its like read: encodings, delimiters, arrays, compressions, directories, fields."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

import hybriddup
from tests.cli.support import (
    NEARLY,
    OTHER,
    REPEATED,
    Run,
    distinct_texts,
    failed,
    jsonl,
    read_objects,
    write_posts,
    write_table,
)

TABLE = "id;正文\n" + "".join(
    f"{i};{text}\n" for i, text in enumerate([REPEATED, OTHER, NEARLY] + [f"第{i}" for i in range(20)])
)
LINES = TABLE.splitlines(keepends=True)
TAIWAN = "臺灣的天氣今天很好，我們一起去吃飯吧\n"
GB18030 = "looks like gb18030; give --encoding gb18030."


@pytest.mark.parametrize("encoding", ["gb18030", "gbk", "auto", "utf-8"])
def test_a_table_is_read_in_its_encoding_and_copied_as_it_is(run: Run, tmp_path: Path, encoding: str) -> None:
    kept_in = {"auto": "gb18030"}.get(encoding, encoding)
    (tmp_path / "posts.csv").write_bytes(TABLE.encode(kept_in))
    ran = run("dedupe", "posts.csv", "--encoding", encoding, "--delimiter", ";", "--text-field", "正文")
    assert ran.code == 0
    assert (tmp_path / "posts.kept.csv").read_bytes() == "".join(LINES[:3] + LINES[4:]).encode(kept_in)
    assert ("read as gb18030" in ran.err) is (kept_in == "gb18030")


@pytest.mark.parametrize(
    ("name", "encoding", "content"),
    [
        ("posts.txt", "big5", f"{TAIWAN}這個週末有什麼計畫嗎\n{TAIWAN}"),
        ("posts.jsonl", "shift_jis", jsonl("今日はいい天気ですね", "どこかへ行きましょうか", "今日はいい天気ですね")),
        ("posts.tsv", "cp1251", "text\nСегодня хорошая погода\nпойдём гулять\nСегодня хорошая погода\n"),
    ],
)
@pytest.mark.parametrize("is_told", [False, True])
def test_every_text_format_is_read_in_its_encoding(
    run: Run, tmp_path: Path, name: str, encoding: str, content: str, is_told: bool
) -> None:
    (tmp_path / name).write_bytes(content.encode(encoding))
    assert run("dedupe", name, "-o", "kept", "--encoding", "auto" if is_told else encoding).code == 0
    assert (tmp_path / "kept").read_bytes() == "".join(content.splitlines(keepends=True)[:-1]).encode(encoding)


@pytest.mark.parametrize("encoding", [[], ["--encoding", "big5"]])
def test_a_file_in_another_encoding_is_refused_with_the_one_it_looks_like(
    run: Run, tmp_path: Path, encoding: list[str]
) -> None:
    """Though its English posts could be read: what is left of it would look like a success."""
    posts = [f"今天的天气真的很好，我们去哪里玩{i}" for i in range(200)] + distinct_texts(300)
    (tmp_path / "posts.jsonl").write_bytes(jsonl(*posts).encode("gb18030"))
    message = failed(run, "dedupe", "posts.jsonl", *encoding)
    assert f"posts.jsonl {GB18030}" in message


@pytest.mark.parametrize(
    ("name", "content", "field", "messages"),
    [
        (
            "posts.csv",
            TABLE.encode("gb18030"),
            "正文",
            (":1: the header cannot be read: not valid UTF-8 (byte", GB18030),
        ),
        (
            "posts.txt",
            "你好\n".encode("gb18030"),
            "text",
            (":1: not valid UTF-8 (byte 0xc4 at position 0); not one record is a post.",),
        ),
        ("posts.csv", b"id;text,x\n1;a,b\n", "text", ("the columns are 'id;text', 'x'.",)),
        *(
            (
                "posts.jsonl",
                jsonl({"text": "a", "user": value}).encode(),
                "user",
                (f":1: field 'user' is not a string but {kind}; not one record is a post.", "--text-field"),
            )
            for value, kind in ((5, "a number"), (["a"], "a list"), ({"a": "b"}, "an object"), (True, "true or false"))
        ),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_refused(
    run: Run, tmp_path: Path, name: str, content: bytes, field: str, messages: tuple[str, ...]
) -> None:
    """An empty output would look like a success; what may help is said."""
    (tmp_path / name).write_bytes(content)
    said = failed(run, "dedupe", name, "--text-field", field)
    assert name in said
    assert [message for message in messages if message not in said] == []


def test_a_few_broken_lines_are_bad_lines(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.txt").write_bytes(b"a\xff\n" * 5 + b"hello\n")
    assert run("dedupe", "posts.txt").code == 1


def test_files_of_several_encodings_are_not_one_output(run: Run, tmp_path: Path) -> None:
    text = "今天的天气真的很好，我们去哪里玩\n"
    (tmp_path / "a.txt").write_bytes(text.encode("gb18030"))
    (tmp_path / "b.txt").write_text("hello\n")
    assert run("dedupe", "a.txt", "b.txt", "-o", "both.txt", "--encoding", "auto").code == 0
    (tmp_path / "c.txt").write_text(text, "utf-8")
    message = failed(run, "dedupe", "a.txt", "b.txt", "c.txt", "-o", "all.txt", "--encoding", "auto")
    assert "got a.txt (gb18030), c.txt (utf-8)" in message


@pytest.mark.parametrize("arguments", [["posts.json"], ["posts.jsonl"], ["-"], ["posts", "--format", "jsonl"]])
def test_an_array_comes_out_as_an_array(run: Run, tmp_path: Path, arguments: list[str]) -> None:
    texts = tuple(text.encode() for text in (REPEATED, OTHER, NEARLY))
    content = b'[{"text": "%s", "n":1.0},\n {"text":"%s"}, {"text": "%s"}]' % texts
    if arguments[0] != "-":
        (tmp_path / arguments[0]).write_bytes(content)
    assert run("dedupe", *arguments, "-o", "kept.json", "--removed", "removed.jsonl", stdin=content).code == 0
    kept = (tmp_path / "kept.json").read_text("utf-8")
    assert kept == f'[\n{{"text": "{REPEATED}", "n":1.0}},\n{{"text":"{OTHER}"}}\n]\n'
    assert read_objects(tmp_path / "removed.jsonl")[0]["row"] == 2


def test_json_lines_may_be_called_json(run: Run, tmp_path: Path) -> None:
    posts = write_posts(tmp_path / "posts.json", OTHER)
    assert run("dedupe", posts, "-o", "kept.json").code == 0
    assert (tmp_path / "kept.json").read_text("utf-8") == jsonl(OTHER)
    assert run("dedupe", posts, write_posts(tmp_path / "more.jsonl", NEARLY), "-o", "all.jsonl").code == 0
    assert (tmp_path / "all.jsonl").read_text("utf-8") == jsonl(OTHER, NEARLY)


def pack_zst(content: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(content)


def unpack_zst(content: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(content)


@pytest.mark.parametrize(
    ("suffix", "pack", "unpack"),
    [
        (".gz", gzip.compress, gzip.decompress),
        (".zst", pack_zst, unpack_zst),
        (".bz2", bz2.compress, bz2.decompress),
        (".xz", lzma.compress, lzma.decompress),
    ],
)
def test_compressed_files_go_in_and_out(run: Run, tmp_path: Path, suffix: str, pack: Any, unpack: Any) -> None:
    """Outputs are compressed as their names say, inputs are known by their first bytes too."""
    packed = pack(jsonl(REPEATED, NEARLY, OTHER).encode())
    (tmp_path / f"posts.jsonl{suffix}").write_bytes(packed)
    assert run("dedupe", f"posts.jsonl{suffix}", "--removed", f"removed.jsonl{suffix}").code == 0
    kept = (tmp_path / f"posts.kept.jsonl{suffix}").read_bytes()
    assert unpack(kept).decode() == jsonl(REPEATED, OTHER)
    assert json.loads(unpack((tmp_path / f"removed.jsonl{suffix}").read_bytes()))["row"] == 1
    assert run("dedupe", "-", stdin=packed).out == jsonl(REPEATED, OTHER)
    (tmp_path / f"short.jsonl{suffix}").write_bytes(packed[: len(packed) * 9 // 10])
    assert f"short.jsonl{suffix} ends in the middle" in failed(run, "dedupe", f"short.jsonl{suffix}")
    (tmp_path / f"wrong.jsonl{suffix}").write_bytes(b"not packed at all")
    assert f"wrong.jsonl{suffix} cannot be decompressed" in failed(run, "dedupe", f"wrong.jsonl{suffix}")


def test_the_files_of_a_directory_are_one_corpus(run: Run, tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    write_posts(crawl / "b.jsonl", NEARLY, OTHER)
    write_posts(crawl / "a.jsonl", REPEATED)
    for name in ("a.kept.jsonl", "removed.jsonl.gz", "summary.json"):
        write_posts(crawl / name, "written before")
    write_posts(crawl / ".c.jsonl", "hidden")
    (crawl / "notes.md").write_text("notes")
    (crawl / "below.jsonl").mkdir()
    ran = run("dedupe", "crawl", "-o", "kept.jsonl")
    left_out = "a.kept.jsonl, removed.jsonl.gz, summary.json, which an earlier run seems"
    assert f"crawl: a.jsonl, b.jsonl; left out {left_out}" in ran.err
    assert (tmp_path / "kept.jsonl").read_text("utf-8") == jsonl(REPEATED, OTHER)
    assert "-o crawl/b.jsonl is also an input" in failed(run, "dedupe", "crawl", "-o", "crawl/b.jsonl", "-f")


def test_of_a_directory_only_files_of_the_named_format_are_taken(run: Run, tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    write_posts(tmp_path / "crawl" / "a.jsonl", OTHER)
    (tmp_path / "crawl" / "readme.txt").write_text("about")
    assert run("dedupe", "crawl", "-o", "kept.jsonl", "--format", "jsonl").code == 0
    assert "several inputs must have the same format" in failed(run, "dedupe", "crawl", "-o", "all.jsonl")
    said = failed(run, "dedupe", "crawl", "--format", "parquet")
    assert "crawl holds no file of posts (known: .parquet, .pq)" in said


NESTED = [
    {"title": "早上好", "status": {"text": REPEATED}, "user": {"id": "ann"}, "stats": {"likes": 1}},
    {"title": "早上好", "status": {"text": NEARLY}, "user": {"id": "bo"}, "stats": {"likes": 9}},
]
PATHS = ["--text-field", "title + status.text"]


def test_paths_reach_every_command(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *NESTED)
    (tmp_path / "liked.yaml").write_text("keep: {highest: stats.likes}\n")
    run("dedupe", name, *PATHS, "--id-field", "user.id", "--config", "liked.yaml", "--removed", "removed.jsonl")
    (removed,) = read_objects(tmp_path / "removed.jsonl")
    assert (removed["id"], removed["duplicate_of"], removed["text"]) == ("ann", "bo", f"早上好\n{REPEATED}")
    assert run("explain", "--file", "removed.jsonl", "--row", "0", "--input", name, *PATHS, "--json").code == 0
    assert run("learn", name, *PATHS, "-o", "recipe.npz").code == 0
    assert run("label", name, *PATHS, "-o", "pairs.jsonl").code == 0


def test_watch_finds_fields_by_their_paths(start: Callable[..., Any]) -> None:
    fields = [*PATHS, "--id-field", "user.id", "--time", "event", "--time-field", "status.at"]
    process = start("watch", *fields, "--quiet", stdin=-1)
    posts = [one | {"status": one["status"] | {"at": "Wed Jan 07 13:00:00 +0800 2026"}} for one in NESTED]
    out, _ = process.communicate(jsonl(*posts, {"user": {"id": "c"}}).encode(), 120)
    answers = [json.loads(line) for line in out.splitlines()]
    said = [(answer.get("id"), answer.get("decision")) for answer in answers]
    assert said == [("ann", "kept"), ("bo", "duplicate"), (None, None)]
    assert answers[2]["error"] == "field 'title + status.text' is missing (fields: 'user'); see --text-field"


def test_repeats_are_looked_for_within_a_field(run: Run, tmp_path: Path) -> None:
    given = [(REPEATED, 1), (NEARLY, 2), (NEARLY, 1), (OTHER, 2)]
    posts = [{"text": text, "user": {"id": user}} for text, user in given]
    ran = run("dedupe", write_posts(tmp_path / "posts.jsonl", *posts), "--per", "user.id")
    assert (tmp_path / "posts.kept.jsonl").read_text("utf-8") == jsonl(posts[0], posts[1], posts[3])
    assert "repeats are looked for within each of the 2 values of 'user.id'." in ran.err
    said = failed(run, "dedupe", "posts.jsonl", "--per", "by", "-o", "x.jsonl")
    assert "--per by needs posts with the field 'by', but not one of 4 has it" in said


RETWEETS = [
    {"id": 1, "full_text": REPEATED, "city": "x"},
    {"id": 2, "full_text": f"RT @ann: {REPEATED[:5]}…", "retweeted_status": {"full_text": NEARLY}, "city": "x"},
    {"id": 3, "text": NEARLY, "full_text": "", "city": "y"},
    {"id": 4, "text": OTHER, "full_text": None, "city": "x"},
    {"id": 5, "retweeted_status": None, "text": OTHER, "city": "y"},
]
FIELDS = "retweeted_status.full_text | full_text | text"


def test_the_first_field_with_a_text_counts(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *RETWEETS, {"id": 6, "body": OTHER})
    ran = run("dedupe", name, "--text-field", FIELDS)
    assert (ran.code, [post["id"] for post in read_objects(tmp_path / "posts.kept.jsonl")]) == (1, [1, 4])
    assert f"field '{FIELDS}' is missing (fields: 'id', 'body')" in ran.err
    result = hybriddup.dedupe(RETWEETS, text_field=FIELDS)
    assert (result.kept, result.removed[0].text) == ([0, 3], NEARLY)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_columns_that_are_not_there_are_no_alternatives(run: Run, tmp_path: Path, ending: str) -> None:
    posts = [{"long": a, "short": b, "user": u} for a, b, u in [(REPEATED, "x", 1), ("", NEARLY, 1), ("", OTHER, 2)]]
    name = write_table(tmp_path / f"posts.{ending}", posts)
    ran = run("dedupe", name, "--text-field", "absent | long | short", "--removed", "removed.jsonl")
    assert ran.code == 0, ran.err
    assert [post["row"] for post in read_objects(tmp_path / "removed.jsonl")] == [1]
    assert "--text-field" in failed(run, "dedupe", name, "--text-field", "absent | missing", "--force")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_have_alternatives_too(library: str) -> None:
    frames = pytest.importorskip(library)
    texts = {"long": [REPEATED, None, ""], "short": ["x", NEARLY, OTHER]}
    frame = frames.DataFrame({**texts, "a": [1, 1, 2], "b": [3, 3, 3]})
    assert hybriddup.dedupe(frame, text_field="absent | long | short").kept == [0, 2]
    assert hybriddup.dedupe(frame, text_field="long | short", per="a + b").kept == [0, 2]
    with pytest.raises(hybriddup.InputError, match="no column 'absent'"):
        hybriddup.dedupe(frame, text_field="absent | missing")


SCOPES = [
    {"text": REPEATED, "user": {"id": 1}, "city": "x"},
    {"text": NEARLY, "user": {"id": 1}, "city": "y"},
    {"text": NEARLY, "user": {"id": 2}, "city": "x"},
    {"text": NEARLY, "user": {"id": 1}, "city": "x"},
    {"text": OTHER, "user": {"id": 1}},
    {"text": OTHER, "user": {"id": 1}},
]


def test_posts_are_compared_within_the_same_values_of_several_fields(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *SCOPES)
    assert run("dedupe", name, "--per", "user.id + city", "--removed", "removed.jsonl").code == 0
    assert [post["row"] for post in read_objects(tmp_path / "removed.jsonl")] == [3, 5]
    assert hybriddup.dedupe(SCOPES, per="user.id + city").kept == [0, 1, 2, 4]
    said = failed(run, "dedupe", name, "--per", "user.id + town", "-f")
    assert "--per user.id + town needs posts with the field 'town'" in said


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_have_scopes_of_several_columns(run: Run, tmp_path: Path, ending: str) -> None:
    posts = [{"text": post["text"], "user": post["user"]["id"], "city": post.get("city")} for post in SCOPES]
    name = write_table(tmp_path / f"posts.{ending}", posts)
    assert run("dedupe", name, "--per", "user + city", "--removed", "removed.jsonl").code == 0
    assert [post["row"] for post in read_objects(tmp_path / "removed.jsonl")] == [3, 5]
