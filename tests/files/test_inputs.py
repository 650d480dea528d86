"""Files as a corpus: ids packed without a change, and remarks on those that repeat or are missing."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.corpus import Corpus, PackedIds, pack_ids, take_ids, unite_ids
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import open_inputs
from hybriddup.files.reading import read_corpus
from hybriddup.plugin.manager import create_plugin_manager

TEXT_IDS = st.text(st.characters(codec="utf-8"))
NUMBER_IDS = st.integers(-(2**63), 2**63 - 1)
ANY_IDS = st.one_of(TEXT_IDS, NUMBER_IDS, st.floats(allow_nan=False), st.booleans(), st.just("\ud800"), st.just(10**30))
Read = Callable[..., tuple[Corpus, list[str]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a function that reads records as a file of JSON Lines."""

    def read_records(records: Sequence[Any], **fields: str) -> tuple[Corpus, list[str]]:
        path = tmp_path / "posts.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        with open_inputs([str(path)], create_plugin_manager(entry_points=False).registry) as inputs:
            return read_corpus(inputs, Fields(**fields))

    return read_records


def exactly(ids: Sequence[Any]) -> list[tuple[type, Any]]:
    return [(type(one), one) for one in ids]


@pytest.mark.parametrize("kind", [TEXT_IDS, NUMBER_IDS])
def test_ids_of_one_kind_are_packed_and_come_out_as_they_went_in(kind: st.SearchStrategy[Any]) -> None:
    @given(parts=st.lists(st.lists(kind, min_size=1), min_size=1))
    def check(parts: list[list[Any]]) -> None:
        ids = unite_ids([pack_ids(part) for part in parts])
        wanted = [one for part in parts for one in part]
        assert isinstance(ids, PackedIds)
        assert exactly(ids) == exactly(wanted)
        assert exactly(ids[1:]) == exactly(wanted[1:])

    check()


@given(parts=st.lists(st.lists(ANY_IDS)))
def test_other_ids_come_out_as_they_went_in(parts: list[list[Any]]) -> None:
    ids = unite_ids([pack_ids(part) for part in parts])
    assert exactly(ids) == exactly([one for part in parts for one in part])


@pytest.mark.parametrize("ids", [["a", "b", "c"], [1, 2, 3], ["a", 2, None]])
def test_ids_are_taken_by_their_places(ids: list[Any]) -> None:
    taken = take_ids(unite_ids([pack_ids(ids)]), np.array([2, 0, 2]))
    assert exactly(taken) == exactly([ids[2], ids[0], ids[2]])


def test_posts_without_an_id_bear_their_row(read: Read) -> None:
    corpus, notes = read([{"text": "a", "id": "x"}, {"text": "b"}, {"text": "c", "id": None}])
    assert list(corpus.ids) == ["x", 1, 2]
    assert notes == ["2 posts have no 'id'; the row serves as id."]


def test_rows_are_ids_without_remark_where_no_post_has_one(read: Read) -> None:
    corpus, notes = read([{"text": "a"}, {"text": "b"}])
    assert (list(corpus.ids), notes) == ([0, 1], [])


@pytest.mark.parametrize(
    ("ids", "n_repeated"),
    [(["a", "b", "a", "a"], 2), ([1, 2, 2], 1), ([-1, -2], 0), ([[1], [1], "[1]"], 1), ([1, "1", 1.5], 0)],
)
def test_ids_that_an_earlier_post_has_are_counted(read: Read, ids: list[Any], n_repeated: int) -> None:
    """-1 and -2 have the same hash in Python, and lists have none."""
    _, notes = read([{"text": "a", "id": one} for one in ids])
    have = f"{n_repeated} post{'s have' if n_repeated > 1 else ' has'} the id of an earlier post"
    assert [note.split(";")[0] for note in notes] == ([have] if n_repeated else [])


def test_values_to_order_by_are_kept_only_where_they_are_asked_for(read: Read) -> None:
    """A corpus is large; what nobody needs is not in it."""
    records = [{"text": "a", "n": 1}, {"text": "b", "n": 2}]
    assert read(records)[0].order_values == {}
    assert read(records, order=("n",))[0].order_values == {"n": [1, 2]}
