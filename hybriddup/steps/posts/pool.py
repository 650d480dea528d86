"""A cache of parsed posts, which grows by appending to its columns and is emptied when full.

The candidates of a large bucket are verified a few at a time; without the cache, each call would parse them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Int32s, Int64s, encode_texts
from hybriddup.kernels.posts.parsing import ParsedPosts
from hybriddup.steps.posts.parts import parse
from hybriddup.steps.verifiers.bounds import texts_at

MOST_LETTERS = 2**20
"""A cache with more letters than this is emptied before posts are added; a letter takes about 40 bytes."""


class ParsedPool:
    """Parses each post of a sequence on first use and caches it. Not safe for concurrent use."""

    def __init__(self, posts: Sequence[str]) -> None:
        self._posts = posts
        self._places: Int32s = np.full(len(posts), -1, np.int32)
        self._forget()

    def _forget(self) -> None:
        self._places[:] = -1
        self._columns = columns_of(parse(encode_texts([])))
        self._sizes = list(map(len, self._columns))

    def parsed(self, positions: Int64s) -> tuple[ParsedPosts, Int64s]:
        """Parse the posts at ``positions``, int64[n], unless cached; return the cache, and each post's index in it."""
        missing = positions[self._places[positions] < 0]
        if len(missing) and self._sizes[LETTERS] > MOST_LETTERS:
            self._forget()
            missing = positions
        if len(missing):
            self._places[missing] = self._sizes[CUT] + np.arange(len(missing))
            self._add(parse(encode_texts(texts_at(self._posts, missing))))
        columns = (column[:size] for column, size in zip(self._columns, self._sizes, strict=True))
        return ParsedPosts(*columns), self._places[positions].astype(np.int64)

    def _add(self, more: ParsedPosts) -> None:
        sizes = list(self._sizes)
        for which, added in enumerate(columns_of(more)):
            if which in COUNTED:  # offsets: the first entry of each post or token, and the end of all
                added = added[1:] + sizes[COUNTED[which]]
            size, column = sizes[which], self._columns[which]
            if size + len(added) > len(column):
                column = np.empty((2 * (size + len(added)), *column.shape[1:]), column.dtype)
                column[:size] = self._columns[which][:size]
                self._columns[which] = column
            column[size : size + len(added)] = added
            self._sizes[which] += len(added)


def columns_of(posts: ParsedPosts) -> list[NDArray[Any]]:
    """Return the columns of parsed posts, in the order of their fields."""
    return [getattr(posts, name) for name in ParsedPosts._fields]


LETTERS, CUT = (ParsedPosts._fields.index(name) for name in ("letters", "is_cut"))
COUNTED = {
    ParsedPosts._fields.index(of): ParsedPosts._fields.index(what)
    for of, what in (("offsets", "keys"), ("starts", "letters"), ("set_offsets", "set_keys"))
}
"""Maps the index of each field with offsets to the index of the field that its offsets point into."""
