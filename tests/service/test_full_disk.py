"""The service as a process on a disk that is full, and on one that has room again."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.service.support import SHAPE, Served, serving
from tests.window.stores import check_file, mounted

FILLER = "x" * 5000
"""Text of a post, besides its number: many characters, which are fast to decide."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted(folder, "4m"):
        yield folder


def send(client: httpx.Client, first: int, n: int = 20) -> httpx.Response:
    posts = [{"id": number, "text": f"{number} {number * 7919} {FILLER}"} for number in range(first, first + n)]
    return client.post("/v1/posts", json=posts)


def send_until_refused(client: httpx.Client) -> tuple[int, httpx.Response]:
    """Return how many posts were acknowledged, and the answer that refused more."""
    return next((n, answer) for n in range(0, 100_000, 20) if (answer := send(client, n)).status_code != 200)


def wait_until_ready(client: httpx.Client) -> None:
    while client.get("/readyz").status_code != 200:
        time.sleep(0.05)


@contextmanager
def service(store: Path) -> Iterator[tuple[Served, httpx.Client]]:
    """A server whose limits a test can change, and a client."""
    with serving(store, is_forked=False) as served, httpx.Client(base_url=served.address, timeout=60) as client:
        yield served, client


def check_all_there(client: httpx.Client, n_acknowledged: int) -> None:
    for first in range(0, n_acknowledged, 20):
        assert all(answer["repeated"] for answer in send(client, first).raise_for_status().json())


def check_new(answer: httpx.Response) -> None:
    """Fail unless posts were decided of which nothing was written when they were refused."""
    assert [one["repeated"] for one in answer.raise_for_status().json()] == [False] * 20


@pytest.mark.slow
def test_a_full_disk_is_said_and_nothing_acknowledged_is_lost(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(2 * 2**20))
    with service(small_disk / "window") as (served, client):
        n, refused = send_until_refused(client)
        assert (refused.status_code, refused.json()["error"]) == (507, "disk_full")
        assert set(refused.json()) == SHAPE
        assert str(small_disk) not in refused.text
        assert int(refused.headers["retry-after"]) >= 1
        ready = client.get("/readyz")
        assert (ready.status_code, "the disk is full" in ready.json()["message"]) == (503, True)
        assert client.get("/healthz").status_code == 200
        check_all_there(client, n)
        assert client.get("/readyz").status_code == 503
        ballast.unlink()
        wait_until_ready(client)
        check_new(send(client, n))
        n, _ = send_until_refused(client)
        assert 'hybriddup_requests_refused_total{error="disk_full"} 2.0' in client.get("/metrics").text
        code, said = served.end()
    assert code == 0
    check_only_the_cause_is_said(said)
    with service(small_disk / "window") as (served, client):
        check_all_there(client, n)
    check_file(small_disk / "window")


@pytest.mark.slow
def test_where_files_may_not_grow_posts_are_refused_until_they_may(tmp_path: Path) -> None:
    with service(tmp_path / "window") as (served, client):
        limit_files(served, 2 * 2**20)
        n, refused = send_until_refused(client)
        assert (refused.status_code, refused.json()["error"]) in {(503, "window_failed"), (507, "disk_full")}
        assert str(tmp_path) not in refused.text
        check_all_there(client, n)
        assert str(tmp_path) not in client.get("/readyz").text
        limit_files(served, resource.RLIM_INFINITY)
        check_new(send(client, n))
        wait_until_ready(client)
        check_all_there(client, n + 20)
        code, said = served.end()
    assert code == 0
    check_only_the_cause_is_said(said)
    check_file(tmp_path / "window")


def check_only_the_cause_is_said(said: str) -> None:
    """Fail unless nothing else is said than, once in a row, why posts were refused and what else had no room."""
    refused = ("the disk is full", "reading or writing failed")
    extras = ("cannot write the index snapshot", "texts cannot be written", "SQLite checkpoint failed")
    lines = said.splitlines()
    assert any(cause in line for line in lines for cause in refused)
    assert all(any(each in line for each in (*refused, *extras)) for line in lines)
    assert len(lines) <= 2 * (1 + len(extras))  # the disk was full twice at most


def limit_files(served: Served, n_bytes: int) -> None:
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))
