"""Equal keys of many texts get one number, whatever the slices and workers; and which texts may be crowded out."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import NO_KEY, UInt64s
from hybriddup.kernels.search.key_groups import NO_GROUP, find_groups
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.candidates.groups import group_texts, within_scopes

lists_of_keys = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=4), max_size=30)


class Digits(BlockIndex):
    """The keys of a text are its digits, in as many columns as it takes."""

    def __init__(self, *, probes_others: bool, n_keys: int | None, key_bits: int) -> None:
        self.probes_others, self.n_keys, self.key_bits = probes_others, n_keys, key_bits

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002
        keys = np.full((len(texts), max(map(len, texts), default=0) or 1), NO_KEY, np.uint64)
        for row, text in zip(keys, texts, strict=True):
            row[: len(text)] = list(map(int, text))
        return keys


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("n_keys", "key_bits"), [(None, 64), (None, 32), (4, 64), (6, 32)])
@given(lists=lists_of_keys, probes_others=st.booleans(), texts_per_slice=st.sampled_from([1, 3, 100]))
def test_equal_keys_are_one_group(
    n_keys: int | None, key_bits: int, workers: int, lists: list[list[int]], probes_others: bool, texts_per_slice: int
) -> None:
    texts, bits = ["".join(map(str, keys)) for keys in lists], np.zeros((len(lists), 1), np.uint64)
    index = Digits(probes_others=probes_others, n_keys=n_keys, key_bits=key_bits)
    is_near = np.array([len(keys) != 3 for keys in lists], np.bool_)
    groups = group_texts(index, texts, bits, is_near, workers, texts_per_slice=texts_per_slice)
    near = [keys if len(keys) != 3 else [] for keys in lists]
    counts = Counter(chain.from_iterable(near))
    shared = {key for key, n in counts.items() if n >= 2 or probes_others}
    group_of = dict[int, int]()
    for keys, own in zip(near, groups.of(np.arange(len(near))).tolist(), strict=True):
        told = [key for key in keys if key in shared]
        expected = [group_of.setdefault(key, number) for key, number in zip(told, own, strict=False)]
        assert own == expected + [int(NO_GROUP)] * (len(own) - len(told))
    assert {group_of[key]: counts[key] for key in shared} == dict(enumerate(groups.sizes.tolist()))
    assert (groups.table is not None) is probes_others
    if groups.table is not None:
        found = find_groups(np.arange(12, dtype=np.uint64)[None, :], *groups.table)[0].tolist()
        assert found == [group_of.get(key, int(NO_GROUP)) for key in range(12)]


def test_texts_of_several_scopes_share_no_key() -> None:
    """Those of one scope do, and what stands for no key stays as it is."""
    keys = np.array([[5, NO_KEY], [5, NO_KEY], [5, 7], [NO_KEY, 5]], np.uint64)
    (first, none), second, other, (last, _) = within_scopes(keys, np.array([0, 0, 1, 1])).tolist()
    assert [first, none] == second
    assert none == last == NO_KEY
    assert len({first, *other, NO_KEY}) == 4
