"""Calls that Redis carries out late, when they were repeated or given up, change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from hybriddup_redis.addresses import place_of
from hybriddup_redis.opening import open_store
from hybriddup_redis.store import RedisStore
from plugin_support.late import Late
from servers import Server

from hybriddup.errors import StoreError
from hybriddup.shared_windows import Change, PostRecord, State
from hybriddup.shared_windows.store import UNDECIDED
from hybriddup.testing.shared_stores import NEEDS
from hybriddup.window.records import StoredPost

PENDING, CHALLENGED = frozenset({State.PENDING}), frozenset({State.CHALLENGED})


@pytest.fixture
def between(server: Server) -> Iterator[Late]:
    """What holds requests."""
    with closing(Late(server.port)) as proxy:
        yield proxy


@pytest.fixture
def store(between: Late) -> Iterator[RedisStore]:
    """A store whose requests can be late."""
    with closing(open_store(place_of(f"redis://127.0.0.1:{between.port}/0?window=late"), NEEDS)) as opened:
        yield opened


@pytest.fixture
def other(server: Server) -> Iterator[RedisStore]:
    """The store of another process."""
    with closing(open_store(place_of(server.url("late")), NEEDS)) as opened:
        yield opened


def challenged(store: RedisStore, other: RedisStore) -> int:
    """Announce a post, which another process challenges; return its position."""
    position = store.take(1).first
    store.announce([PostRecord(State.PENDING, StoredPost(position, f"{position}", 1.0, "text", None), 1.0)], [])
    assert other.change([Change(position, PENDING, State.CHALLENGED)]) == [State.CHALLENGED]
    return position


def test_a_post_that_was_challenged_is_not_kept_by_a_call_from_before(
    store: RedisStore, other: RedisStore, between: Late
) -> None:
    """It has to read its buckets again, unless its process knows that the call was lost, and gives it up."""
    position = challenged(store, other)
    between.holds = b"EVALSHA"
    with suppress(StoreError):
        store.change([Change(position, PENDING, State.KEPT)])
        store.change([Change(position, CHALLENGED, State.PENDING)])
    between.arrive()
    assert other.change([Change(position, UNDECIDED, State.GONE)]) == [State.GONE]


def test_a_challenge_is_not_taken_back_by_a_call_from_before(
    store: RedisStore, other: RedisStore, between: Late
) -> None:
    """A post reads its buckets again after each challenge."""
    position = challenged(store, other)
    between.holds = b"EVALSHA"
    with suppress(StoreError):
        store.change([Change(position, CHALLENGED, State.PENDING)])
        other.change([Change(position, PENDING, State.CHALLENGED)])
        between.arrive()
        assert store.change([Change(position, PENDING, State.KEPT)]) == [State.CHALLENGED]
