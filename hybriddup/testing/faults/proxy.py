"""A connection to a server that breaks, at any byte."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random


class Proxy:
    """Hands bytes on; `cut` breaks all connections."""

    def __init__(self, port: int) -> None:
        self.to = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.open: set[socket.socket] = set()
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        """Connect whoever comes."""
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to))
                with self.lock:
                    self.open |= {client, server}
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self.hand_on, args=(one, other), daemon=True).start()

    def hand_on(self, one: socket.socket, other: socket.socket) -> None:
        """Hand on what comes, until the connection breaks."""
        with suppress(OSError):
            while data := one.recv(4096):
                other.sendall(data)
        self.close(one, other)

    def close(self, *sockets: socket.socket) -> None:
        """Close sockets."""
        with self.lock:
            self.open -= set(sockets)
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def cut(self, random: Random) -> None:
        """Break some connections."""
        with self.lock:
            some = [one for one in self.open if random.random() < 0.3]
        self.close(*some)


@contextmanager
def proxy(port: int) -> Iterator[Proxy]:
    """Yield a proxy."""
    made = Proxy(port)
    try:
        yield made
    finally:
        made.listener.close()
        made.close(*list(made.open))
