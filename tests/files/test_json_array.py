"""JSON arrays: every element is found, and those that are kept come out byte for byte."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.errors import InputError
from hybriddup.files import json_array
from hybriddup.files.formats import Fields
from hybriddup.files.json_array import JsonArrayReader, JsonArrayWriter, is_array
from hybriddup.files.sources import Source, open_source

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text('ab[]{},"\\\n你')),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text('ab[]{},"\\'), inner, max_size=3)),
    max_leaves=8,
)


def source_of(directory: Path, content: bytes, max_line_bytes: int = 1000) -> Source:
    (directory / "posts.json").write_bytes(content)
    return open_source(str(directory / "posts.json"), max_line_bytes)


def written(source: Source, keep: list[bool]) -> bytes:
    target = io.BytesIO()
    JsonArrayWriter().write([source], target, np.array(keep, np.bool_))
    return target.getvalue()


@pytest.mark.parametrize("block_bytes", [7, 100, 1 << 20])
def test_every_element_is_read_and_written_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    monkeypatch.setattr(json_array, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(json_array, "pieces_of", lambda stream: iter(lambda: stream.read(block_bytes), b""))

    @given(values=st.lists(JSON), indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans(), data=st.data())
    def check(values: list[Any], indent: int | None, ascii_only: bool, data: st.DataObject) -> None:
        records = [{"text": str(i), "value": value} for i, value in enumerate(values)]
        source = source_of(tmp_path, json.dumps(records, indent=indent, ensure_ascii=ascii_only).encode())
        batches = list(JsonArrayReader().read(source, Fields()))
        assert [text for batch in batches for text in batch.texts] == [str(i) for i in range(len(values))]
        keep = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
        result = written(source, keep)
        kept = [record for record, stays in zip(records, keep, strict=True) if stays]
        assert json.loads(result) == kept
        assert all(json.dumps(one, ensure_ascii=ascii_only).encode() in result for one in kept if indent is None)

    check()


def test_an_element_that_is_no_post_is_a_bad_row_with_its_line(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbf[\n {"text": "a"},\n\n {"text": 5}, 7, "x",\n {"text": nul},\n {"text": "b"},\n]\n'
    (batch,) = JsonArrayReader().read(source_of(tmp_path, content), Fields())
    assert (batch.texts, batch.rows.tolist(), batch.end) == (["a", "b"], [0, 5], 7)
    assert [(bad.line, bad.reason.split(" (")[0]) for bad in batch.bad] == [
        (4, "field 'text' is not a string but a number"),
        (4, "not a JSON object but a number"),
        (4, "not a JSON object but a string"),
        (5, "not valid JSON"),
        (7, "not valid JSON"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"text": "a"}', "is not a JSON array"),
        (b'[{"text": "a"}, {"text": "b', "json:1: the array ends in the middle of a record"),
        (b'[\n{"text": "a"},\n{"text": "b"}', "json:3: the array ends in the middle of a record"),
        (b'[{"text": "a"}]\n{"text": "b"}', "json:1: the array ends here, but more follows"),
        (b'[{"text": "a"}}', "json:1: the array ends here, but more follows"),
        (b'[{"text": "' + b"a" * 2_000_000, "json:1: a record has more than 1,000 bytes"),
    ],
)
def test_a_damaged_array_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """It cannot be told which posts it holds."""
    with pytest.raises(InputError, match=message):
        list(JsonArrayReader().read(source_of(tmp_path, content), Fields()))


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        (b"[]", True), (b"[", True), (b" \n[\n {", True), (b"\xef\xbb\xbf[{", True),
        (b'["a"]', False), (b"[1, 2]", False), (b"{}", False), (b"", False),
    ],
)  # fmt: skip
def test_an_array_of_objects_is_told_by_its_beginning(tmp_path: Path, content: bytes, is_one: bool) -> None:
    assert is_array(source_of(tmp_path, content)) is is_one
