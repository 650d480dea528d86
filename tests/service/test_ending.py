"""How the service ends and does not begin: told to while it loads or answers, twice, or beside another one."""

from __future__ import annotations

import signal
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.service.support import OTHER, Served, serving

SLOW = """
import time
from pathlib import Path
import hybriddup

class SlowNormalizer:
    def normalize_batch(self, texts):
        while Path("slow").exists():
            time.sleep(0.02)
        return list(texts)
    def recipe(self):
        return {}

@hybriddup.hookimpl
def hybriddup_register(registry):
    registry.add_normalizer("slow", SlowNormalizer)
"""
ARGUMENTS = ["--plugin", "slow_posts", "--config", "slow.yaml"]
POSTS = [{"id": n, "text": f"{OTHER} {n}"} for n in range(3)]


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """While this file is there, no text is normalized: not those of the store, and not those of requests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "slow_posts.py").write_text(SLOW, "utf-8")
    (tmp_path / "slow.yaml").write_text("normalizer: {use: slow}\n", "utf-8")
    return tmp_path / "slow"


def answers(served: Served) -> list[str]:
    posted = httpx.post(f"{served.address}/v1/posts", json=POSTS, timeout=60).raise_for_status()
    return [answer["decision"] for answer in posted.json()]


@pytest.mark.slow
def test_while_it_loads_it_ends_at_once_or_is_ready_later(tmp_path: Path, slow: Path) -> None:
    with serving(tmp_path / "window", *ARGUMENTS) as served:
        before = answers(served)
        assert served.end()[0] == 0
    slow.touch()
    with serving(tmp_path / "window", *ARGUMENTS, is_awaited=False) as served:
        assert httpx.get(f"{served.address}/healthz").status_code == 200
        assert served.end() == (0, "")
    with (
        serving(tmp_path / "window", *ARGUMENTS, is_awaited=False) as served,
        httpx.Client(base_url=served.address, timeout=60) as client,
    ):
        refused = client.post("/v1/posts", json=POSTS)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert client.get("/readyz").status_code == 503
        slow.unlink()
        while client.get("/readyz").status_code != 200:
            time.sleep(0.05)
        assert answers(served) == before


def post_slowly(served: Served, slow: Path) -> tuple[threading.Thread, list[httpx.Response]]:
    """Return a thread that waits for the answer to posts, once these are being decided, and where it will be."""
    slow.touch()
    got: list[httpx.Response] = []

    def post() -> None:
        try:
            got.append(httpx.post(f"{served.address}/v1/posts", json=POSTS, timeout=60))
        except httpx.HTTPError:
            return

    thread = threading.Thread(target=post)
    thread.start()
    while f"hybriddup_queue_posts {len(POSTS)}.0" not in httpx.get(f"{served.address}/metrics").text:
        time.sleep(0.02)
    time.sleep(0.2)
    return thread, got


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_waits_for_the_answer_that_is_being_made(tmp_path: Path, slow: Path, number: int) -> None:
    with serving(tmp_path / "window", *ARGUMENTS) as served:
        thread, got = post_slowly(served, slow)
        served.process.send_signal(number)
        time.sleep(0.5)
        parts = urlsplit(served.address)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((parts.hostname, parts.port))
        slow.unlink()
        thread.join(60)
        assert [answer.status_code for answer in got] == [200]
        assert served.end() == (0, "")


def test_a_service_that_is_to_outlive_its_terminal_does(tmp_path: Path) -> None:
    """As under nohup, which has it ignore the signal."""

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with serving(tmp_path / "window", begin=ignore) as served:
        served.process.send_signal(signal.SIGHUP)
        assert answers(served)[0] == "kept"
        assert served.end() == (0, "")


@pytest.mark.slow
def test_a_second_ctrl_c_waits_for_nothing(tmp_path: Path, slow: Path) -> None:
    with serving(tmp_path / "window", *ARGUMENTS) as served:
        thread, got = post_slowly(served, slow)
        served.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert served.process.poll() is None
        assert served.end(signal.SIGINT) == (130, "")
        thread.join(60)
        assert got == []
    slow.unlink()
    with serving(tmp_path / "window", *ARGUMENTS) as served:
        assert answers(served)[0] == "kept"
        assert served.end() == (0, "")
