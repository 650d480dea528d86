"""A Redis server of one's own, for as long as it is needed: on a Unix socket, with its files in a folder."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = "redis-server"
STARTED_WITHIN = 20.0


def server_version() -> str | None:
    """Return the version of the server that is installed; None where none is."""
    if shutil.which(PROGRAM) is None:
        return None
    said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    return said.partition("v=")[2].split()[0]


@contextmanager
def redis_server(folder: Path, *, synced: bool) -> Iterator[str]:
    """Start a server, and stop it at the end; the value is the path of its socket.

    Parameters
    ----------
    folder
        An empty directory.
    synced
        Whether each command is on disk before it is answered (``appendfsync always``); otherwise nothing is written.
    """
    socket = folder / "redis.socket"
    command = [PROGRAM, "--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--save", ""]
    command += ["--appendonly", "yes" if synced else "no", "--appendfsync", "always"]
    with (folder / "redis.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            wait_for(socket, process)
            yield str(socket)
        finally:
            process.terminate()


def wait_for(socket: Path, process: subprocess.Popen[bytes]) -> None:
    """Return when the server listens; RuntimeError where it ends before, or takes too long."""
    ends = time.monotonic() + STARTED_WITHIN
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > ends:
            said = socket.with_name("redis.log").read_text("utf-8", "replace")
            raise RuntimeError(f"{PROGRAM} does not listen on {socket}; it said: {said}")
        time.sleep(0.02)


def used_memory(socket: str) -> int:
    """Return the bytes that the server holds for its data, as it counts them."""
    import redis

    with redis.Redis(unix_socket_path=socket) as connection:
        info: Any = connection.info("memory")
    return int(info["used_memory"])
