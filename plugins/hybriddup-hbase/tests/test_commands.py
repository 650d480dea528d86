"""The commands of hybriddup over a window in HBase, as their users run them."""

from __future__ import annotations

import subprocess

import pytest
from plugin_support.services import PROGRAM, ask, running_service, watch
from servers import HBase

pytest.importorskip("uvicorn", reason="the extra hybriddup[serve] is not installed")
REPEATED, NEARLY = "你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"


def test_two_commands_watch_by_one_window(servers: HBase) -> None:
    """What one has kept is a repeat for the other."""
    decided = [watch(servers.url("watched"), {"id": text, "text": text})["decision"] for text in (REPEATED, NEARLY)]
    assert decided == ["kept", "duplicate"]


def test_two_services_serve_one_window(servers: HBase) -> None:
    """Each knows what the other has kept."""
    with running_service(servers.url("served")) as one, running_service(servers.url("served")) as other:
        assert ask(f"{one}/v1/posts", {"id": "a", "text": REPEATED})[1]["decision"] == "kept"
        assert ask(f"{other}/v1/posts", {"id": "b", "text": NEARLY})[1]["duplicate_of"] == "a"
        assert ask(f"{other}/v1/match", {"text": NEARLY})[1]["matches"][0]["id"] == "a"
        assert ask(f"{one}/v1/posts/b")[1]["decision"] == "duplicate"
        assert ask(f"{one}/v1/explain", {"text": NEARLY, "id": "a"})[1]["matches"] is True
        assert ask(f"{one}/v1/stats")[1]["n_kept_in_window"] == 1
        assert ask(f"{one}/readyz")[0] == 200


def test_what_is_missing_is_told(servers: HBase) -> None:
    """A window without a name."""
    command = [*PROGRAM, "watch", "--store", servers.url("")]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "must name the window's table" in done.stderr
    assert "Traceback" not in done.stderr
