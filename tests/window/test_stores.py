"""Window stores keep their contract: what they hold and find while posts come and go, and after opening them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hybriddup.data.records import Int64s
from hybriddup.errors import StoreError
from hybriddup.testing.texts import ALL_TEXTS, NASTY_IDS
from hybriddup.window.records import Evidence, PostId, StoredPost, mark_of
from hybriddup.window.stores import Derived
from hybriddup.window.stores.sqlite import SqliteStore
from hybriddup.window.stores.store import WindowStore
from tests.window.stores import posts

WINDOW = 600
"""Posts that are not forgotten, more or less."""
N_WINDOWS = 5
N_STEPS = 60
MADE_WITH = "one"
SLACK = 1.15
"""So many times the bytes of a full window may be taken later."""
Opened = tuple[WindowStore, Callable[[WindowStore], WindowStore]]


@pytest.fixture(params=["memory", "file"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """A new store, and what closes it and opens it again if posts do not end with it."""
    stores = [WindowStore() if request.param == "memory" else SqliteStore.open(tmp_path)]

    def again(store: WindowStore) -> WindowStore:
        if request.param == "file":
            store.close()
            stores.append(SqliteStore.open(tmp_path))
        return stores[-1]

    yield stores[0], again
    stores[-1].close()


def records_of(first: int, end: int) -> bytes:
    return b"".join(position.to_bytes(8, "little") for position in range(first, end))


def normalized_of(post: StoredPost) -> str | None:
    return None if post.deleted or post.position % 4 else f"{post.text} normalized"


def evidence_of(post: StoredPost) -> Evidence:
    reason = "near" if post.position % 2 else "exact"
    return Evidence(post.id, post.position, reason, 9, "edit", 0.1 + 0.2, 0.3, "7-20")


def posts_of(ids: Sequence[PostId], first: int = 0, text: str = "text") -> list[StoredPost]:
    return [StoredPost(place, post_id, 0.0, text, None) for place, post_id in enumerate(ids, first)]


def at(*positions: int) -> Int64s:
    return np.array(positions, np.int64)


class Course:
    """A store beside a plain list of posts: batches come, the oldest posts go, and everything is asked for."""

    def __init__(self, opened: Opened, seed: int) -> None:
        self.store, self.again = opened
        self.rng = np.random.default_rng(seed)
        self.counts_from = seed * N_STEPS // 2
        """The first step from which on copies are counted: the first one, one in the middle, or none."""
        self.posts: list[StoredPost] = []
        self.first = 0

    def check(self) -> None:
        for step in range(N_STEPS):
            if step == self.counts_from:
                self.store.count_copies()
                for post in list(self.posts):
                    self.count(post, 1)
            self.append(int(self.rng.integers(0, 60)))
            if step % 7 == 3 and self.first < len(self.posts):
                self.delete(int(self.rng.integers(self.first, len(self.posts))))
            if self.rng.random() < 0.5:
                self.forget()
            if step % 10 == 9:
                self.store = self.again(self.store)
            self.compare()
        self.store.close()

    def append(self, n: int) -> None:
        """Append posts, some of them of forgotten ids and some duplicates."""
        batch = [self.post(len(self.posts) + place) for place in range(n)]
        first, end = len(self.posts), len(self.posts) + n
        middle = int(self.rng.integers(first, end + 1))
        edges = [first, middle, end] if first < middle < end else [first, end]
        parts = [(part_end, records_of(start, part_end)) for start, part_end in pairwise(edges)]
        derived = Derived("another" if n % 5 == 0 else MADE_WITH, parts, list(map(normalized_of, batch)))
        of = {post.evidence.of_position for post in batch if post.evidence is not None}
        keepers = self.store.posts(at(*(position for position in of if position >= self.first and n % 2)))
        self.store.append(batch, {"n": b"%d" % end}, derived, keepers)
        self.posts += batch
        for post in batch:
            self.count(post, 1)
        for span in list(self.store.spans(0, MADE_WITH)):
            if span.records is None:
                self.store.put_derived(span.first, Derived(MADE_WITH, [(span.end, records_of(span.first, span.end))]))

    def post(self, position: int) -> StoredPost:
        """Return a post; one position in three has the id of a post that is forgotten, each of them once."""
        n_again = position // 3
        again = position % 3 == 2 and n_again < self.first and not self.posts[n_again].deleted
        post_id: PostId = self.posts[n_again].id if again else f"post {position}" if position % 2 else position
        is_duplicate = self.posts and self.rng.random() < 0.4
        evidence = evidence_of(self.posts[int(self.rng.integers(0, len(self.posts)))]) if is_duplicate else None
        text, author = ALL_TEXTS[position % len(ALL_TEXTS)], (None, "ann", 7, "\ud83d")[position % 4]
        return StoredPost(position, post_id, position * 0.25, text, evidence, author)

    def count(self, post: StoredPost, sign: int) -> None:
        """Count a duplicate, or no longer, with the post that it repeats, if the store does so."""
        if not self.store.counts:
            return
        of = self.posts[-1 if post.evidence is None else post.evidence.of_position]
        if post.evidence is not None and not post.deleted and of.kept:
            self.posts[of.position] = of.with_copies([post], sign)

    def delete(self, position: int) -> None:
        self.store.delete(position, {"deleted": b"%d" % position})
        gone, self.posts[position] = self.posts[position], mark_of(self.posts[position])
        self.count(gone, -1)
        assert self.store.meta("deleted") == b"%d" % position

    def forget(self) -> None:
        """Forget all but the latest posts, or now and then all of them, or none."""
        left = int(self.rng.choice([0, WINDOW // 2, WINDOW, 10 * WINDOW], p=[0.05, 0.4, 0.4, 0.15]))
        edge = max(len(self.posts) - left, 0)
        self.store.forget_before(edge)
        self.first = max(self.first, edge)

    def compare(self) -> None:
        """Compare all that the store can be asked with the plain list."""
        n = len(self.posts)
        assert (self.store.first_position, self.store.next_position) == (self.first, n)
        assert self.store.meta("n") in {None, b"%d" % n}
        asked = self.rng.permutation(np.arange(self.first, n, dtype=np.int64))[:300]
        assert self.store.posts(asked) == [self.posts[each] for each in asked]
        self.compare_ids(self.posts[self.first :])
        for position, text in self.store.normalized(asked).items():
            assert text == normalized_of(self.posts[position])
        self.compare_spans(int(self.rng.integers(0, n + 1)))

    def compare_spans(self, start: int) -> None:
        """Spans are consecutive, to the end, and have the records that were stored last, if made in the same way."""
        spans, first = list(self.store.spans(start, MADE_WITH)), max(start, self.first)
        assert not spans or spans[0].first <= first < spans[0].end
        assert all(before.end == span.first < span.end for before, span in pairwise(spans))
        assert (spans[-1].end if spans else first) == len(self.posts)
        for span in spans:
            assert span.records in {None, records_of(span.first, span.end)}
            assert span.records is not None or not self.store.keeps_derived
        assert not any(span.records for span in self.store.spans(start, "another"))

    def compare_ids(self, held: Sequence[StoredPost]) -> None:
        """Compare the posts found by ids: of posts held, of forgotten ones, and of none."""
        by_id = {post.id: post for post in held if not post.deleted}
        chosen = self.rng.integers(0, max(len(self.posts), 1), 200).tolist() if self.posts else []
        ids: list[PostId] = [*(self.posts[each].id for each in chosen), "nobody's", 10**9]
        assert self.store.find_ids(ids) == [by_id.get(each) for each in ids]


@pytest.mark.parametrize("seed", range(3))
def test_a_store_has_what_a_plain_list_has_while_posts_come_and_go(opened: Opened, seed: int) -> None:
    Course(opened, seed).check()


def test_a_new_store_has_no_posts_and_an_empty_batch_changes_nothing(opened: Opened) -> None:
    store, _ = opened
    assert (store.first_position, store.next_position) == (0, 0)
    assert (store.find_ids(["a", 0]), store.find_ids([])) == ([None, None], [])
    assert not any((store.posts(at()), store.normalized(at()), list(store.spans(0, MADE_WITH))))
    store.append([])
    store.forget_before(0)
    assert store.next_position == 0


def test_ids_and_texts_may_hold_any_character_and_ids_are_compared_with_their_type(opened: Opened) -> None:
    store, again = opened
    held = posts_of(NASTY_IDS)
    for text in (*ALL_TEXTS, "\ud83d\ude00"):
        held.append(StoredPost(len(held), f"text {len(held)}", -1.5, text, evidence_of(held[len(held) % 5])))
    store.append(held)
    store = again(store)
    found = store.find_ids([post.id for post in held])
    assert found == held
    assert [type(post.id) for post in found if post] == [type(post.id) for post in held]
    others: list[PostId] = [2, "0", "2", " ", "A", "e", f"{2**63}", "\ud83d", 2**62, -(2**71)]
    assert store.find_ids(others) == [None] * len(others)
    assert store.posts(at(3, 1, 3)) == [held[3], held[1], held[3]]


def test_only_posts_held_can_be_asked_for_and_a_refusal_changes_nothing(opened: Opened) -> None:
    store, _ = opened
    store.append(posts_of(["a", "b"]), {"n": b"2"})
    store.append(posts_of(["c"], 2))
    store.forget_before(1)
    store.forget_before(0)
    assert store.first_position == 1
    for wrong in (-1, 0, 3):
        with pytest.raises(StoreError):
            store.posts(at(1, wrong))
    assert store.posts(at(2))[0].id == "c"


def test_values_come_back_as_they_were_stored_last(opened: Opened) -> None:
    store, again = opened
    every_byte = bytes(range(256)) * 300
    store.set_meta({"weights": every_byte, "empty": b"", "schlüssel": b"1"})
    store.append(posts_of(["a"]), {"schlüssel": b"2"})
    store = again(store)
    assert [store.meta(key) for key in ("weights", "empty", "schlüssel", "none")] == [every_byte, b"", b"2", None]


def test_the_space_of_forgotten_posts_is_used_again(opened: Opened) -> None:
    store, _ = opened
    sizes = []
    for first in range(0, N_WINDOWS * WINDOW * 4, 400):
        store.append(posts_of(range(first, first + 400), first, "some text " * 200))
        store.forget_before(max(first + 400 - 4 * WINDOW, 0))
        sizes.append(store.n_bytes())
    assert max(sizes[len(sizes) // 2 :]) <= SLACK * max(sizes[: len(sizes) // 2])


def test_a_closed_store_refuses_all(opened: Opened) -> None:
    store, _ = opened
    store.append(posts_of(["a"]))
    store.close()
    store.close()
    for call in (
        lambda: store.append(posts_of(["b"], 1)),
        lambda: store.find_ids(["a"]),
        lambda: store.posts(at(0)),
        lambda: store.meta("n"),
        lambda: list(store.spans(0, "")),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()


def test_reading_spans_can_be_mixed_with_appending(opened: Opened) -> None:
    store, _ = opened
    for first in range(0, 12000, 3000):
        store.append(posts(first, 3000))
    ends, others = [], store.spans(0, "")
    next(others)
    for span in store.spans(10, ""):
        if not ends:
            store.append(posts(12000, 30))
        ends.append(span.end)
    assert ends[-1] >= 12000
