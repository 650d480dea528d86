"""Numbering equal keys, part by part, against a dict."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.search import key_groups
from hybriddup.kernels.search.key_groups import NO_GROUP, NO_KEY, DealtKeys
from tests.inner_kernels import from_python

NONE = int(NO_KEY)
some_keys = st.sampled_from([0, 1, 2, 5, 2**32, 2**63, 2**64 - 2, NONE, NONE]) | st.integers(0, NONE)
tables_of_keys = st.integers(0, 5).flatmap(
    lambda width: st.lists(st.lists(some_keys, min_size=width, max_size=width), max_size=12).map(
        lambda rows: np.array(rows, np.uint64).reshape(len(rows), width)
    )
)


def deal(keys: np.ndarray, part_bits: int) -> DealtKeys:
    """What is written into room that is larger than it need be."""
    dealt: DealtKeys = key_groups.deal_keys(
        keys, part_bits, np.zeros(keys.size + 3, np.uint64), np.zeros(keys.size + 3, np.uint32)
    )
    return dealt


@given(tables_of_keys, st.integers(0, 14))
def test_every_key_is_dealt_once_with_its_place(keys: np.ndarray, part_bits: int) -> None:
    """To the part that its hash says, in the order of places; `NO_KEY` is left out."""
    dealt = deal(keys, part_bits)
    parts = [slice(*dealt.bounds[part : part + 2]) for part in range(2**part_bits)]
    flat = keys.ravel().tolist()
    assert sorted(dealt.entries.tolist()) == [entry for entry, key in enumerate(flat) if key != NONE]
    assert [flat[entry] for entry in dealt.entries] == dealt.keys.tolist()
    for part in (part for part in range(2**part_bits) if parts[part].start < parts[part].stop):
        assert {int(from_python(key_groups.part_of)(key, part_bits)) for key in dealt.keys[parts[part]]} == {part}
        assert dealt.entries[parts[part]].tolist() == sorted(dealt.entries[parts[part]].tolist())


@pytest.mark.parametrize("narrow", [False, True])
@given(keys=st.lists(st.integers(0, 12) | st.integers(0, NONE - 1), max_size=60), fewest=st.integers(1, 4))
def test_equal_keys_get_one_number(narrow: bool, keys: list[int], fewest: int) -> None:
    if narrow:
        keys = [key % 2**32 for key in keys]
    numbers, sizes = key_groups.number_keys(np.array(keys, np.uint32 if narrow else np.uint64), fewest)
    counts = Counter(keys)
    number_of = dict(zip(keys, numbers.tolist(), strict=True))
    assert [number_of[key] for key in keys] == numbers.tolist()
    frequent = [key for key in counts if counts[key] >= fewest]
    assert sorted(number_of[key] for key in frequent) == list(range(len(sizes)))
    assert all(sizes[number_of[key]] == counts[key] for key in frequent)
    assert {number_of[key] for key in counts if counts[key] < fewest} <= {int(NO_GROUP)}


@pytest.mark.parametrize("part_bits", [1, 5, 10])
@given(st.lists(tables_of_keys, max_size=3))
def test_groups_are_written_where_their_keys_stood(part_bits: int, slices: list[np.ndarray]) -> None:
    rooms = [np.zeros(keys.shape, np.uint32) for keys in slices]
    dealt = [
        key_groups.deal_keys(keys, part_bits, np.zeros(keys.size, np.uint64), room.ravel())
        for keys, room in zip(slices, rooms, strict=True)
    ]
    first_groups = [0]
    for part in range(2**part_bits):
        keys_of = [one.keys[one.bounds[part] : one.bounds[part + 1]] for one in dealt]
        numbers, sizes = key_groups.number_keys(np.concatenate([np.zeros(0, np.uint64), *keys_of]), 1)
        for keys, of_slice in zip(keys_of, np.split(numbers, np.cumsum([*map(len, keys_of)])), strict=False):
            keys[:] = of_slice
        first_groups.append(first_groups[-1] + len(sizes))
    seen = dict[int, int]()
    for keys, numbered, groups in zip(slices, dealt, rooms, strict=True):
        key_groups.write_groups(numbered, np.array(first_groups), groups)
        for key, group in zip(keys.ravel().tolist(), groups.ravel().tolist(), strict=True):
            assert group == (int(NO_GROUP) if key == NONE else seen.setdefault(key, group))
    assert sorted(seen.values()) == list(range(first_groups[-1]))


tables_of_groups = st.lists(
    st.lists(st.sampled_from([0, 1, 2, 3, int(NO_GROUP)]), min_size=3, max_size=3), min_size=1, max_size=9
)


@given(tables_of_groups, st.data())
def test_listed_groups_are_found_again(groups: list[list[int]], data: st.DataObject) -> None:
    rows, width = data.draw(st.lists(st.integers(0, len(groups) - 1))), data.draw(st.integers(3, 5))
    listed, ends = key_groups.list_groups(np.array(groups, np.uint32))
    told = [[group for group in of_text if group != NO_GROUP] for of_text in groups]
    assert [part.tolist() for part in np.split(listed, ends[1:-1])] == told
    found = key_groups.groups_of_texts(listed, ends, np.array(rows, np.int64), width)
    assert found.tolist() == [told[row] + [int(NO_GROUP)] * (width - len(told[row])) for row in rows]


@given(tables_of_groups, st.lists(st.booleans(), min_size=4, max_size=4))
def test_groups_get_other_numbers_and_texts_the_marks_of_theirs(groups: list[list[int]], marks: list[bool]) -> None:
    listed, ends = key_groups.list_groups(np.array(groups, np.uint32))
    in_marked = key_groups.texts_in_marked(listed, ends, np.array(marks))
    has_marked = key_groups.renumber_groups(listed, ends, np.arange(10, 14, dtype=np.uint32), np.array(marks))
    told = [[group for group in of_text if group != NO_GROUP] for of_text in groups]
    assert listed.tolist() == [10 + group for of_text in told for group in of_text]
    assert has_marked.tolist() == in_marked.tolist() == [any(marks[group] for group in of_text) for of_text in told]
