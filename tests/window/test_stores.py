"""Window stores keep the contract, and its check finds those that do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import numpy as np
import pytest

from hybriddup.errors import StoreError
from hybriddup.testing import ContractError
from hybriddup.window.records import PostId, StoredPost
from hybriddup.window.stores import Derived, Span
from hybriddup.window.stores.memory import MemoryStore
from hybriddup.window.stores.sqlite import SqliteStore
from tests.window.plugins import nothing, with_fault
from tests.window.store_checks import check_window_store
from tests.window.stores import posts


def test_the_store_in_memory_keeps_the_contract():
    """Posts in dictionaries are a window store."""
    check_window_store(MemoryStore)


def test_the_store_in_a_file_keeps_the_contract(tmp_path):
    """Posts in an SQLite file are a window store, also when it is opened again and again."""
    folders = count()

    def make():
        return SqliteStore.open(tmp_path / str(next(folders)))

    def reopen():
        return SqliteStore.open(max(tmp_path.iterdir(), key=lambda folder: int(folder.name)))

    check_window_store(make, reopen=reopen)


class Nameless(MemoryStore):
    """Takes ids of equal digits for one another."""

    def append(
        self, posts: Sequence[StoredPost], meta: Mapping[str, bytes] | None = None, derived: Derived | None = None
    ) -> None:
        super().append(posts, meta, derived)
        self._ids = {str(each): position for each, position in self._ids.items()}

    def find_ids(self, ids: Sequence[PostId]) -> list[StoredPost | None]:
        return super().find_ids([str(each) for each in ids])


class Remembering(MemoryStore):
    """Finds forgotten posts by their ids."""

    def _clear(self, limit: int) -> None:
        pass

    def find_ids(self, ids: Sequence[PostId]) -> list[StoredPost | None]:
        return [self._posts.get(self._ids.get(each, -1)) for each in ids]


class Torn(MemoryStore):
    """Keeps the values of a batch that it refuses."""

    def append(
        self, posts: Sequence[StoredPost], meta: Mapping[str, bytes] | None = None, derived: Derived | None = None
    ) -> None:
        self._meta.update(meta or {})
        super().append(posts, meta, derived)


class Short(MemoryStore):
    """Yields all spans but the last."""

    def spans(self, position: int, made_with: str) -> Iterator[Span]:
        yield from list(super().spans(position, made_with))[:-1]


class Reviving(MemoryStore):
    """Takes posts back that were forgotten."""

    def forget_before(self, position: int) -> None:
        self._first = position


HOARDING, DEATHLESS = with_fault(MemoryStore, "_clear", nothing), with_fault(MemoryStore, "close", nothing)
SORTING = with_fault(MemoryStore, "posts", lambda right, positions: right(np.sort(positions)))


@pytest.mark.parametrize("store", [Nameless, HOARDING, Remembering, Torn, SORTING, Short, Reviving, DEATHLESS])
def test_the_check_finds_a_store_that_breaks_the_contract(store):
    """Each of these has one fault that careless code has."""
    with pytest.raises(ContractError):
        check_window_store(store)


def test_the_check_finds_a_store_that_loses_posts_when_closed(tmp_path):
    """A store said to be durable must hold its posts when opened again."""
    with pytest.raises(ContractError):
        check_window_store(MemoryStore, reopen=MemoryStore)


def test_reading_spans_can_be_mixed_with_appending_and_closing(tmp_path):
    """Posts that were there are all yielded; a closed store is an error."""
    for store in (MemoryStore(), SqliteStore.open(tmp_path)):
        for first in range(0, 12000, 3000):
            store.append(posts(first, 3000))
        ends, others = [], store.spans(0, "")
        next(others)
        for span in store.spans(10, ""):
            if not ends:
                store.append(posts(12000, 30))
            ends.append(span.end)
        assert ends[-1] >= 12000
        store.close()
        with pytest.raises(StoreError, match="closed"):
            list(store.spans(0, ""))
