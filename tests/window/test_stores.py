"""Window stores keep their contract."""

from __future__ import annotations

from itertools import count

import pytest

from hybriddup.errors import StoreError
from hybriddup.window.stores.sqlite import SqliteStore
from hybriddup.window.stores.store import WindowStore
from tests.window.store_checks import check_window_store
from tests.window.stores import posts


def test_the_store_in_memory_keeps_the_contract():
    check_window_store(WindowStore)


def test_the_store_in_a_file_keeps_the_contract(tmp_path):
    folders = count()

    def make():
        return SqliteStore.open(tmp_path / str(next(folders)))

    def reopen():
        return SqliteStore.open(max(tmp_path.iterdir(), key=lambda folder: int(folder.name)))

    check_window_store(make, reopen=reopen)


def test_reading_spans_can_be_mixed_with_appending_and_closing(tmp_path):
    for store in (WindowStore(), SqliteStore.open(tmp_path)):
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
