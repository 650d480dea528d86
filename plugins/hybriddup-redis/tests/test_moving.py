"""Windows on a cluster go on while slots are moved from one server to another."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from hybriddup_redis.store import tags
from plugin_support.faults import make_posts
from redis.crc import key_slot
from servers import Server, cluster

import hybriddup
from hybriddup.testing.window_posts import CONFIG

POSTS = [post["text"] for post in make_posts(300, 5)[::4]]
"""Texts that hardly match each other."""


@pytest.fixture(scope="module")
def moving_nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    """A cluster whose slots are moved."""
    with cluster(tmp_path_factory.mktemp("moving")) as servers:
        yield servers


def address(nodes: list[Server], window: str) -> str:
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in nodes)
    return f"redis-cluster://{hosts}?window={window}&lease=2"


@contextmanager
def slot_in_transit(source: Server, target: Server, slot: int) -> Iterator[None]:
    """Put a slot into the state of being moved, with nothing moved yet; in the end an operator fixes that."""
    with source.client() as from_one, target.client() as to_one:
        source_id, target_id = (client.execute_command("CLUSTER MYID").decode() for client in (from_one, to_one))
        to_one.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", source_id)
        from_one.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", target_id)
        yield
    command = ["redis-cli", "--cluster", "fix", f"127.0.0.1:{source.port}", "--cluster-yes"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def kept_of(window: hybriddup.Window, texts: list[str]) -> list[str]:
    """Return those of some texts that are kept."""
    return [text for text, decision in zip(texts, window.add_many(texts), strict=True) if decision.kept]


def test_posts_are_decided_while_a_slot_is_in_transit_and_after_it(moving_nodes: list[Server]) -> None:
    """By what was written before: copies are duplicates, before, while and after the slot moves."""
    _, target, source = moving_nodes  # the reshard below takes slots of the first one
    slot = next(one for one in (key_slot(tag.encode()) for tag in tags("transit", 64)) if one > 10_923)
    with hybriddup.Window.open(address(moving_nodes, "transit"), config=CONFIG) as window:
        before = kept_of(window, POSTS[:150])
        with slot_in_transit(source, target, slot):
            assert kept_of(window, before) == []
            assert [window.add(text + "!").kept for text in before[:20]] == [False] * 20
            later = kept_of(window, POSTS[150:])
            assert kept_of(window, later) == []
        assert kept_of(window, [*before, *later]) == []
        assert len(before) > 50
        assert len(later) > 50


def test_a_reshard_under_load_stops_nobody(moving_nodes: list[Server]) -> None:
    """Slots go to another server while two senders send the same posts: of those that match one is kept."""
    first, second, _ = moving_nodes
    url, done = address(moving_nodes, "reshard"), threading.Event()

    def send(sender: int) -> list[int]:
        n_kept = []
        with hybriddup.Window.open(url, config="benchmark", workers=1) as window:
            while not done.is_set() or len(n_kept) < 3:
                texts = [f"{text}{len(n_kept):x}" for text in POSTS[:60]]
                n_kept.append(len(kept_of(window, texts if sender else texts[::-1])))
        return n_kept

    with ThreadPoolExecutor(2) as pool:
        sending = [pool.submit(send, sender) for sender in range(2)]
        try:
            moved = reshard(first, second, 1500)
        finally:
            done.set()
        kept = [one.result(120) for one in sending]
    assert moved.returncode == 0, moved.stdout[-500:] + moved.stderr[-500:]
    assert sum(map(sum, kept)) == len({text[:-1] for text in POSTS[:60]})


def reshard(source: Server, target: Server, n_slots: int) -> subprocess.CompletedProcess[str]:
    """Move slots from one server to another, as an operator does."""
    ids = []
    for server in (source, target):
        with server.client() as client:
            ids.append(client.execute_command("CLUSTER MYID").decode())
    nodes = [f"127.0.0.1:{source.port}", "--cluster-from", ids[0], "--cluster-to", ids[1]]
    command = ["redis-cli", "--cluster", "reshard", *nodes, "--cluster-slots", str(n_slots), "--cluster-yes"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
