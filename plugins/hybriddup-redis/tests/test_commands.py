"""The commands of hybriddup over a window in Redis, as their users run them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from servers import Server, serving

REPEATED, NEARLY = "你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"
PROGRAM = [sys.executable, "-m", "hybriddup"]


def test_two_commands_watch_by_one_window(server: Server) -> None:
    """What one has kept is a repeat for the other."""
    for text, decision in ((REPEATED, "kept"), (NEARLY, "duplicate")):
        line = json.dumps({"id": text, "text": text}) + "\n"
        command = [*PROGRAM, "watch", "--store", server.url("watched")]
        done = subprocess.run(command, input=line, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["decision"] == decision


@contextmanager
def service(address: str) -> Iterator[str]:
    """Yield the address of a service over a window."""
    command = [*PROGRAM, "serve", "--store", address, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            listening = next(line for line in process.stderr if line.startswith("listening on "))
            next(line for line in process.stderr if line.startswith("ready: "))
            yield listening.split()[-1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)


def asked(address: str, body: Any = None) -> tuple[int, Any]:
    """Return the status and the answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})  # noqa: S310  our own server
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_two_services_serve_one_window(tmp_path: Path) -> None:
    """Each knows what the other has kept; while Redis is away they say so, and go on when it is back."""
    with (
        serving(tmp_path / "served", "--appendonly", "yes", "--appendfsync", "always") as server,
        service(server.url("served", timeout=1)) as one,
        service(server.url("served", timeout=1)) as other,
    ):
        assert asked(f"{one}/v1/posts", {"id": "a", "text": REPEATED})[1]["decision"] == "kept"
        assert asked(f"{other}/v1/posts", {"id": "b", "text": NEARLY})[1]["of"] == "a"
        assert asked(f"{other}/v1/match", {"text": NEARLY})[1]["matches"][0]["id"] == "a"
        assert asked(f"{one}/v1/posts/b")[1]["decision"] == "duplicate"
        assert asked(f"{one}/v1/explain", {"text": NEARLY, "id": "a"})[1]["matches"] is True
        assert asked(f"{one}/v1/stats")[1]["n_kept_in_window"] == 1
        server.end(signal.SIGKILL)
        assert asked(f"{one}/v1/posts", {"id": "c", "text": "away"})[0] == 503
        assert asked(f"{one}/readyz")[0] == 503
        server.start()
        ends = time.monotonic() + 30
        while asked(f"{one}/readyz")[0] != 200:
            assert time.monotonic() < ends
            time.sleep(0.1)
        assert asked(f"{one}/v1/posts", {"id": "d", "text": REPEATED})[1]["of"] == "a"


def test_what_is_missing_is_told(server: Server) -> None:
    """A window without a name."""
    command = [*PROGRAM, "watch", "--store", f"redis://127.0.0.1:{server.port}/0"]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "must name the window" in done.stderr
    assert "Traceback" not in done.stderr


pytest.importorskip("uvicorn", reason="the extra hybriddup[serve] is not installed")
