"""The service as a process: readiness, many clients, the end, and what it refuses to start with."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from hybriddup.cli.app import app
from tests.processes import python
from tests.service.support import OTHER, ROOT, serving

N_CLIENTS = 64
N_GROUPS = 12


@pytest.mark.slow
def test_of_matching_posts_sent_by_64_clients_exactly_one_is_kept(tmp_path: Path) -> None:
    letters = random.Random(1)  # noqa: S311  texts, not secrets
    bases = ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=40)) for _ in range(N_GROUPS)]
    posts = [{"id": f"{g}-{n}", "text": base + "!" * (n % 3)} for g, base in enumerate(bases) for n in range(N_CLIENTS)]

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # not used; each client would load all certificates

    async def client(number: int, address: str) -> list[dict[str, Any]]:
        own = posts[number::N_CLIENTS] * 2
        random.Random(number).shuffle(own)  # noqa: S311  an order, not a secret
        async with httpx.AsyncClient(base_url=address, timeout=60, verify=tls) as connection:
            return [(await connection.post("/v1/posts", json=post)).raise_for_status().json() for post in own]

    async def all_clients(address: str) -> list[dict[str, Any]]:
        answers = await asyncio.gather(*(client(number, address) for number in range(N_CLIENTS)))
        return [answer for of_client in answers for answer in of_client]

    with serving(tmp_path / "window") as served:
        answers = asyncio.run(all_clients(served.address))
        assert served.end()[0] == 0
    by_id: dict[str, dict[str, Any]] = {}
    for answer in answers:
        answer.pop("repeated")
        assert by_id.setdefault(answer["id"], answer) == answer
    assert sorted(by_id) == sorted(post["id"] for post in posts)
    kept = [post_id.split("-")[0] for post_id, answer in by_id.items() if answer["decision"] == "kept"]
    assert sorted(kept) == sorted(map(str, range(N_GROUPS)))
    assert sorted(answer["position"] for answer in by_id.values()) == list(range(len(posts)))
    with serving(tmp_path / "window") as served, httpx.Client(base_url=served.address, timeout=60) as connection:
        again = connection.post("/v1/posts", json=posts).json()
    assert [answer | {"repeated": True} for answer in again] == [
        by_id[post["id"]] | {"repeated": True} for post in posts
    ]


@pytest.mark.slow
def test_told_to_end_it_answers_what_it_accepted(tmp_path: Path) -> None:
    answered: dict[str, int] = {}
    broken: list[str] = []
    ending = threading.Event()

    def send(number: int, address: str) -> None:
        with httpx.Client(base_url=address, timeout=60) as connection:
            for turn in range(10_000):
                post = {"id": f"{number}-{turn}", "text": f"{OTHER} {number} {turn} {'x' * (turn % 50)}"}
                try:
                    answer = connection.post("/v1/posts", json=post)
                except httpx.HTTPError as error:
                    # only a connection that was idle may be closed
                    if not ending.is_set() or isinstance(error, httpx.ReadTimeout):
                        broken.append(repr(error))
                    return
                if answer.status_code == 200:
                    answered[post["id"]] = answer.json()["position"]

    with serving(tmp_path / "window") as served:
        threads = [threading.Thread(target=send, args=(number, served.address)) for number in range(8)]
        for thread in threads:
            thread.start()
        while len(answered) < 100:
            time.sleep(0.01)
        ending.set()
        code, said = served.end()
        for thread in threads:
            thread.join(60)
    assert (code, said, broken) == (0, "", [])
    with serving(tmp_path / "window") as served, httpx.Client(base_url=served.address, timeout=60) as connection:
        for post_id, position in answered.items():
            assert connection.get(f"/v1/posts/{post_id}").json()["position"] == position


def test_ctrl_c_drains_too(tmp_path: Path) -> None:
    with serving(tmp_path / "window") as served:
        httpx.post(f"{served.address}/v1/posts", json={"text": OTHER}).raise_for_status()
        assert served.end(signal.SIGINT) == (130, "")


def refusal_at_once(tmp_path: Path, *arguments: str, **environment: str) -> str:
    """What `hybriddup serve` says that does not even begin to start, called in this process."""
    command = ["serve", "--store", str(tmp_path / "window"), *arguments]
    ran = CliRunner().invoke(app, command, env={"HYBRIDDUP_TOKEN": None} | environment)
    assert (ran.exit_code, ran.stdout) == (2, "")
    return ran.stderr


def refusal(tmp_path: Path, *arguments: str) -> str:
    """What `hybriddup serve` says when it does not start."""
    command = [*python(), "-m", "hybriddup", "serve", "--store", str(tmp_path / "window"), *arguments]
    clean = {name: value for name, value in os.environ.items() if name != "HYBRIDDUP_TOKEN"}
    ran = subprocess.run(command, env=clean | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (2, "")
    return ran.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])  # noqa: S104  refused
def test_other_machines_are_served_with_a_token_only(tmp_path: Path, host: str) -> None:
    said = refusal_at_once(tmp_path, "--host", host)
    assert "there is no token" in said
    assert "--token-file" in said
    assert not (tmp_path / "window").exists()


def test_a_token_must_be_one(tmp_path: Path) -> None:
    assert "at least 16" in refusal_at_once(tmp_path, HYBRIDDUP_TOKEN="secret")  # noqa: S106  too short by intent
    (tmp_path / "token").write_text("also secret\n", "utf-8")
    said = refusal_at_once(tmp_path, "--token-file", str(tmp_path / "token"))
    assert "at least 16" in said
    assert "secret" not in said
    assert "cannot be read" in refusal_at_once(tmp_path, "--token-file", str(tmp_path / "none"))


@pytest.mark.slow
def test_what_cannot_be_opened_ends_the_server_with_a_message(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "Choose another --host or --port" in refusal(tmp_path, "--port", str(taken.getsockname()[1]))
    assert "nonesuch" in refusal(tmp_path, "--port", "0", "--config", "nonesuch")
    assert "horizon must be" in refusal(tmp_path, "--port", "0", "--horizon", "soon")
    with serving(tmp_path / "window"):
        said = refusal(tmp_path, "--port", "0").splitlines()
    assert said[0].startswith("listening on ")
    assert said[1].startswith("error: ")


def test_token_from_a_file_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("0123456789abcdef\n", "utf-8")
    with serving(tmp_path / "window", "--token-file", str(tmp_path / "token")) as served:
        assert httpx.get(f"{served.address}/v1/stats").status_code == 401
        headers = {"authorization": "Bearer 0123456789abcdef"}
        assert json.loads(httpx.get(f"{served.address}/v1/stats", headers=headers).content)["n_posts"] == 0


def test_an_access_log_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    for arguments, n in (["--access-log"], 2), ([], 0):
        with serving(tmp_path / "window", *arguments) as served:
            httpx.get(f"{served.address}/v1/posts?q=secret")
            httpx.get(f"{served.address}/nowhere", headers={"x-forwarded-for": "192.0.2.1"})
            _, said = served.end()
        lines = [line.split() for line in said.splitlines() if " GET " in line]
        requests = [["127.0.0.1", "GET", "/v1/posts", "200"], ["192.0.2.1", "GET", "/nowhere", "404"]]
        assert [line[1:5] for line in lines] == requests[:n]
        assert "secret" not in said
