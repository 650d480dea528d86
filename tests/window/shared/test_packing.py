"""What is stored of posts comes back."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.testing import NASTY_TEXTS
from hybriddup.window.records import Evidence, StoredPost
from hybriddup.window.shared.packing import id_bytes, mix_keys, pack_evidence, pack_post, unpack_evidence, unpack_post

TEXTS = st.text(st.characters()) | st.sampled_from(NASTY_TEXTS)
IDS = st.text(st.characters(), max_size=512) | st.integers(-(2**63), 2**63 - 1)
TIMES = st.floats(allow_nan=False)


@given(st.integers(0, 2**62), IDS, TIMES, TEXTS, TIMES)
def test_posts_come_back_with_any_characters(
    position: int, post_id: str | int, time: float, text: str, watermark: float
) -> None:
    """And the type of their ids."""
    post = StoredPost(position, post_id, time, text, None)
    packed = pack_post(post, watermark)
    assert unpack_post(packed) == (post, watermark)
    assert type(unpack_post(packed)[0].id) is type(post_id)
    evidence = Evidence(post_id, position, "near", 3, "edit", 0.9, 0.8, "7-20")
    assert unpack_post(packed, evidence) == (post._replace(evidence=evidence), watermark)
    assert unpack_evidence(pack_evidence(evidence)) == evidence


@given(st.lists(IDS, unique_by=lambda one: (type(one), one)))
def test_ids_that_differ_have_different_bytes(ids: list[str | int]) -> None:
    """Numbers and texts with the same digits, too."""
    assert len({id_bytes(one) for one in ids}) == len(ids)


@given(st.lists(st.integers(0, 2**64 - 1), unique=True))
def test_keys_that_differ_are_different_when_they_are_mixed(keys: list[int]) -> None:
    """So that no two buckets become one."""
    assert len(np.unique(mix_keys(np.array(keys, np.uint64)))) == len(keys)


def test_small_keys_have_evenly_spread_first_bits() -> None:
    """Of 64 parts none has a quarter more than its share."""
    parts = mix_keys(np.arange(1, 64_001, dtype=np.uint64) << np.uint64(20)) >> np.uint64(58)
    assert np.bincount(parts.astype(np.int64), minlength=64).max() < 1250
    assert np.bincount(parts.astype(np.int64), minlength=64).min() > 750
