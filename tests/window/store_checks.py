"""Contract check of window stores: what they hold and find while posts come and go, and after opening them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.errors import StoreError
from hybriddup.testing.contract import require, require_error
from hybriddup.testing.texts import ALL_TEXTS, NASTY_IDS
from hybriddup.window.records import Evidence, PostId, StoredPost, mark_of
from hybriddup.window.stores import Derived
from hybriddup.window.stores.store import WindowStore

Maker = Callable[[], WindowStore]

WINDOW = 600
"""Posts that are not forgotten, more or less."""
N_WINDOWS = 5
N_STEPS = 60
MADE_WITH = "one"
SLACK = 1.15
"""So many times the bytes of a full window may be taken later."""


def check_window_store(make: Maker, *, reopen: Maker | None = None) -> None:
    """Check that a window store keeps its contract.

    Parameters
    ----------
    make
        Returns a new, empty store.
    reopen
        Returns the store last made, opened again after `close`; None where posts end with their store.

    Raises
    ------
    ContractError
        Naming the clause that does not hold.
    """
    _check_empty(make())
    _check_ids_and_texts(make(), reopen)
    _check_refusals(make())
    _check_meta(make(), reopen)
    for seed in range(3):
        Course(make(), reopen, seed).check()
    _check_clearing(make())
    _check_closed(make())


class Course:
    """A store beside a plain list of posts: batches come, the oldest posts go, and everything is asked for."""

    def __init__(self, store: WindowStore, reopen: Maker | None, seed: int) -> None:
        self.store = store
        self.reopen = reopen
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
            if self.reopen is not None and step % 10 == 9:
                self.store.close()
                self.store = self.reopen()
            self.compare()
        self.store.close()

    def append(self, n: int) -> None:
        """Append posts, some of them of forgotten ids and some duplicates."""
        batch = [self.post(len(self.posts) + place) for place in range(n)]
        first, end = len(self.posts), len(self.posts) + n
        middle = int(self.rng.integers(first, end + 1))
        if first < middle < end:
            parts = [(middle, _records(first, middle)), (end, _records(middle, end))]
        else:
            parts = [(end, _records(first, end))]
        derived = Derived("another" if n % 5 == 0 else MADE_WITH, parts, list(map(_normalized, batch)))
        of = {post.evidence.of_position for post in batch if post.evidence is not None}
        keepers = self.store.posts(_positions(*(position for position in of if position >= self.first and n % 2)))
        self.store.append(batch, {"n": b"%d" % end}, derived, keepers)
        self.posts += batch
        for post in batch:
            self.count(post, 1)
        for span in list(self.store.spans(0, MADE_WITH)):
            if span.records is None:
                made_again = Derived(MADE_WITH, [(span.end, _records(span.first, span.end))])
                self.store.put_derived(span.first, made_again)

    def post(self, position: int) -> StoredPost:
        """Return a post; one position in three has the id of a post that is forgotten, each of them once."""
        n_again = position // 3
        again = position % 3 == 2 and n_again < self.first and not self.posts[n_again].deleted
        post_id: PostId = self.posts[n_again].id if again else f"post {position}" if position % 2 else position
        is_duplicate = self.posts and self.rng.random() < 0.4
        of = self.posts[int(self.rng.integers(0, len(self.posts)))] if is_duplicate else None
        text = ALL_TEXTS[position % len(ALL_TEXTS)]
        author = (None, "ann", 7, "\ud83d")[position % 4]
        return StoredPost(position, post_id, position * 0.25, text, None if of is None else _evidence(of), author)

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
        require(self.store.meta("deleted") == b"%d" % position, "values are stored with a deletion", position)

    def forget(self) -> None:
        """Forget all but the latest posts, or now and then all of them, or none."""
        left = int(self.rng.choice([0, WINDOW // 2, WINDOW, 10 * WINDOW], p=[0.05, 0.4, 0.4, 0.15]))
        edge = max(len(self.posts) - left, 0)
        self.store.forget_before(edge)
        self.first = max(self.first, edge)

    def compare(self) -> None:
        """Compare all that the store can be asked with the plain list."""
        held, n = self.posts[self.first :], len(self.posts)
        edges = (self.store.first_position, self.store.next_position)
        require(edges == (self.first, n), "first_position and next_position are those of the posts held", edges)
        require(self.store.meta("n") in {None, b"%d" % n}, "values agree with the posts appended with them", n)
        asked = self.rng.permutation(np.arange(self.first, n, dtype=np.int64))[:300]
        given = self.store.posts(asked)
        require(given == [self.posts[each] for each in asked], "posts() returns posts as they were appended", asked)
        self.compare_ids(held)
        for position, text in self.store.normalized(asked).items():
            expected = _normalized(self.posts[position])
            require(text == expected, "normalized() returns normalized texts as they were appended", position)
        self.compare_spans(int(self.rng.integers(0, n + 1)))

    def compare_spans(self, start: int) -> None:
        """Compare the spans from a position on, and their records, with what was appended or put there."""
        spans, at = list(self.store.spans(start, MADE_WITH)), max(start, self.first)
        clause = "spans() yields every post from a position on, in consecutive spans"
        require(not spans or spans[0].first <= at < spans[0].end, clause, (at, spans[:1]))
        for before, span in pairwise(spans):
            require(before.end == span.first < span.end, clause, (before, span))
        require((spans[-1].end if spans else at) == len(self.posts), clause, spans[-1:])
        for span in spans:
            expected = _records(span.first, span.end)
            clause = "spans() yields the records that were stored last, if they were made in the same way"
            require(span.records in {None, expected}, clause, span)
            if self.store.keeps_derived:
                require(span.records is not None, clause, span)
        others = [span.records for span in self.store.spans(start, "another")]
        require(not any(others), "records made in another way are None", start)

    def compare_ids(self, held: Sequence[StoredPost]) -> None:
        """Compare the posts found by ids: of posts held, of forgotten ones, and of none."""
        by_id = {post.id: post for post in held if not post.deleted}
        chosen = self.rng.integers(0, max(len(self.posts), 1), 200).tolist() if self.posts else []
        ids: list[PostId] = [*(self.posts[each].id for each in chosen), "nobody's", 10**9]
        given, expected = self.store.find_ids(ids), [by_id.get(each) for each in ids]
        differing = [each for each in zip(ids, given, expected, strict=True) if each[1] != each[2]][:1]
        require(not differing, "find_ids() returns the posts held, and none forgotten", differing)


def _records(first: int, end: int) -> bytes:
    return b"".join(map(_record, range(first, end)))


def _record(position: int) -> bytes:
    return position.to_bytes(8, "little")


def _normalized(post: StoredPost) -> str | None:
    return None if post.deleted or post.position % 4 else f"{post.text} normalized"


def _evidence(of: StoredPost) -> Evidence:
    exact = of.position % 2 == 0
    return Evidence(of.id, of.position, "exact" if exact else "near", 9, "edit", 0.1 + 0.2, 0.3, "7-20")


def _posts(ids: Sequence[PostId], first: int = 0, text: str = "text") -> list[StoredPost]:
    return [StoredPost(place, post_id, 0.0, text, None) for place, post_id in enumerate(ids, first)]


def _positions(*positions: int) -> Int64s:
    return np.array(positions, np.int64)


def _check_empty(store: WindowStore) -> None:
    given = (store.first_position, store.next_position, store.find_ids(["a", 0]), store.find_ids([]))
    require(given == (0, 0, [None, None], []), "a new store has no posts", given)
    nothing = (store.posts(_positions()), store.normalized(_positions()), list(store.spans(0, MADE_WITH)))
    require(not any(nothing), "a new store has no posts", nothing)
    store.append([])
    store.forget_before(0)
    require(store.next_position == 0, "an empty batch changes nothing", store.next_position)
    store.close()


def _check_ids_and_texts(store: WindowStore, reopen: Maker | None) -> None:
    clause = "ids and texts may hold any character, and ids are compared with their type"
    posts = _posts(NASTY_IDS)
    posts += [StoredPost(len(NASTY_IDS) + place, f"text {place}", -1.5, text, _evidence(posts[place % 5]))
              for place, text in enumerate((*ALL_TEXTS, "\ud83d\ude00"))]  # fmt: skip
    store.append(posts)
    if reopen is not None:
        store.close()
        store = reopen()
    ids: list[PostId] = [post.id for post in posts]
    for post, found in zip(posts, store.find_ids(ids), strict=True):
        require(found == post and type(found.id) is type(post.id), clause, (post, found))
    others: list[PostId] = [2, "0", "2", " ", "A", "e", f"{2**63}", "\ud83d", 2**62, -(2**71)]
    found_others = store.find_ids(others)
    require(found_others == [None] * len(others), clause, list(zip(others, found_others, strict=True)))
    repeated = store.posts(_positions(3, 1, 3))
    require(repeated == [posts[3], posts[1], posts[3]], "positions may be asked for twice, in any order", repeated)
    store.close()


def _check_refusals(store: WindowStore) -> None:
    store.append(_posts(["a", "b"]), {"n": b"2"})
    store.append(_posts(["c"], 2))
    store.forget_before(1)
    store.forget_before(0)
    require(store.first_position == 1, "what is forgotten stays forgotten", store.first_position)
    for wrong in (-1, 0, 3):
        require_error(StoreError, partial(store.posts, _positions(1, wrong)), "only posts held can be asked for")
    held = store.posts(_positions(2))
    require(held[0].id == "c", "a store can be used after it has refused something", held)
    store.close()


def _check_meta(store: WindowStore, reopen: Maker | None) -> None:
    every_byte = bytes(range(256)) * 300
    store.set_meta({"weights": every_byte, "empty": b"", "schlüssel": b"1"})
    store.append(_posts(["a"]), {"schlüssel": b"2"})
    if reopen is not None:
        store.close()
        store = reopen()
    given = [store.meta(key) for key in ("weights", "empty", "schlüssel", "none")]
    require(given == [every_byte, b"", b"2", None], "values come back as they were stored last", given[1:])
    store.close()


def _check_clearing(store: WindowStore) -> None:
    """Fill a window, in large batches, and see that five times as many posts take hardly more."""
    sizes = []
    for first in range(0, N_WINDOWS * WINDOW * 4, 400):
        store.append(_posts(range(first, first + 400), first, "some text " * 200))
        store.forget_before(max(first + 400 - 4 * WINDOW, 0))
        sizes.append(store.n_bytes())
    at_first, later = (max(some) for some in (sizes[: len(sizes) // 2], sizes[len(sizes) // 2 :]))
    clause = "the space of forgotten posts is used again"
    require(later <= SLACK * at_first, clause, f"{at_first} bytes at first, then {later}")
    store.close()


def _check_closed(store: WindowStore) -> None:
    store.append(_posts(["a"]))
    store.close()
    store.close()
    for call in (
        lambda: store.append(_posts(["b"], 1)),
        lambda: store.find_ids(["a"]),
        lambda: store.posts(_positions(0)),
        lambda: store.meta("n"),
    ):
        require_error(StoreError, call, "a store that is closed raises StoreError")
