"""Posts that are parsed once, however many pairs they are in and however often these are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Int64s, encode_texts
from hybriddup.kernels.post_parsing import ParsedPosts
from hybriddup.steps.parallel import map_slices, map_threads
from hybriddup.steps.posts.parts import POSTS_PER_SLICE, parse
from hybriddup.steps.verifiers.bounds import texts_at

MOST_TOKENS = 2**20
"""Tokens of the posts that are remembered, about; each takes some 25 bytes."""
BOUNDS = {"offsets": "keys", "starts": "letters", "set_offsets": "set_keys"}
"""Columns that hold where something begins, and the column where that is."""
NOT_COMPARED = ("kinds", "bounds")


class GrowingArray:
    """An array with room for more at its end."""

    def __init__(self, start: NDArray[Any]) -> None:
        self._room, self._n = start.copy(), len(start)

    def __len__(self) -> int:
        return self._n

    @property
    def values(self) -> NDArray[Any]:
        """What is in it, as a view."""
        return self._room[: self._n]

    def extend(self, n: int) -> None:
        """Add ``n`` values at the end, which are to be written then."""
        first, self._n = self._n, self._n + n
        if self._n > len(self._room):  # memory that is never written to costs nothing
            larger = np.empty(max(2 * self._n, MOST_TOKENS), self._room.dtype)
            larger[:first] = self._room[:first]
            self._room = larger


class PostsParsedOnce:
    """Some normalized posts, which are parsed when they are first asked for; the latest ones stay in memory."""

    def __init__(self, posts: Sequence[str], workers: int) -> None:
        self._posts, self._workers = posts, workers
        self._places = np.full(len(posts), -1, np.int32)
        self._nothing = parse(encode_texts([]))
        self._forget()

    @property
    def parsed(self) -> ParsedPosts:
        """The posts that are remembered, as far as posts are compared."""
        return self._nothing._replace(**{name: column.values for name, column in self._columns.items()})

    def places_of(self, positions: Int64s) -> Int64s:
        """Return the places, among those that are `parsed` from then on, of the posts at some positions, each once."""
        if len(self._columns["keys"]) > MOST_TOKENS:
            self._places[:] = -1
            self._forget()
        new, n = positions[self._places[positions] < 0], len(self._columns["is_cut"])
        slices = map_slices(partial(self._parse, new), len(new), self._workers, POSTS_PER_SLICE)
        added = [(parsed, self._add_room(parsed)) for some in slices for parsed in some]
        list(map_threads(lambda one: self._write(*one), added, self._workers))
        self._places[new] = np.arange(n, n + len(new))
        return self._places[positions].astype(np.int64)

    def _parse(self, positions: Int64s, first: int, last: int) -> list[ParsedPosts]:
        starts = range(first, last, POSTS_PER_SLICE)
        few = (positions[start : min(start + POSTS_PER_SLICE, last)] for start in starts)
        return [parse(encode_texts(texts_at(self._posts, some))) for some in few]

    def _add_room(self, parsed: ParsedPosts) -> dict[str, int]:
        """Make room for more posts; return where it begins, by column."""
        first = {name: len(column) for name, column in self._columns.items()}
        for name, column in self._columns.items():
            column.extend(len(getattr(parsed, name)) - (name in BOUNDS))
        return first

    def _write(self, parsed: ParsedPosts, first: dict[str, int]) -> None:
        for name, start in first.items():
            values, more = self._columns[name].values[start:], getattr(parsed, name)
            if name in BOUNDS:
                np.add(more[1:], first[BOUNDS[name]], out=values[: len(more) - 1])
            else:
                values[: len(more)] = more

    def _forget(self) -> None:
        compared = (name for name in self._nothing._fields if name not in NOT_COMPARED)
        self._columns = {name: GrowingArray(getattr(self._nothing, name)) for name in compared}
