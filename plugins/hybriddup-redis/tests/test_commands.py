"""The commands of hybriddup over a window in Redis, as their users run them."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from plugin_support.services import PROGRAM, ask, running_service, watch
from servers import Server, serving

pytest.importorskip("uvicorn", reason="the extra hybriddup[serve] is not installed")
REPEATED, NEARLY = "你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"


def test_two_commands_watch_by_one_window(server: Server) -> None:
    """What one has kept is a repeat for the other."""
    decided = [watch(server.url("watched"), {"id": text, "text": text})["decision"] for text in (REPEATED, NEARLY)]
    assert decided == ["kept", "duplicate"]


def test_two_services_serve_one_window(tmp_path: Path) -> None:
    """Each knows what the other has kept; while Redis is away they say so, and go on when it is back."""
    with (
        serving(tmp_path / "served", "--appendonly", "yes", "--appendfsync", "always") as server,
        running_service(server.url("served", timeout=1)) as one,
        running_service(server.url("served", timeout=1)) as other,
    ):
        assert ask(f"{one}/v1/posts", {"id": "a", "text": REPEATED})[1]["decision"] == "kept"
        assert ask(f"{other}/v1/posts", {"id": "b", "text": NEARLY})[1]["duplicate_of"] == "a"
        assert ask(f"{other}/v1/match", {"text": NEARLY})[1]["matches"][0]["id"] == "a"
        assert ask(f"{one}/v1/posts/b")[1]["decision"] == "duplicate"
        assert ask(f"{one}/v1/explain", {"text": NEARLY, "id": "a"})[1]["matches"] is True
        assert ask(f"{one}/v1/stats")[1]["n_kept_in_window"] == 1
        server.end(signal.SIGKILL)
        assert ask(f"{one}/v1/posts", {"id": "c", "text": "away"})[0] == 503
        assert ask(f"{one}/readyz")[0] == 503
        server.start()
        ends = time.monotonic() + 30
        while ask(f"{one}/readyz")[0] != 200:
            assert time.monotonic() < ends
            time.sleep(0.1)
        assert ask(f"{one}/v1/posts", {"id": "d", "text": REPEATED})[1]["duplicate_of"] == "a"


def test_what_is_missing_is_told(server: Server) -> None:
    """A window without a name."""
    command = [*PROGRAM, "watch", "--store", f"redis://127.0.0.1:{server.port}/0"]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "must name the window" in done.stderr
    assert "Traceback" not in done.stderr
