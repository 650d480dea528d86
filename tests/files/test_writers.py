"""Writers: kept records come out byte for byte as they went in."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.corpus import Corpus
from hybriddup.data.marks import Marks, Table
from hybriddup.data.removed import RemovedBy, RemovedColumns, RemovedPosts
from hybriddup.errors import InputError
from hybriddup.files import compression
from hybriddup.files.copying import TextWriter
from hybriddup.files.delimited import CsvReader, CsvWriter, TsvReader, TsvWriter
from hybriddup.files.formats import Fields, Reader, Writer
from hybriddup.files.jsonl import JsonlReader, JsonlWriter
from hybriddup.files.lines import LinesReader, LinesWriter
from hybriddup.files.parquet import ParquetWriter
from hybriddup.files.sources import Source, open_source
from hybriddup.files.tables import write_table

Sources = Callable[..., list[Source]]


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """Return a function that makes sources of bytes."""

    def make(*contents: bytes) -> list[Source]:
        paths = [tmp_path / f"source_{i}" for i in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        return [open_source(str(path)) for path in paths]

    return make


def written(writer: Writer, sources: Sequence[Source], keep: Sequence[int]) -> bytes:
    target = io.BytesIO()
    writer.write(sources, target, np.array(keep, np.bool_))
    return target.getvalue()


TABLE = b'id,text\r\n1,"a\r\nb"\r\n2,"c"\r\n\r\n3,d\r\n'
OBJECTS = b'{ "text" : "\\u4f60", "n": 1.0 }\n\n{"text": "b"}\nbroken\n{"text": "\\ud800"}'
TABLES = [b"", b"id\ttext", b"id\ttext\n1\ta", b"id\ttext\n", b"", b"id\ttext\n2\tb\n3\tc"]
MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("writer", "contents", "keep", "kept"),
    [
        (LinesWriter(), [b"a \r\nb\n\xff\n\nlast"], [1, 0, 1, 1, 1], b"a \r\n\xff\n\nlast"),
        (JsonlWriter(), [OBJECTS], [1, 0, 1, 1], OBJECTS.replace(b'\n{"text": "b"}\n', b"")),
        (CsvWriter(), [TABLE], [1, 0, 1], b'id,text\r\n1,"a\r\nb"\r\n3,d\r\n'),
        (TsvWriter(), TABLES, [1, 1, 1], b"id\ttext\n1\ta\n2\tb\n3\tc"),
        (LinesWriter(), [MARK + b"a\nb\n", MARK + b"c\n"], [0, 1, 1], MARK + b"b\nc\n"),
    ],
    ids=["lines", "objects", "a table", "several tables", "byte order marks"],
)
def test_kept_records_keep_their_bytes(
    sources: Sources, writer: Writer, contents: list[bytes], keep: list[int], kept: bytes
) -> None:
    assert written(writer, sources(*contents), keep) == kept


@pytest.mark.parametrize(
    ("reader", "writer", "head", "long"),
    [
        (LinesReader(), LinesWriter(), b"", b"x" * 70),
        (JsonlReader(), JsonlWriter(), b"", b'{"text": "' + b"x" * 70 + b'"}'),
        (JsonlReader(), JsonlWriter(), b"", b" " * 70),
        (CsvReader(), CsvWriter(), b"id,text\n", b"2," + b"x" * 70),
        (CsvReader(), CsvWriter(), b"id,text\n", b'2,"' + b"x" * 70),
    ],
)
@pytest.mark.parametrize("block_bytes", [16, 1 << 20])
def test_a_line_that_is_too_long_is_a_bad_row_in_both_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader, writer: Writer, head: bytes, long: bytes,
    block_bytes: int,
) -> None:  # fmt: skip
    pieces = "hybriddup.files.text.pieces_of"
    monkeypatch.setattr(pieces, lambda stream, *_: iter(lambda: stream.read(block_bytes), b""))
    post = b'{"text":"a"}\n' if isinstance(reader, JsonlReader) else b"1,a\n" if head else b"a\n"
    (tmp_path / "posts").write_bytes(head + post + long + b"\n" + post)
    source = open_source(str(tmp_path / "posts"), max_line_bytes=60)
    (batch,) = reader.read(source, Fields())
    assert (batch.texts, batch.rows.tolist(), batch.end) == (["a", "a"], [0, 2], 3)
    assert [bad.reason for bad in batch.bad] == ["longer than 60 bytes, the limit that --max-line sets"]
    assert written(writer, [source], [1, 0, 1]) == head + post + post
    saved = written(writer, [source], [0, 1, 0])
    assert saved.startswith(head + long[:61])
    assert len(saved) <= len(head + long) + 1


TEXT_FORMATS: list[tuple[Reader, Writer]] = [
    (LinesReader(), LinesWriter()),
    (JsonlReader(), JsonlWriter()),
    (CsvReader(), CsvWriter()),
    (TsvReader(), TsvWriter()),
]


PIECES = [b'"', b",", b"\t", b"\r", b"\n", b"\r\n", b"a", b"{}", b"\xff", b" ", b"\x81", b"\x81\x5c", b"\x81\x7c"]


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
@pytest.mark.parametrize(("reader", "writer"), TEXT_FORMATS)
@given(content=st.lists(st.sampled_from(PIECES)))
def test_reader_and_writer_count_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, reader: Reader, writer: Writer, encoding: str, content: list[bytes]
) -> None:
    """Whatever the bytes, and the encoding; and what is kept whole is the file without the lines that are no rows.

    A quote that is never closed is refused when reading, so that there is nothing to write.
    """
    path = tmp_path_factory.mktemp("rows") / "posts"
    path.write_bytes(b"text\n" + b"".join(content))
    source = replace(open_source(str(path)), encoding=encoding)
    try:
        batches = list(reader.read(source, Fields()))
    except InputError:  # a quote is never closed, so there is nothing to write
        return
    n_rows = batches[-1].end if batches else 0
    everything = written(writer, [source], [1] * n_rows)
    assert everything.split() == path.read_bytes().split()


def test_parquet_keeps_schema_metadata_and_row_groups(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    schema = pyarrow.schema(
        [pyarrow.field("text", pyarrow.string(), metadata={"what": "post"}), ("n", pyarrow.int16())],
        metadata={"origin": "crawler"},
    )
    table = pyarrow.table({"text": ["a", "b", None, "d", "e"], "n": [1, 2, 3, 4, 5]}, schema=schema)
    path = tmp_path / "posts.parquet"
    parquet.write_table(table, path, row_group_size=2, compression="zstd")
    kept = written(ParquetWriter(), [open_source(str(path)), open_source(str(path))], [1, 0, 1, 0, 0, 0, 0, 0, 0, 1])
    result = parquet.ParquetFile(io.BytesIO(kept))
    assert result.schema_arrow.equals(schema, check_metadata=True)
    assert result.read().column("n").to_pylist() == [1, 3, 5]
    assert result.metadata.row_group(0).column(0).compression == "ZSTD"


def view_table(kind: str) -> Any:
    """Return a table with a column of views; as pyarrow writes it, of the same kind when read again."""
    pyarrow = pytest.importorskip("pyarrow")
    views = pyarrow.array([f"a view of more than twelve bytes {i}" for i in range(5)], pyarrow.string_view())
    column = views if kind == "plain" else pyarrow.StructArray.from_arrays([views], ["inside"])
    return pyarrow.table({"text": [str(i) for i in range(5)], "column": column})


@pytest.mark.parametrize("keep", [[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
def test_parquet_rows_with_views_are_chosen(tmp_path: Path, keep: list[int]) -> None:
    """Though pyarrow does not filter them."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = view_table("plain")
    parquet.write_table(table, tmp_path / "posts.parquet", row_group_size=2)
    kept = written(ParquetWriter(), [open_source(str(tmp_path / "posts.parquet"))], keep)
    result = parquet.read_table(io.BytesIO(kept))
    assert result.schema == table.schema
    assert result.to_pylist() == [row for row, is_kept in zip(table.to_pylist(), keep, strict=True) if is_kept]


def test_parquet_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(view_table("nested"), tmp_path / "posts.parquet")
    with pytest.raises(
        InputError, match=r"column 'column' holds struct<inside: string_view>, and pyarrow cannot write"
    ):
        ParquetWriter().check([open_source(str(tmp_path / "posts.parquet"))])


def test_parquet_with_another_schema_cannot_be_one_output(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"text": ["a"]}), tmp_path / "a.parquet")
    parquet.write_table(pyarrow.table({"text": ["a"], "n": [1]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="text: string, n: int64 instead of text: string"):
        ParquetWriter().check([open_source(str(tmp_path / name)) for name in ("a.parquet", "b.parquet")])


@pytest.mark.parametrize(("field", "value"), [("text", "a\ud83d"), ("id", 10**30), ("id", ["a", 1])])
def test_what_is_unusual_in_json_survives_in_a_table(field: str, value: object) -> None:
    target = io.BytesIO()
    write_table(target, "table", Table({"row": "int64", field: "string"}, [(3, "你好"), (4, value)]))
    first, second = target.getvalue().splitlines()
    assert first.decode() == f'{{"row":3,"{field}":"你好"}}'
    assert json.loads(second) == {"row": 4, field: value}


@given(pieces=st.lists(st.binary(max_size=9)), block_bytes=st.integers(1, 20))
def test_gzip_written_in_blocks_is_what_was_written(pieces: list[bytes], block_bytes: int) -> None:
    files = []
    for parts in (pieces, [b"".join(pieces)]):
        target = io.BytesIO()
        with compression.compressing(target, "gz", block_bytes) as stream:
            stream.writelines(parts)
            stream.flush()
        files.append(target.getvalue())
    assert gzip.decompress(files[0]) == b"".join(pieces)
    assert files[0] == files[1]


def test_base_of_the_writers_of_text_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract method"):
        TextWriter()  # type: ignore[abstract]


field_names = st.text('abc :,"\\{}\n', min_size=1, max_size=4)
values = st.none() | st.booleans() | st.integers() | st.text('ab"\\},\n {\u4f60', max_size=6)


@given(posts=st.lists(st.dictionaries(field_names, values, max_size=3), min_size=2, max_size=6), data=st.data())
def test_marks_are_fields_after_those_of_each_record(
    tmp_path_factory: pytest.TempPathFactory, posts: list[dict[str, Any]], data: st.DataObject
) -> None:
    ids = [f'id "{row}",\n' for row in range(len(posts))]
    is_removed = [False, *(data.draw(st.booleans()) for _ in posts[1:])]
    gone = np.flatnonzero(is_removed)
    nothing = np.zeros(len(gone), np.int32)
    scores = nothing + 0.5
    columns = RemovedColumns(gone, gone * 0, nothing == 1, nothing, nothing, scores, scores, nothing)
    corpus = Corpus([""] * len(posts), ids, np.arange(len(posts)))
    marks = Marks(RemovedPosts(corpus, columns, RemovedBy([], [], "", "")), len(posts))
    expected = [
        {
            "duplicate_of": ids[0] if one else None,
            "score": 0.5 if one else None,
            "cluster": 1 if one or (row == 0 and any(is_removed)) else None,
        }
        for row, one in enumerate(is_removed)
    ]
    folder = tmp_path_factory.mktemp("marks")
    posts = [{**post, "text": "a"} for post in posts]
    spaced = data.draw(st.sampled_from([None, (" , ", " : "), (",", ":")]))
    written_posts = "\n".join(json.dumps(post, separators=spaced) + "  " for post in posts)
    (folder / "posts.jsonl").write_text(written_posts, "utf-8")
    with (folder / "posts.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["text", "other"], *([post["text"], repr(post)] for post in posts)])

    def marked(writer: Any, name: str) -> str:
        target = io.BytesIO()
        writer.write_marked([open_source(str(folder / name))], target, np.ones(len(posts), np.bool_), marks)
        return target.getvalue().decode()

    lines = marked(JsonlWriter(), "posts.jsonl").splitlines()
    assert list(map(json.loads, lines)) == [{**post, **mark} for post, mark in zip(posts, expected, strict=True)]
    head, *rows = csv.reader(io.StringIO(marked(CsvWriter(), "posts.csv"), newline=""))
    assert head == ["text", "other", "duplicate_of", "score", "cluster"]
    cells = [["" if value is None else str(value) for value in mark.values()] for mark in expected]
    assert rows == [[post["text"], repr(post), *mark] for post, mark in zip(posts, cells, strict=True)]
