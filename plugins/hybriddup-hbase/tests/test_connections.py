"""A window goes on when connections to the Thrift server are lost, and each call has its effect once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from hybriddup_hbase.opening import address_of, open_store
from plugin_support.faults import Proxy, make_posts
from servers import HBase, free_port

import hybriddup
from hybriddup.shared_windows import Change, Holder, PostRecord, State
from hybriddup.testing.shared_stores import NEEDS, keyed
from hybriddup.testing.window_posts import CONFIG
from hybriddup.window.records import StoredPost


class Forgetful(Proxy):
    """Hands bytes on to a server, but breaks the connection in place of an answer when none is left to be handed on."""

    left: int | None = None
    """Answers that are handed on before one is lost; None = all."""

    def hand_on(self, one: socket.socket, other: socket.socket) -> None:
        """Hand on what comes; of answers, until one is to be lost."""
        if one.getpeername()[1] != self.to:
            super().hand_on(one, other)
            return
        with suppress(OSError):
            while self.left != 0 and (data := one.recv(2**20)):
                other.sendall(data)
                self.left = None if self.left is None else self.left - 1
        self.left = None
        self.drop(one, other)


@contextmanager
def forgetful(servers: HBase, name: str) -> Iterator[tuple[Forgetful, str]]:
    """Yield what loses answers, and the address of a window behind it that has one connection."""
    with closing(Forgetful(servers.port)) as between:
        yield between, f"hbase://127.0.0.1:{between.port}/{name}?connections=1"


def test_the_first_call_after_the_server_closed_idle_connections_succeeds(servers: HBase) -> None:
    """As it does after a minute, or here after a second."""
    port = free_port()
    servers.start_thrift("impatient", port, "-t", "1000")
    try:
        with hybriddup.Window.open(f"hbase://127.0.0.1:{port}/idle", config=CONFIG) as window:
            posts = make_posts(100, 11)
            answers = window.add_many(posts)
            for _ in range(2):
                wait_until_closed(port)
                assert [replace(one, repeated=False) for one in window.add_many(posts)] == answers
            wait_until_closed(port)
            assert window.add("another text altogether").kept
            assert window.stats().n_kept_in_window == 101
    finally:
        servers.end("impatient")


def wait_until_closed(port: int) -> None:
    """Return when a server has closed a connection that is new, so that it has closed the idle ones before."""
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        assert connection.recv(1) == b""


def test_a_batch_is_decided_rightly_whichever_answer_is_lost(servers: HBase) -> None:
    """The connection breaks once on the way: the posts are decided as ever, and counted once."""
    posts = make_posts(60, 12)
    with (
        forgetful(servers, "lost") as (between, address),
        hybriddup.Window.open(address, config=CONFIG, workers=1) as window,
    ):
        n_lost = 0
        for n_answers in range(60):
            between.left = n_answers
            window.add_many(posts[4 * n_answers : 4 * n_answers + 4])
            n_lost += between.left is None
        between.left = None
        found = [window.get(post["id"]) for post in posts]
        kept = {one.text[:-1]: one.id for one in found if one is not None and one.kept}
        assert len(kept) == sum(one.kept for one in found if one is not None) == 60
        assert all(one.duplicate_of == kept[one.text[:-1]] for one in found if one is not None and one.evidence)
        assert window.stats().n_kept_in_window == 60
        assert n_lost > 15


def test_each_call_of_a_store_has_its_effect_once_though_its_answer_is_lost(servers: HBase) -> None:
    """Compare-and-set, too: a process knows what it has written itself."""
    with forgetful(servers, "calls") as (between, address), closing(open_store(address_of(address), NEEDS)) as store:

        def losing(call: Any, *arguments: Any) -> Any:
            between.left = n_answers
            found = call(*arguments)
            between.left = None
            return found

        for n_answers in range(8):
            first = losing(store.take, 2).first
            post = StoredPost(first, "id", 1.0, "text", None)
            record, holder = PostRecord(State.PENDING, post, 1.0), Holder(b"name %d" % first, first, None)
            assert losing(store.announce, [record], [holder]) == [first]
            assert losing(store.set_first, f"{first}", b"value") == b"value"
            change = Change(first, frozenset({State.PENDING}), State.KEPT)
            assert losing(store.change, [change]) == [State.KEPT]
            key = np.array([first], np.uint64)
            assert losing(store.enter, keyed([first], [[first]]), key).entries["position"].tolist() == [first]
            losing(store.finish, first, store.watermark(), 5.0 + n_answers, [5.0], keyed([], []))
            assert store.watermark() == 5.0 + n_answers
            assert store.n_kept_after(0.0) == 1
            losing(store.remove, first, 5.0)
            assert store.records(np.array([first])) == [None]
            assert store.n_kept_after(0.0) == 0
