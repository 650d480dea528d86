"""Services over windows of a plugin, as their users run them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PROGRAM = [sys.executable, "-m", "hybriddup"]
SECONDS = 60.0


@contextmanager
def running_service(store: str, *arguments: str) -> Iterator[str]:
    """Run ``hybriddup serve`` over a window; yield its address when it is ready. Needs hybriddup[serve]."""
    command = [*PROGRAM, "serve", "--store", store, "--port", "0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            lines = iter(process.stderr or ())
            listening = next(line for line in lines if line.startswith("listening on "))
            next(line for line in lines if line.startswith("ready: "))
            yield listening.split()[-1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=SECONDS)


def ask(address: str, body: Any = None) -> tuple[int, Any]:
    """Return the status and the answer of a request, with a body or none."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})  # noqa: S310  our own server
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def watch(store: str, post: Any) -> dict[str, Any]:
    """Send a post to ``hybriddup watch`` over a window; return what it prints."""
    command = [*PROGRAM, "watch", "--store", store]
    line = json.dumps(post) + "\n"
    done = subprocess.run(command, input=line, capture_output=True, text=True, timeout=SECONDS, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
