"""What the tests of the service share: an application in this process, a server in another, and texts that repeat."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx

from hybriddup.service.limits import Limits
from hybriddup.service.server import create_app
from hybriddup.service.service import Service
from hybriddup.window import Decision, Post, Window
from hybriddup.window.event_time import TimeOf
from tests.processes import python

ROOT = Path(__file__).parents[2]
REPEATED = "你妈妈喊你回家吃饭哦，回家罗回家罗"
NEARLY = "你妈妈叫你回家吃饭啦，回家罗回家罗"
OTHER = "明天下雨吗，要不要带伞出门"
SHAPE = {"error", "message", "allowed"}
JSON = {"content-type": "application/json"}
T = TypeVar("T")


def make_service(
    limits: Limits | None = None,
    open_window: Callable[[], Window] | None = None,
    time_of: TimeOf = "arrival",
    authors: str | None = None,
) -> Service:
    opener = open_window or (lambda: Window.open(None, authors=authors, workers=1))
    return Service(opener, limits or Limits(), time_of, authors=authors)


@asynccontextmanager
async def running(service: Service, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(service, **options)
    service.start(lambda _: None, lambda: None)
    await service.opening
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client
    finally:
        await service.close()


def ask(
    talk: Callable[[httpx.AsyncClient], Awaitable[T]], service: Service | Limits | None = None, /, **options: Any
) -> T:
    """Return what a conversation with a service gave; with a new one, unless one is given."""

    async def whole() -> T:
        async with running(service if isinstance(service, Service) else make_service(service), **options) as client:
            return await talk(client)

    return asyncio.run(whole())


async def send_all(client: httpx.AsyncClient, *requests: tuple[str, str, Any]) -> list[httpx.Response]:
    """Return the answers to requests, one after another: the method, the address, and what is sent as JSON."""
    return [await client.request(method, address, json=body) for method, address, body in requests]


def answers_to(
    *requests: tuple[str, str, Any], of: Service | Limits | None = None, **options: Any
) -> list[httpx.Response]:
    return ask(lambda client: send_all(client, *requests), of, **options)


def refused(answer: httpx.Response) -> tuple[int, str]:
    """Return status and kind of an error, which must have its shape."""
    told = answer.json()
    assert set(told) == SHAPE
    assert all(isinstance(value, str) and value for value in told.values())
    return answer.status_code, told["error"]


class Decide:
    """Stands for a window: keeps every post and notes which came, when it is let go."""

    def __init__(self, *, is_held: bool = False) -> None:
        self.texts: list[str] = []
        self.began, self.go = threading.Event(), threading.Event()
        if not is_held:
            self.go.set()

    def __call__(self, posts: list[Post]) -> list[Decision]:
        self.began.set()
        assert self.go.wait(60)
        self.texts += [post.text for post in posts]
        return [Decision(post.text, 0, "kept", repeated=False, evidence=None) for post in posts]


class Served(NamedTuple):
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    address: str

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Tell it to end; return its exit code and what else it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@contextmanager
def serving(
    store: Path,
    *arguments: str,
    is_awaited: bool = True,
    is_forked: bool = True,
    begin: Callable[[], object] | None = None,
    **environment: str,
) -> Iterator[Served]:
    """Yield a server on a free port, when its window is open unless that is not awaited; it begins with a call.

    One that is not forked from the warm process is the process itself, whose limits a test can change.
    """
    interpreter = python() if is_forked and not begin else [sys.executable]
    process = subprocess.Popen(
        [*interpreter, "-m", "hybriddup", "serve", "--store", str(store), "--port", "0", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=begin,
    )
    try:
        address = line_with(process, "listening on ").split()[-1]
        if is_awaited:
            line_with(process, "ready: ")
        yield Served(process, address)
    finally:
        process.kill()
        process.wait(60)
        process.stderr.close()


def line_with(process: subprocess.Popen[str], beginning: str) -> str:
    """Return the next line of standard error with this beginning."""
    said = []
    for line in process.stderr:
        if line.startswith(beginning):
            return line
        said.append(line)
    raise AssertionError(f"the server ended: {''.join(said)}")
