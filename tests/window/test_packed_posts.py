"""Posts as JSON and back: whatever the characters and ids are, and nothing is believed that was not packed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.window.records import Evidence, StoredPost
from hybriddup.window.stores.packed_posts import UnpackError, pack_posts, unpack_posts

TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(["\ud83d\ude00", "😀", "\x00", "\udc00a"])
IDS = TEXTS | st.integers(-(2**70), 2**70)
TIMES = st.floats(allow_nan=False, allow_infinity=False)
REASONS, DISTANCES = st.sampled_from(["exact", "near"]), st.integers(0, 128)
EVIDENCE = st.builds(Evidence, IDS, st.integers(0, 2**60), REASONS, DISTANCES, TEXTS, TIMES, TIMES, TEXTS)
POST = st.builds(StoredPost, st.just(0), IDS, TIMES, TEXTS, st.none() | TEXTS, st.none() | EVIDENCE)
POSTS = st.lists(POST, max_size=5)


@given(POSTS, st.integers(0, 2**60))
def test_what_is_unpacked_is_what_was_packed(posts: list[StoredPost], first: int) -> None:
    """Types too: an id that is a number stays one, and a surrogate pair written as two characters stays two."""
    posts = [post._replace(position=first + place) for place, post in enumerate(posts)]
    unpacked = unpack_posts(first, len(posts), pack_posts(posts))
    assert unpacked == posts
    assert [[type(field) for field in post] for post in unpacked] == [[type(field) for field in post] for post in posts]


@pytest.mark.parametrize("n_posts", [0, 2])
def test_another_number_of_posts_is_an_error(n_posts: int) -> None:
    """So that a row that lost some is not taken for whole."""
    with pytest.raises(UnpackError, match=f"1 posts instead of {n_posts}"):
        unpack_posts(0, n_posts, pack_posts([StoredPost(0, "a", 0.0, "b", None, None)]))


@given(st.binary(max_size=60))
def test_bytes_that_are_no_posts_are_an_error(packed: bytes) -> None:
    """Whatever is read, the error is the one that says so."""
    with pytest.raises(UnpackError):
        unpack_posts(0, 1000, packed)
