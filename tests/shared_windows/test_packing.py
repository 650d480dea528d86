"""Posts, evidence, names and keys as shared windows store them."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.errors import StoreError
from hybriddup.shared_windows.packing import (
    id_name,
    mix_keys,
    pack_evidence,
    pack_post,
    text_name,
    unpack_evidence,
    unpack_post,
)
from hybriddup.testing import NASTY_TEXTS
from hybriddup.window.records import Evidence, StoredPost

TEXTS = st.text(st.characters()) | st.sampled_from(NASTY_TEXTS)
IDS = st.text(st.characters(), max_size=512) | st.integers(-(2**63), 2**63 - 1)
TIMES = st.floats(allow_nan=False)


@given(st.integers(0, 2**62), IDS, TIMES, TEXTS, TIMES)
def test_posts_come_back_with_any_characters(
    position: int, post_id: str | int, time: float, text: str, watermark: float
) -> None:
    post = StoredPost(position, post_id, time, text, None)
    packed = pack_post(post, watermark)
    assert unpack_post(packed) == (post, watermark)
    assert type(unpack_post(packed)[0].id) is type(post_id)
    evidence = Evidence(post_id, position, "near", 3, "edit", 0.9, 0.8, "7-20")
    assert unpack_post(packed, evidence) == (post._replace(evidence=evidence), watermark)
    assert unpack_evidence(pack_evidence(evidence)) == evidence


@given(st.lists(IDS, unique_by=lambda one: (type(one), one)))
def test_ids_that_differ_have_different_bytes(ids: list[str | int]) -> None:
    assert len({id_name(one) for one in ids}) == len(ids)


@given(st.lists(st.integers(0, 2**64 - 1), unique=True))
def test_keys_that_differ_are_different_when_they_are_mixed(keys: list[int]) -> None:
    assert len(np.unique(mix_keys(np.array(keys, np.uint64)))) == len(keys)


def test_small_keys_have_evenly_spread_first_bits() -> None:
    parts = mix_keys(np.arange(1, 64_001, dtype=np.uint64) << np.uint64(20)) >> np.uint64(58)
    assert np.bincount(parts.astype(np.int64), minlength=64).max() < 1250
    assert np.bincount(parts.astype(np.int64), minlength=64).min() > 750


@given(st.lists(st.tuples(st.booleans(), TEXTS), unique=True), st.lists(IDS))
def test_texts_that_differ_have_different_names(keys: list[tuple[bool, str]], ids: list[str | int]) -> None:
    names = {text_name(key) for key in keys}
    assert len(names) == len(keys)
    assert {len(name) for name in names} <= {17}
    assert names.isdisjoint({*map(id_name, ids), *(id_name(name.decode("latin-1")) for name in names)})


def test_the_name_of_a_text_stays() -> None:
    assert text_name((True, "你好")).hex() == "78dc2a7a70bb0486f6a52b7acd700fa1df"


POST = pack_post(StoredPost(7, "id", 1.0, "今天的天气真的非常好啊" * 9, None), 2.0)
EVIDENCE = pack_evidence(Evidence("id", 7, "near", 3, "edit", 0.9, 0.8, "7-20"))


@pytest.mark.parametrize(
    "damaged", [b"", POST[:20], POST[:-3], POST[:27] + b"garbage", POST[:24] + b"\xff" * 9], ids=range(5)
)
def test_a_damaged_post_is_an_error_of_the_store(damaged: bytes) -> None:
    with pytest.raises(StoreError, match=r"damaged: cannot read a post.*Restore a backup"):
        unpack_post(damaged)


@pytest.mark.parametrize(
    "damaged", [b"", EVIDENCE[:-1], b"[1, 2]", b"7", b"{}", b"null", b"\xff" + EVIDENCE], ids=range(7)
)
def test_damaged_evidence_is_an_error_of_the_store(damaged: bytes) -> None:
    with pytest.raises(StoreError, match=r"damaged: cannot read the evidence of a duplicate.*Restore a backup"):
        unpack_evidence(damaged)


@given(st.sampled_from([POST, EVIDENCE]), st.integers(0, 200), st.binary(max_size=9))
def test_damage_raises_no_other_error(packed: bytes, place: int, garbage: bytes) -> None:
    """Wherever it is. Some of it cannot be told from other posts."""
    damaged = packed[:place] + garbage + packed[place + len(garbage) :]
    for unpack in (unpack_post, unpack_evidence):
        with suppress(StoreError):
            unpack(damaged)
