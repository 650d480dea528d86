"""Faults of shared windows that come too late: calls that a server carries out late, and senders that stop for long."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from unittest.mock import patch

from hybriddup.errors import StoreError
from hybriddup.shared_windows.state import LEASES_UNTIL_SWEPT
from hybriddup.testing.contract import require
from hybriddup.window.protocols import AnyWindow

from .crowds import CROWD_CONFIG, HAN
from .faults import Proxy


class Late(Proxy):
    """Hands bytes on to a server, but holds one request, and breaks its connection; the request `arrive`s later."""

    def __init__(self, port: int) -> None:
        self.holds: bytes | None = None
        """A part of the next request to be held; None = none is."""
        self.answered = threading.Event()
        super().__init__(port)

    def hand_on(self, one: socket.socket, other: socket.socket) -> None:
        """Hand on what comes, until a request is to be held."""
        with suppress(OSError):
            while data := one.recv(2**20):
                if one.getpeername()[1] == self.to:
                    self.answered.set()
                elif self.holds is not None and self.holds in data:
                    self.holds, self.held, self.server = None, data, other
                    one.shutdown(socket.SHUT_RDWR)
                    return
                other.sendall(data)
        self.drop(one, other)

    def arrive(self) -> None:
        """Send the request that is held, and return when the server has answered it. Nobody else may send any."""
        self.answered.clear()
        self.server.sendall(self.held)
        assert self.answered.wait(60)


def check_stopped_sender(store: type, method: str, open_window: Callable[..., AnyWindow], lease: float) -> None:
    """Check that posts of a sender that stops for longer than others wait for it displace no kept post.

    The others give its posts up. It goes on by a call of the store, and is killed when its posts have entered buckets.

    Parameters
    ----------
    store
        The class of the store.
    method
        The call before which the sender stops.
    open_window
        Opens the window, with a configuration.
    lease
        Seconds: that of the window.
    """
    text, another = ("".join(HAN[first : first + 30]) for first in (0, 1000))
    config = {**CROWD_CONFIG, "blocks": {"use": "shingles", "max_bucket_size": 2}}
    right, stopped = {name: getattr(store, name) for name in ("announce", "enter")}, list[Any]()
    with open_window(config=config) as other, open_window(config=config) as slow:

        def called(name: str, this: Any, *given: Any) -> Any:
            if name == method and not stopped:
                stopped.append(this)
                other.add(another)
                time.sleep(2 * LEASES_UNTIL_SWEPT * lease)
                other.add(another)
            answer = right[name](this, *given)
            if name == "enter" and this in stopped:
                raise StoreError("the sender was killed")
            return answer

        kept = other.add(text)
        replaced = {name: lambda *given, name=name: called(name, *given) for name in right}
        with patch.multiple(store, **replaced), suppress(StoreError):
            slow.add_many([f"{text}{end}" for end in HAN[2000:2005]])
        again = other.add(f"{text}{HAN[3000]}")
    require(again.duplicate_of == kept.id, "of posts that match each other exactly one is kept", (kept, again))
