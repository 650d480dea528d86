"""Windows in Redis keep the contract of windows, and answer as a window of one's own does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hybriddup_redis.addresses import place_of
from hybriddup_redis.opening import open_store
from hybriddup_redis.store import Layout, RedisStore
from plugin_support.classic import config_of, with_classic_layout
from redis.client import Pipeline
from redis.connection import Connection
from servers import Server

import hybriddup
from hybriddup.shared_windows import Entries, Keyed, Needs
from hybriddup.shared_windows.store import entry_type
from hybriddup.testing import check_shared_store, check_window

SAMPLES = Path(__file__).parents[3] / "tests" / "samples" / "posts.jsonl"


CONFIGS = {
    "blocks of 16 bits": config_of((4, 1)),
    "tables of 26 bits": config_of((5, 2)),
    "small buckets": {
        "blocks": {"use": "shingles", "max_bucket_size": 10},
        "lengths": [{"max_hamming_distance": 40, "verifier": {"use": "edit", "threshold": 0.8}}],
    },
}


def opener(address: str) -> Callable[..., Any]:
    """What opens windows by name; made here, so that other processes get it as it is."""

    def opened(name: str, **options: Any) -> Any:
        return hybriddup.Window.open(f"{address}?window={name.replace(' ', '_')}", **options)

    return opened


def cluster_address(nodes: list[Server]) -> str:
    return "redis-cluster://" + ",".join(f"127.0.0.1:{server.port}" for server in nodes)


def test_windows_on_one_server_keep_the_contract(server: Server) -> None:
    """Also where several processes use one."""
    check_window(opener(f"redis://127.0.0.1:{server.port}/0"), shared=True)


def test_windows_on_a_cluster_keep_the_contract(nodes: list[Server]) -> None:
    """Of three servers."""
    check_window(opener(cluster_address(nodes)), shared=True)


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_windows_with_the_classic_layout_keep_the_contract(kind: str, server: Server, nodes: list[Server]) -> None:
    """Fingerprints in a set for each table and block."""
    address = f"redis://127.0.0.1:{server.port}/1" if kind == "server" else cluster_address(nodes)
    open_window = opener(address)
    check_window(with_classic_layout(lambda name, **options: open_window(f"classic {name}", **options)), shared=True)


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_stores_keep_the_contract_of_shared_stores(kind: str, server: Server, nodes: list[Server]) -> None:
    """Each call by itself."""
    address = f"redis://127.0.0.1:{server.port}/0" if kind == "server" else cluster_address(nodes)
    check_shared_store(lambda name, needs: open_store(place_of(f"{address}?window=store-{name}"), needs))


@pytest.mark.parametrize("n_before", range(3))
def test_of_two_posts_one_sees_the_other_where_they_look_for_other_keys_than_they_have(
    n_before: int, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever number of the first one's commands comes before all of the other's, in windows of several partitions."""
    needs, layout = Needs(words=2, max_bucket_size=8, horizon=1000.0), Layout(n_partitions=4, horizon=1_000_000)
    first, other = (RedisStore(server.client(), f"pair-{n_before}", layout, b"token", needs) for _ in range(2))
    run, n_run, seen = Pipeline.execute, count(), list[Entries]()

    def one_by_one(pipe: Any, raise_on_error: bool = True) -> list[Any]:
        commands, answers = pipe.command_stack, list[Any]()
        for command in commands:
            if next(n_run) == n_before:
                seen.append(other.enter(*entering(1, has=2, looks_for=7)))
            pipe.command_stack = [command]
            answers += run(pipe, raise_on_error)
        return answers

    first.enter(*entering(2, has=5, looks_for=9))  # the server has all scripts then
    monkeypatch.setattr(Pipeline, "execute", one_by_one)
    of_first = first.enter(*entering(0, has=7, looks_for=2))
    of_other = seen[0] if seen else other.enter(*entering(1, has=2, looks_for=7))
    first.close()
    other.close()
    assert 1 in of_first.entries["position"] or 0 in of_other.entries["position"]


def entering(position: int, has: int, looks_for: int) -> tuple[Keyed, Any]:
    """Return a post with its key, and the key by which it looks for others; 2 and 7 lie in two of four partitions."""
    entries = np.zeros(1, entry_type(2))
    entries["position"] = position
    return Keyed(entries, np.array([[has]], np.uint64)), np.array([looks_for], np.uint64)


def test_every_server_of_a_cluster_has_its_share(nodes: list[Server]) -> None:
    """Of the keys of a window: so that more servers hold more."""
    with opener(cluster_address(nodes))("shares") as window:
        window.add_many([f"{number} is the number of this post, and {number * 7} another" for number in range(300)])
    held = []
    for server in nodes:
        with server.client() as client:
            held.append(sum(1 for _ in client.scan_iter("{shares*", count=1000)))
    assert min(held) > sum(held) / 5


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize("config", ["weibo", "blocks of 16 bits", "tables of 26 bits"])
def test_one_sender_gets_the_answers_of_a_window_of_its_own(server: Server, config: str, size: int) -> None:
    """Every decision, with its keeper, score and band."""
    texts = [line.split('"text":')[1] for line in SAMPLES.read_text("utf-8").splitlines()]
    options: dict[str, Any] = {"config": CONFIGS.get(config, config), "clock": lambda: 0.0}
    with (
        hybriddup.Window.open(**options) as own,
        hybriddup.Window.open(server.url(f"{config}{size}".replace(" ", "_")), **options) as shared,
    ):
        for first in range(0, len(texts), size):
            some = texts[first : first + size]
            assert shared.add_many(some) == own.add_many(some)
        assert shared.match(texts[9]) == own.match(texts[9])


def test_one_sender_gets_the_answers_of_a_window_of_its_own_in_a_flood(server: Server) -> None:
    """Of posts that share all their keys, more than a bucket holds, most of which leave their buckets again."""
    rng = np.random.default_rng(11)
    words = ["今天", "北京", "优惠", "大奖", "手机", "免费", "领取", "点击", "中奖", "速来"]
    texts = ["".join(rng.permutation(words)) for _ in range(1_500)]
    options: dict[str, Any] = {"config": CONFIGS["small buckets"], "clock": lambda: 0.0}
    with hybriddup.Window.open(**options) as own, hybriddup.Window.open(server.url("flood"), **options) as shared:
        for first in range(0, len(texts), 100):
            some = texts[first : first + 100]
            assert shared.add_many(some) == own.add_many(some)
        assert own.stats().limits_hit["max_bucket_size"]


def test_a_batch_takes_at_most_twelve_round_trips(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether its posts are new, repeat posts of the window, or each other; and eight if all are new, or none is."""
    n_sent, send = Counter[str](), Connection.send_packed_command

    def counted(*arguments: Any, **options: Any) -> Any:
        n_sent["now"] += 1
        return send(*arguments, **options)

    def trips(window: Any, posts: list[str]) -> int:
        n_sent.clear()
        window.add_many(posts)
        return n_sent["now"]

    with hybriddup.Window.open(server.url("trips"), config="weibo") as window:
        window.add_many([*posts_of(0, 300), *posts_of(0, 300)])  # the server has all scripts then
        monkeypatch.setattr(Connection, "send_packed_command", counted)
        for first in (1_000, 2_000):
            assert trips(window, [*posts_of(first, 200), *posts_of(first + 100, 100), *posts_of(0, 50)]) <= 12
            assert trips(window, posts_of(first + 500, 200)) <= 8
            assert trips(window, posts_of(first, 100)) <= 8


def posts_of(first: int, n: int) -> list[str]:
    """Return made-up posts, each with words of its own among others that many have."""
    return [f"{number} came to the market of town {number * 7}, number {number}" for number in range(first, first + n)]
