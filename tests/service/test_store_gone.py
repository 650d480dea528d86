"""A store that is removed or replaced under the service: no post is acknowledged, and it says that it is not ready."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from hybriddup.window import Window
from tests.service.support import OTHER, REPEATED, make_service, refused, running, send_all, serving


def remove(store: Path) -> None:
    shutil.rmtree(store)


def replace(store: Path) -> None:
    """Another store takes the place of the file, as when a backup is put back."""
    with Window.open(store.with_name("other"), workers=1) as window:
        window.add({"id": "theirs", "text": OTHER})
    (store.with_name("other") / "posts.sqlite3").replace(store / "posts.sqlite3")


WAYS = pytest.mark.parametrize("way", [remove, replace])


@WAYS
@pytest.mark.parametrize("is_idle", [True, False])
def test_posts_are_refused_and_the_service_is_not_ready(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, way: Callable[[Path], None], *, is_idle: bool
) -> None:
    async def talk() -> list[httpx.Response]:
        service = make_service(open_window=lambda: Window.open(tmp_path / "store", workers=1))
        async with running(service) as client:
            assert (await client.post("/v1/posts", json={"id": "a", "text": OTHER})).status_code == 200
            assert (await client.get("/readyz")).status_code == 200
            way(tmp_path / "store")
            posts = [] if is_idle else [("POST", "/v1/posts", {"text": REPEATED})] * 3
            looks = [("GET", path, None) for path in ("/readyz", "/v1/posts/a", "/v1/posts", "/v1/stats")]
            answers = await send_all(client, *posts, *looks, ("DELETE", "/v1/posts/a", None), ("GET", "/readyz", None))
            assert (await client.get("/healthz")).status_code == 200
            return answers

    answers = asyncio.run(talk())
    assert {answer.status_code for answer in answers} == {503}
    assert all(refused(answer)[1] in {"window_failed", "not_ready"} for answer in answers)
    assert not any(str(tmp_path) in answer.text for answer in answers)
    assert caplog.text.count("since the window was opened") == 1
    assert str(tmp_path / "store" / "posts.sqlite3") in caplog.text


def test_a_service_whose_store_is_gone_ends_in_order_and_serves_what_is_there_next(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with serving(store) as served, httpx.Client(base_url=served.address, timeout=60) as client:
        client.post("/v1/posts", json={"id": "a", "text": OTHER}).raise_for_status()
        store.rename(tmp_path / "moved")
        assert client.get("/readyz").status_code == 503
        assert client.post("/v1/posts", json={"id": "b", "text": REPEATED}).status_code == 503
        (tmp_path / "moved").rename(store)
        assert client.post("/v1/posts", json={"id": "b", "text": REPEATED}).status_code == 503
        code, said = served.end()
    assert (code, said.count("open the window again")) == (0, 1)
    with serving(store) as served, httpx.Client(base_url=served.address, timeout=60) as client:
        again = client.post("/v1/posts", json=[{"id": "a", "text": OTHER}, {"id": "b", "text": REPEATED}]).json()
        assert [answer["repeated"] for answer in again] == [True, False]
