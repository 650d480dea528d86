"""Windows in HBase keep the contract of windows, and answer as a window of one's own does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hybriddup_hbase.opening import address_of, open_store
from servers import HBase

import hybriddup
from hybriddup.testing import check_shared_store, check_window
from hybriddup.testing.window_posts import CONFIG

SAMPLES = Path(__file__).parents[3] / "tests" / "samples" / "posts.jsonl"


def opener(servers: HBase) -> Callable[..., Any]:
    """What opens windows by name; made here, so that other processes get it as it is."""
    address = servers.url("")

    def opened(name: str, **options: Any) -> Any:
        return hybriddup.Window.open(address + name.replace(" ", "_"), **options)

    return opened


def test_windows_keep_the_contract(servers: HBase) -> None:
    """Also where several processes use one."""
    check_window(opener(servers), shared=True)


def test_stores_keep_the_contract_of_shared_stores(servers: HBase) -> None:
    """Each call by itself."""
    check_shared_store(lambda name, needs: open_store(address_of(servers.url(f"store-{name}")), needs))


def test_a_window_is_made_once_by_whoever_is_first(servers: HBase) -> None:
    """Of several who open it at the same moment."""

    def add(number: int) -> bool:
        with hybriddup.Window.open(servers.url("at-once"), config=CONFIG, workers=1) as window:
            return bool(window.add({"id": number, "text": "你妈妈喊你回家吃饭哦，回家罗回家罗"}).kept)

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(add, range(4))) == 1


@pytest.mark.parametrize(("config", "size"), [("weibo", 1), ("weibo", 100), ("articles", 100)])
def test_one_sender_gets_the_answers_of_a_window_of_its_own(servers: HBase, config: str, size: int) -> None:
    """Every decision, with its keeper, score and band; positions are HBase's own."""
    lines = SAMPLES.read_text("utf-8").splitlines()[: 40 * size]
    posts = [{"id": number, "text": line.split('"text":')[1]} for number, line in enumerate(lines)]
    options: dict[str, Any] = {"config": config, "clock": lambda: 0.0}
    with (
        hybriddup.Window.open(**options) as own,
        hybriddup.Window.open(servers.url(f"{config}{size}"), **options) as shared,
    ):
        for first in range(0, len(posts), size):
            some = posts[first : first + size]
            assert without_positions(shared.add_many(some)) == without_positions(own.add_many(some))
        assert [one.id for one in shared.match(posts[9]["text"])] == [one.id for one in own.match(posts[9]["text"])]


def without_positions(decisions: list[Any]) -> list[Any]:
    """Decisions with ids only."""
    return [
        one._replace(position=0, evidence=one.evidence and one.evidence._replace(of_position=0)) for one in decisions
    ]
