"""Readers: what becomes a post, what becomes a bad row, and which number each row gets."""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.errors import InputError
from hybriddup.files.delimited import OPEN_AT_END, CsvReader, TsvReader, table_records
from hybriddup.files.formats import Fields, Reader, RecordBatch, record_batches
from hybriddup.files.formats import Record as ReadRecord
from hybriddup.files.json_array import JsonArrayReader
from hybriddup.files.jsonl import JsonlReader
from hybriddup.files.lines import LinesReader
from hybriddup.files.parquet import ParquetReader
from hybriddup.files.sources import Source, open_source
from tests.processes import python

Read = Callable[..., RecordBatch]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a function that reads bytes as a file of the reader's format, in one batch."""

    def read_bytes(reader: Reader, content: bytes, name: str = "posts", **fields: Any) -> RecordBatch:
        path = tmp_path / name
        path.write_bytes(content)
        batches = list(reader.read(open_source(str(path)), Fields(**fields)))
        assert len(batches) <= 1
        return batches[0] if batches else RecordBatch()

    return read_bytes


def reasons(batch: RecordBatch) -> list[str]:
    return [bad.reason for bad in batch.bad]


@pytest.mark.parametrize(
    ("reader", "content", "texts"),
    [
        (LinesReader(), "one \r\n二\n\tthree", ["one ", "二", "\tthree"]),
        (LinesReader(), "a\n\nb\n", ["a", "", "b"]),
        (LinesReader(), "a\u2028b\x0cc\x85d\re\r\r\n", ["a\u2028b\x0cc\x85d\re\r"]),
        (LinesReader(), "a\0b\n", ["a\0b"]),
        (LinesReader(), "\ufeffhello", ["hello"]),
        (JsonlReader(), '\ufeff{"text": "hello"}', ["hello"]),
        (JsonlReader(), '{"text": "a\\ud83d"}', ["a\ud83d"]),
        (JsonlReader(), '{"text": "a", "score": NaN}', ["a"]),
        (JsonlReader(), json.dumps({"text": "长" * 400_000}), ["长" * 400_000]),
        (CsvReader(), "\ufefftext\nhello", ["hello"]),
        (CsvReader(), "text\n" + "x" * 1_000_000, ["x" * 1_000_000]),
        (CsvReader(), 'text\n\n""\n\na\n', ["", "a"]),
        (TsvReader(), "id\ttext\n1\ta, b\n", ["a, b"]),
        *((reader, "", []) for reader in (LinesReader(), JsonlReader(), CsvReader(), TsvReader())),
    ],
    ids=[
        "white space", "an empty line", "other line ends", "NUL", "mark", "mark before JSON", "a lone surrogate", "NaN",
        "a megabyte", "mark before a header", "a long field", "empty lines of a table", "commas in tabs",
        "no lines", "no objects", "no header", "no header of tabs",
    ],
)  # fmt: skip
def test_posts_of_a_file_are_its_texts(read: Read, reader: Reader, content: str, texts: list[str]) -> None:
    batch = read(reader, content.encode())
    assert (batch.texts, batch.rows.tolist(), batch.bad) == (texts, list(range(len(texts))), [])


NO_CSV = "not valid CSV (',' expected after '\"')"


@pytest.mark.parametrize(
    ("reader", "content", "texts", "bad"),
    [
        (LinesReader(), b"a\nb\xff\nc\n", ["a", "c"], [(1, 2, "not valid UTF-8 (byte 0xff at position 1)")]),
        (CsvReader(), b"text\na\n\xff\nb\n", ["a", "b"], [(1, 3, "not valid UTF-8 (byte 0xff at position 0)")]),
        (CsvReader(), b'id,text\n1,"a"b\n2,c\n', ["c"], [(0, 2, NO_CSV)]),
        (
            CsvReader(),
            b"id,text\n1,hello, world\n2\n",
            [],
            [(0, 2, "has 3 fields, the header has 2"), (1, 3, "has 1 field, the header has 2")],
        ),
        (CsvReader(), b'id,text\n1,"a\n2,b\n3,"c\n4,d\n', ["d"], [(0, 2, f"lines 2 to 4: {NO_CSV}")]),
        (CsvReader(), b'id,text\n1,"a\n2,b",3\n4,d\n', ["d"], [(0, 2, "lines 2 to 3: has 3 fields, the header has 2")]),
    ],
)
def test_a_row_that_is_no_post_is_bad_and_takes_a_number(
    read: Read, reader: Reader, content: bytes, texts: list[str], bad: list[tuple[int, int, str]]
) -> None:
    batch = read(reader, content)
    assert batch.texts == texts
    assert [(one.row, one.line, one.reason) for one in batch.bad] == bad


@pytest.mark.parametrize(
    ("reader", "content", "message"),
    [
        (CsvReader(), b"id,body\n1,a\n", "posts:1: no column is called 'text'; the columns are 'id', 'body'"),
        (CsvReader(), b"text,text\na,b\n", "2 columns are called 'text'"),
        (ParquetReader(), b"not parquet", "posts cannot be read as Parquet"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(read: Read, reader: Reader, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(reader, content)


# JSON Lines


def test_text_id_and_order_value_come_from_their_fields(read: Read) -> None:
    content = b'{"body": "hi", "key": "k1", "likes": 3}\n'
    batch = read(JsonlReader(), content, text="body", id="key", order=("likes",))
    assert (batch.texts, batch.ids, batch.order_values) == (["hi"], ["k1"], [(3,)])


def test_an_id_is_what_is_written(read: Read) -> None:
    """Past 64 bits too, where a fast parser would make a float."""
    lines = b'{"text": "a"}\n{"text": "a", "id": null}\n{"text": "a", "id": 123456789012345678901234567890}\n'
    assert read(JsonlReader(), lines).ids == [None, None, 123456789012345678901234567890]


def test_blank_lines_of_jsonl_are_no_rows_but_count_as_lines(read: Read) -> None:
    batch = read(JsonlReader(), b'{"text": "a"}\n\n  \r\n{"text": "b"}\n{"text": 1}\n')
    assert batch.rows.tolist() == [0, 1]
    assert (batch.bad[0].row, batch.bad[0].line) == (2, 5)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "a"', "not valid JSON (Expecting ',' delimiter at character 13)"),
        (b'["a"]', "not a JSON object but a list"),
        (b'"a"', "not a JSON object but a string"),
        (b"null", "not a JSON object but null"),
        (b'{"txt": "a"}', "field 'text' is missing (fields: 'txt')"),
        (b"{}", "field 'text' is missing (fields: none)"),
        (b'{"text": 12}', "field 'text' is not a string but a number"),
        (b'{"text": ["a"]}', "field 'text' is not a string but a list"),
        (b'{"text": true}', "field 'text' is not a string but true or false"),
        (b'{"text": "\xff"}', "not valid UTF-8 (byte 0xff at position 10)"),
        (b'{"text": "\xed\xa0\x80"}', "not valid UTF-8 (byte 0xed at position 10)"),
        (b'{"text": "a\0"}', "not valid JSON (Invalid control character at at character 12)"),
        (b"[" * 100_000, "not usable JSON (nested too deeply)"),
    ],
)
def test_a_line_without_a_usable_text_is_bad_for_a_stated_reason(read: Read, line: bytes, reason: str) -> None:
    assert reasons(read(JsonlReader(), line)) == [reason]


# CSV and TSV


def test_columns_are_found_by_the_header(read: Read) -> None:
    batch = read(CsvReader(), b"likes,text,id\n3,hello,a\n4,world,b\n", order=("likes",))
    assert (batch.texts, batch.ids, batch.order_values) == (["hello", "world"], ["a", "b"], [("3",), ("4",)])


def test_quoted_fields_hold_delimiters_quotes_and_line_ends(read: Read) -> None:
    batch = read(CsvReader(), b'id,text\r\n1,"a, ""b""\r\nc"\r\n2\r\n')
    assert batch.texts == ['a, "b"\r\nc']
    assert (batch.bad[0].row, batch.bad[0].line) == (1, 4)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'id,text\n1,a\n2,"b\n3,c\n4,d\n', "posts:3: lines 3 to 5"),
        (b'id,text\n1,a\n2,"b\n3,c\n4,d', "posts:3: lines 3 to 5"),
        (b'id,text\n1,a\n2,"b', "posts:3: line 3"),
        (b'id,"text\n1,a\n', "posts:1: lines 1 to 2"),
        (b'id,text\n2,"\xff\n3,c\n', "posts:2: lines 2 to 3"),
        (b'id,text\n"1\n, ""one"" ","b ""c""\n3,c\n', "posts:3: lines 3 to 4"),
        (b'id,text\n"1\n","2\n","3\n', "posts:4: line 4"),
    ],
)
def test_a_quote_never_closed_is_an_error(read: Read, content: bytes, place: str) -> None:
    """It swallows the rest of the file, which would be lost as one bad row. Its own line is named."""
    with pytest.raises(InputError, match=f"{place}: an opened quote is never closed"):
        read(CsvReader(), content)


@pytest.mark.parametrize("header", [b"text,id,id", b"text,likes,id,likes"])
def test_a_header_that_names_another_field_twice_is_an_error(read: Read, header: bytes) -> None:
    """It cannot be told which column is meant; one that nobody asks for may be there twice."""
    with pytest.raises(InputError, match=r"2 columns are called '(id|likes)', so it is unclear which one"):
        read(CsvReader(), header + b"\n", order=("likes",))
    assert read(CsvReader(), b"text,other,other\na,b,c\n").texts == ["a"]


def test_a_record_of_many_lines_has_a_limit_too(tmp_path: Path) -> None:
    """A quote that nobody closed would take in the rest of the file."""
    (tmp_path / "posts.csv").write_bytes(b'text\na\n"b' + b"\nlike this" * 9)
    source = open_source(str(tmp_path / "posts.csv"), max_line_bytes=40)
    with pytest.raises(InputError, match=r"posts\.csv:3: lines 3 to 7: one record is longer than 40 bytes, the limit"):
        list(CsvReader().read(source, Fields()))


def test_what_follows_an_open_quote_takes_little_more_memory_than_its_bytes(tmp_path: Path) -> None:
    content = b'text\n"open\n' + 300_000 * b"a\n"
    (tmp_path / "posts.csv").write_bytes(content)
    source = open_source(str(tmp_path / "posts.csv"))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="lines 2 to 300002: an opened quote is never closed"):
            list(CsvReader().read(source, Fields()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(content)


PARTS = [b'"', b'"', b",", b"\n", b"\r\n", b"a", b"\xff", "你".encode(), b"0123456789"]


@given(st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join), st.sampled_from([12, 64_000_000]))
@settings(deadline=None)
def test_records_are_those_of_the_parser_given_one_line_after_another(content: bytes, max_line_bytes: int) -> None:
    source = Source("posts", "", (), max_line_bytes=max_line_bytes)

    def records() -> tuple[list[Any], bool]:
        found = []
        try:
            for one in table_records(io.BytesIO(content), source, ","):
                shown = (one.line, one.last_line, one.raw[:max_line_bytes], one.values, bool(one.problem))
                found.append(shown)
        except InputError:
            return found, True
        return found, False

    assert records() == plain_records(content, max_line_bytes)


def plain_records(content: bytes, max_line_bytes: int) -> tuple[list[Any], bool]:
    """The records of a table, and whether a quote is open at its end, or too much of it is one record."""
    lines = [line for line in re.split(rb"(?<=\n)", content) if line]
    found, first = [], 0
    while first < len(lines):
        for end in range(first + 1, len(lines) + 1):
            raw = b"".join(lines[first:end])
            if end > first + 1 and len(raw) > max_line_bytes:
                return found, True
            is_long = len(lines[first].rstrip(b"\r\n")) > max_line_bytes
            text = ["\n"] if is_long else [one.decode("utf-8", "replace") for one in lines[first:end]]
            try:
                values, problem = next(csv.reader(text, strict=True)), is_long
            except csv.Error as error:
                if str(error) == OPEN_AT_END:
                    continue
                values, problem = [], True
            problem = problem or raw.decode("utf-8", "replace").encode() != raw
            if raw.strip(b"\r\n"):
                found.append((first + 1, end, raw[:max_line_bytes], values, problem))
            first = end
            break
        else:
            return found, True
    return found, False


# Batches and sources


def test_rows_count_through_the_batches() -> None:
    batches = list(record_batches((ReadRecord(str(i)) for i in range(10)), batch_rows=4))
    assert [batch.rows.tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [batch.end for batch in batches] == [4, 8, 10]


@pytest.mark.parametrize(
    ("reader", "head", "post", "tail", "line"),
    [
        (LinesReader(), b"\xff\n", b"a\n", b"\xff\na", 9002),
        (JsonlReader(), b"\n{\n", b'{"text": "a"}\n', b'{\n{"text": "a"}', 9003),
        (CsvReader(), b"text\n\na,b\n", b"a\n", b"a,b\na", 9004),
        (JsonArrayReader(), b"[\n\n{},\n", b'{"text": "a"},\n', b'1,\n{"text": "a"}]', 9004),
    ],
    ids=["lines", "objects", "a table", "an array"],
)
def test_rows_and_lines_count_through_all_batches_of_a_file(
    tmp_path: Path, reader: Reader, head: bytes, post: bytes, tail: bytes, line: int
) -> None:
    """So that a bad row far down is named by its line, also where empty lines and bad rows stand before it."""
    (tmp_path / "posts").write_bytes(head + 9000 * post + tail)
    batches = list(reader.read(open_source(str(tmp_path / "posts")), Fields()))
    assert len(batches) > 1
    assert np.concatenate([batch.rows for batch in batches]).tolist() == [*range(1, 9001), 9002]
    bad = [(bad.row, bad.line) for batch in batches for bad in batch.bad]
    assert bad == [(0, line - 9001), (9001, line)]


def zst(content: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(content)


@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (zst, ".zst")])
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files_are_read_by_name_or_by_their_first_bytes(
    read: Read, pack: Callable[[bytes], bytes], suffix: str, named: bool
) -> None:
    content = pack(b"a\n") + pack(b"b\n")
    assert read(LinesReader(), content, "posts.txt" + suffix * named).texts == ["a", "b"]


@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (zst, ".zst")])
@pytest.mark.parametrize("kept", [0.3, 0.7, 0.99])
def test_a_compressed_file_cut_short_is_an_error_that_names_it(
    read: Read, pack: Callable[[bytes], bytes], suffix: str, kept: float
) -> None:
    content = pack(b"".join(b"%d\n" % (i * 7919 % 10007) for i in range(5000)))
    with pytest.raises(InputError, match=f"posts.txt{suffix} ends in the middle"):
        read(LinesReader(), content[: int(len(content) * kept)], "posts.txt" + suffix)


@pytest.mark.parametrize(
    ("name", "message"), [("absent.txt", "absent.txt cannot be read: No such"), (".", "is a directory; name")]
)
def test_what_is_no_file_is_an_error_that_says_so(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_source(name)


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "posts.txt"
    path.write_bytes(b"a\n")
    source = open_source(str(path))
    source.check_unchanged()
    path.write_bytes(b"a\nb\n")
    with pytest.raises(InputError, match="changed while it was being deduplicated"):
        source.check_unchanged()


def test_standard_input_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is copied to disk, because the kept records are copied in a second pass."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a\nb\n"))))
    source = open_source("-")
    for _ in range(2):
        assert [batch.texts for batch in LinesReader().read(source, Fields())] == [["a", "b"]]
    source.close()


needs_devices = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs the devices of Unix")


@needs_devices
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/urandom", "/dev/stdin", "-"])
def test_a_device_without_an_end_is_refused(name: str) -> None:
    """As standard input too; reading it would fill the disk."""
    program = (
        "import resource, sys; from hybriddup.files.sources import open_source;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)); open_source(sys.argv[1])"
    )
    with Path("/dev/zero").open("rb") as zero:
        ran = subprocess.run([*python(), "-c", program, name], stdin=zero, capture_output=True, text=True)
    named = "standard input" if name == "-" else name
    assert ran.stderr.endswith(f"{named} is a device, not a file of posts; name a file or a pipe.\n")


@needs_devices
@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdin", "/dev/fd/0", "-"])
def test_devices_that_end_are_read(name: str) -> None:
    program = "import sys; from hybriddup.files import sources; print(sources.open_source(sys.argv[1]).open().read())"
    ran = subprocess.run([*python(), "-c", program, name], input=b"a\n", capture_output=True, check=True)
    assert ran.stdout.strip() == (b"b''" if name == "/dev/null" else rb"b'a\n'")


@needs_devices
def test_a_terminal_is_read() -> None:
    master, slave = pytest.importorskip("pty").openpty()
    os.write(master, b"a\n\x04\x04")
    source = open_source(os.ttyname(slave))
    assert [batch.texts for batch in LinesReader().read(source, Fields())] == [["a"]]
    source.close()
    os.close(slave)
    os.close(master)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_can_be_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    feeder = threading.Thread(target=pipe.write_bytes, args=(b"a\nb\n",))
    feeder.start()
    source = open_source(str(pipe))
    feeder.join()
    for _ in range(2):
        assert [batch.texts for batch in LinesReader().read(source, Fields())] == [["a", "b"]]
    source.check_unchanged()
    source.close()


# Parquet


@pytest.fixture
def parquet_bytes() -> Callable[..., bytes]:
    """Return a function that makes a Parquet file of columns."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def make(columns: dict[str, Any], row_group_size: int = 2) -> bytes:
        target = io.BytesIO()
        parquet.write_table(pyarrow.table(columns), target, row_group_size=row_group_size)
        return target.getvalue()

    return make


def test_parquet_rows_are_read_through_its_row_groups(read: Read, parquet_bytes: Callable[..., bytes]) -> None:
    columns = {"id": [7, 8, 9, 10], "likes": [1, None, 3, 4], "text": ["a", None, "c", "d"]}
    batch = read(ParquetReader(), parquet_bytes(columns), order=("likes",))
    assert (batch.texts, batch.ids) == (["a", "", "c", "d"], [7, 8, 9, 10])
    assert batch.order_values == [(1,), (None,), (3,), (4,)]
    assert batch.rows.tolist() == [0, 1, 2, 3]
    assert reasons(batch) == []


def test_parquet_in_gzip_is_read(read: Read, parquet_bytes: Callable[..., bytes]) -> None:
    content = gzip.compress(parquet_bytes({"text": ["a"]}))
    assert read(ParquetReader(), content, "posts.parquet.gz").texts == ["a"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": [1]}, "column 'text' holds int64, not strings"),
        ({"id": [1], "body": ["a"]}, "no column is called 'text'; the columns are 'id', 'body'"),
    ],
)
def test_parquet_without_a_column_of_texts_is_an_error(
    read: Read, parquet_bytes: Callable[..., bytes], columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(ParquetReader(), parquet_bytes(columns))


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_a_parquet_column_of_any_kind_of_string_is_text(
    read: Read, parquet_bytes: Callable[..., bytes], kind: str
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.array(["a", "b"])
    column = column.dictionary_encode() if kind == "dictionary" else column.cast(getattr(pyarrow, kind)())
    assert read(ParquetReader(), parquet_bytes({"text": column})).texts == ["a", "b"]


def test_without_pyarrow_the_error_says_what_to_install(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'hybriddup\[parquet\]'"):
        read(ParquetReader(), b"PAR1", "posts.parquet")


# Batches of 512 lines, which are read at once where all are plain, and one by one where some are not
N_LINES = 1100


@pytest.mark.parametrize("place", [0, 1, 511, 512, 1023, N_LINES])
@pytest.mark.parametrize(
    "line", [b"\n", b"{\n", b"[]\n", b'{"text": 1}\n', b'{"txt": "b"}\n', b'{"text": "b", "id": 1e300}\n', b"\xff\n"]
)
def test_an_unusual_line_changes_nothing_but_itself(tmp_path: Path, place: int, line: bytes) -> None:
    lines = [b'{"text": "%d", "id": %d}\n' % (i, i) for i in range(N_LINES)]
    path = tmp_path / "posts.jsonl"
    path.write_bytes(b"".join([*lines[:place], line, *lines[place:]]))
    batches = list(JsonlReader().read(open_source(str(path)), Fields()))
    is_row, is_text = not line.isspace(), b"1e300" in line
    numbers = [i for i in range(N_LINES + is_row) if is_text or not is_row or i != place]
    assert [row for batch in batches for row in batch.rows.tolist()] == numbers
    own = [one for batch in batches for one in zip(batch.texts, batch.ids, strict=True) if one[0] != "b"]
    assert own == [(str(i), i) for i in range(N_LINES)]
    assert [bad.line for batch in batches for bad in batch.bad] == ([] if is_text or not is_row else [place + 1])


def test_nanoseconds_are_read_exactly(read: Read, parquet_bytes: Callable[..., bytes]) -> None:
    """As text or numbers that have the same order, with and without pandas."""
    pyarrow = pytest.importorskip("pyarrow")
    moments = pyarrow.array([1, 10**18 + 1], pyarrow.timestamp("ns", "Asia/Shanghai"))
    columns = {"text": ["a", "b"], "id": moments, "took": pyarrow.array([9, 10], pyarrow.duration("ns"))}
    batch = read(ParquetReader(), parquet_bytes(columns), order=("took",))
    assert batch.ids == ["1970-01-01 00:00:00.000000001", "2001-09-09 01:46:40.000000001"]
    assert batch.order_values == [(9,), (10,)]


@pytest.mark.parametrize("names", [["text", "text"], ["text", "id", "id"]])
def test_two_parquet_columns_of_one_name_are_refused(read: Read, names: list[str]) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    target = io.BytesIO()
    parquet.write_table(pyarrow.table([pyarrow.array(["a"])] * len(names), names=names), target)
    with pytest.raises(InputError, match=f"2 columns are called '{names[-1]}', so it is unclear which one"):
        read(ParquetReader(), target.getvalue())
