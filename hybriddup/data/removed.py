"""The removed posts of a run, stored as columns of numbers; a `Removed` object is made only on access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, starmap
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np

from hybriddup.data.corpus import Corpus, take_ids
from hybriddup.data.records import Bools, Float64s, Int32s, Int64s, Removed, Rows

EQUAL = "equal"
"""Verifier name in results for exact repeats, whose normalized texts are equal."""
_PIECE_SIZE = 8192
SHOWN_POSTS = 3
"""Maximum number of posts in the repr of `RemovedPosts`."""
Places = TypeVar("Places", range, Int64s)
REASONS = {True: "exact", False: "near"}


@dataclass(frozen=True, slots=True, eq=False)
class RemovedColumns(Rows):
    """Removed posts as columns of numbers, in input order."""

    posts: Int64s
    """int64[n]: index of each removed post in the corpus, ascending."""
    keepers: Int64s
    """int64[n]: index in the corpus of the kept post that each removed post repeats."""
    is_exact: Bools
    hamming_distances: Int32s
    verifiers: Int32s
    """int32[n]: index in `RemovedBy.verifiers` of the verifier that decided the pair; undefined for exact repeats."""
    scores: Float64s
    thresholds: Float64s
    length_bands: Int32s
    """int32[n]: index of the length band in `RemovedBy.length_bands`."""


def cut(places: Places) -> Iterator[Places]:
    """Cut indices into pieces of at most `_PIECE_SIZE`, so that callers can process a few posts at a time."""
    return (places[start : start + _PIECE_SIZE] for start in range(0, len(places), _PIECE_SIZE))


class RemovedBy(NamedTuple):
    """Names of the verifiers and length bands that `RemovedColumns` refers to, and of the configuration and recipe."""

    verifiers: Sequence[str]
    length_bands: Sequence[str]
    config: str
    recipe_id: str


class RemovedPosts(Sequence[Removed]):
    """A sequence that makes each `Removed` on access, because making a million takes longer than deciding the posts."""

    def __init__(self, corpus: Corpus, columns: RemovedColumns, by: RemovedBy) -> None:
        self.corpus, self.columns, self._by = corpus, columns, by

    def replaced(self, columns: RemovedColumns) -> RemovedPosts:
        """Return a new `RemovedPosts` with ``columns``, which must be from the same run, instead of its own."""
        return RemovedPosts(self.corpus, columns, self._by)

    @property
    def rows(self) -> Int64s:
        """int64[n]: input row of each removed post, ascending."""
        return self.corpus.rows[self.columns.posts]

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> Removed: ...

    @overload
    def __getitem__(self, index: slice) -> list[Removed]: ...

    def __getitem__(self, index: int | slice) -> Removed | list[Removed]:
        """Return one removed post, or a list for a slice."""
        if isinstance(index, slice):
            return list(self._make(index))
        place = range(len(self))[index]
        return next(self._make(slice(place, place + 1)))

    def __iter__(self) -> Iterator[Removed]:
        return self._make(slice(None))

    def __eq__(self, other: object) -> bool:
        """Return whether ``other`` is a list, tuple or `RemovedPosts` with equal posts in the same order."""
        return isinstance(other, (list, tuple, RemovedPosts)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # compares by its posts, as a list does

    def __repr__(self) -> str:
        shown, n_more = ", ".join(map(repr, self[:SHOWN_POSTS])), len(self) - SHOWN_POSTS
        return f"[{shown}, and {n_more:,} more]" if n_more > 0 else f"[{shown}]"

    def _make(self, chosen: slice) -> Iterator[Removed]:
        return starmap(Removed, self.values(chosen))

    def values(self, chosen: slice = slice(None)) -> Iterator[tuple[Any, ...]]:
        """Yield a tuple for each chosen post: the values of all fields of `Removed`, in order.

        This is for writers: creating the objects would take longer than writing the values.
        """
        return chain.from_iterable(map(self._values_at, cut(range(len(self))[chosen])))

    def _values_at(self, places: range) -> Iterator[tuple[Any, ...]]:
        some, corpus, by = self.columns.take(np.asarray(places, np.int64)), self.corpus, self._by
        exact = some.is_exact.tolist()
        return zip(
            corpus.rows[some.posts].tolist(),
            take_ids(corpus.ids, some.posts),
            [corpus.texts[post] for post in some.posts.tolist()],
            corpus.rows[some.keepers].tolist(),
            take_ids(corpus.ids, some.keepers),
            [corpus.texts[post] for post in some.keepers.tolist()],
            map(REASONS.__getitem__, exact),
            some.hamming_distances.tolist(),
            [
                EQUAL if is_exact else by.verifiers[verifier]
                for is_exact, verifier in zip(exact, some.verifiers.tolist(), strict=True)
            ],
            some.scores.tolist(),
            some.thresholds.tolist(),
            [by.length_bands[band] for band in some.length_bands.tolist()],
            [by.config] * len(exact),
            [by.recipe_id] * len(exact),
            corpus.sources(some.keepers),
            strict=True,
        )


def rows_with_keepers(removed: RemovedPosts) -> tuple[Int64s, Int64s]:
    """Return two arrays, int64[n]: the input row of each removed post, and the row of the kept post that it repeats.

    Removed posts that repeat a post of another corpus are in neither array.
    """
    is_own = removed.columns.keepers >= removed.corpus.n_against
    return removed.rows[is_own], removed.corpus.rows[removed.columns.keepers[is_own]]
