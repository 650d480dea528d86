"""Servers of Redis for tests: one, or a cluster of three, on loopback, in a folder of their own."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import redis

PROGRAM = shutil.which("redis-server")
STARTED_WITHIN = 30.0


def free_port() -> int:
    """A port that nobody listens on, with room for the cluster's own port above it."""
    while True:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port: int = found.getsockname()[1]
        if port < 50_000:
            return port


@dataclass
class Server:
    """A server that can be stopped, killed and started again."""

    folder: Path
    options: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    settings: Path | None = None
    """A file of settings."""
    tls: tuple[str, ...] = ()
    """Arguments for TLS, the port left out; then nothing else is listened to."""
    certificate: tuple[str, str] | None = None
    """Certificate and key of the client of tests."""
    password: str | None = None

    def start(self) -> None:
        """Start it, and return when it answers."""
        self.folder.mkdir(exist_ok=True)
        assert PROGRAM is not None
        ports = ["--port", "0", "--tls-port", str(self.port), *self.tls] if self.tls else ["--port", str(self.port)]
        settings = [] if self.settings is None else [str(self.settings)]
        command = [PROGRAM, *settings, *ports, "--bind", "127.0.0.1", "--dir", str(self.folder)]
        if self.settings is None:  # Sentinel saves nothing
            command += ["--save", ""]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*command, *self.options], stdout=log, stderr=log)
        ends = time.monotonic() + STARTED_WITHIN
        while True:
            with suppress(redis.exceptions.RedisError), self.client() as client:
                client.ping()
                return
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < ends, "the server does not answer"
            time.sleep(0.05)

    def client(self) -> redis.Redis:
        """A client."""
        cert, key = self.certificate or (None, None)
        safe = {"ssl": True, "ssl_cert_reqs": "none", "ssl_certfile": cert, "ssl_keyfile": key} if self.tls else {}
        return redis.Redis(port=self.port, password=self.password, socket_timeout=5, **safe)

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it by a signal."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(30)
            self.process = None

    def url(self, window: str = "tests", **options: object) -> str:
        """The address of a window."""
        asked = "".join(f"&{name}={value}" for name, value in options.items())
        return f"redis://127.0.0.1:{self.port}/0?window={window}{asked}"


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    """Yield a server."""
    server = Server(folder, options)
    server.start()
    try:
        yield server
    finally:
        server.end(signal.SIGKILL)


@contextmanager
def watching(folder: Path, master: Server, password: str | None = None) -> Iterator[Server]:
    """Yield a Sentinel that watches a server, and names another one half a second after its end."""
    folder.mkdir()
    sentinel = Server(folder, ("--sentinel",), password=password)
    settings = folder / "sentinel.conf"
    settings.write_text(
        f"sentinel monitor mymaster 127.0.0.1 {master.port} 1\nsentinel down-after-milliseconds mymaster 500\n"
        "sentinel failover-timeout mymaster 3000\n"
        + (f"requirepass {password}\n" if password else "")
        + (f"sentinel auth-pass mymaster {master.password}\n" if master.password else "")
    )
    sentinel.settings = settings
    sentinel.start()
    try:
        ends = time.monotonic() + STARTED_WITHIN
        with sentinel.client() as client:
            while not client.execute_command("SENTINEL", "REPLICAS", "mymaster"):
                assert time.monotonic() < ends, "Sentinel knows no replica"
                time.sleep(0.1)
        yield sentinel
    finally:
        sentinel.end(signal.SIGKILL)


@contextmanager
def cluster(folder: Path, n: int = 3) -> Iterator[list[Server]]:
    """Yield the servers of a cluster, which know each other."""
    own = ("--cluster-enabled", "yes", "--cluster-node-timeout", "2000")
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(folder / f"node{number}", *own)) for number in range(n)]
        nodes = [f"127.0.0.1:{server.port}" for server in servers]
        made = ["redis-cli", "--cluster", "create", *nodes, "--cluster-replicas", "0", "--cluster-yes"]
        subprocess.run(made, check=True, capture_output=True, timeout=60)
        ends = time.monotonic() + STARTED_WITHIN
        while not all(b"cluster_state:ok" in told(server) for server in servers):
            assert time.monotonic() < ends
            time.sleep(0.1)
        yield servers


def told(server: Server) -> bytes:
    """What a node says of its cluster."""
    with server.client() as client:
        found: bytes = client.execute_command("CLUSTER INFO")
    return found if isinstance(found, bytes) else repr(found).replace("': '", ":").encode()


def sets_of(server: Server, window: str) -> dict[bytes, set[bytes]]:
    """Return the sets of a window with the classic layout, as a plain client reads them."""
    with server.client() as client:
        return {key: client.smembers(key) for key in client.scan_iter(f"{{{window}:*}}t*", count=5000)}
