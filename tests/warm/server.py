"""A process that has imported hybriddup and loaded its kernels, and forks for each call of the launcher."""

from __future__ import annotations

import gc
import marshal
import os
import runpy
import select
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path


def warm() -> None:
    """Import what commands import, and load the kernels of the usual configurations, without threads that stay."""
    from hybriddup.cli.app import app
    from hybriddup.window import Window

    posts = str(Path(__file__).parents[1] / "samples" / "posts_small.txt")
    app(["dedupe", posts, "--dry-run", "--quiet", "--workers", "1"], standalone_mode=False)
    with Window.open(None, "weibo", workers=1) as window:
        window.add_many(Path(posts).read_text("utf-8").splitlines())
    gc.collect()
    gc.freeze()


def serve(server: socket.socket) -> Callable[[], object]:
    """Fork for each call until standard input ends. Return in a fork, with what it is to run."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks that watch over others
    while 0 not in select.select([server, 0], [], [])[0]:
        connection, _ = server.accept()
        if os.fork() == 0:
            return fork_and_watch(connection)
        connection.close()
    return lambda: None


def fork_and_watch(connection: socket.socket) -> Callable[[], object]:
    """Return in another fork, with what it is to run; tell the launcher how that ends, and end it with the launcher."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, *_ = socket.recv_fds(connection, 4, 3)
    asked = b""
    while len(asked) < int.from_bytes(head, "little"):
        asked += connection.recv(2**20)
    pid = os.fork()
    if pid == 0:
        connection.close()
        return become(streams, *marshal.loads(asked))  # noqa: S302  from our own launcher
    for stream in (*streams, 0, 1, 2):
        os.close(stream)
    connection.sendall(pid.to_bytes(4, "little"))
    ended = os.pidfd_open(pid)
    if ended not in select.select([ended, connection], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        connection.sendall(status.to_bytes(4, "little"))
    os._exit(0)


def become(
    streams: Sequence[int], arguments: Sequence[str], directory: str, environment: dict[str, str]
) -> Callable[[], object]:
    """Make this process what a new interpreter would be; return what it is to run."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  stays open
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    is_safe, (kind, *rest) = arguments[0] == "-P", arguments[arguments[0] == "-P" :]
    named = [*[""] * (not is_safe), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[:0] = [directory if kind == "-m" and not path else path for path in named]
    if kind not in {"-m", "-c"}:
        sys.argv = [kind, *rest]
        return lambda: runpy.run_path(kind, run_name="__main__")
    what, sys.argv = rest[0], [kind, *rest[1:]]
    if kind == "-m":
        return lambda: runpy.run_module(what, run_name="__main__", alter_sys=True)
    return lambda: exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102


if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.bind(sys.argv[1])
        waiting.listen(64)  # calls that come before it is warm wait
        print("bound", flush=True)
        warm()
        program = serve(waiting)
    program()
