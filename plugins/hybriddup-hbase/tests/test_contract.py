"""Windows in HBase keep the contract of windows, and answer as a window of one's own does."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import happybase
import pytest
from hybriddup_hbase.opening import address_of, open_store
from plugin_support.classic import config_of, with_classic_layout
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


def test_windows_with_the_classic_layout_keep_the_contract(servers: HBase) -> None:
    """Fingerprints in a row for each table."""
    open_window = opener(servers)
    check_window(with_classic_layout(lambda name, **options: open_window(f"classic {name}", **options)), shared=True)


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


@pytest.mark.parametrize(("config", "size"), [("weibo", 1), ("weibo", 100), ("classic", 100)])
def test_one_sender_gets_the_answers_of_a_window_of_its_own(servers: HBase, config: str, size: int) -> None:
    """Every decision, with its keeper, score and band; positions are HBase's own."""
    lines = SAMPLES.read_text("utf-8").splitlines()[: 40 * size]
    posts = [{"id": number, "text": line.split('"text":')[1]} for number, line in enumerate(lines)]
    options: dict[str, Any] = {"config": config_of((4, 1)) if config == "classic" else config, "clock": lambda: 0.0}
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
        replace(one, position=0, evidence=one.evidence and replace(one.evidence, of_position=0)) for one in decisions
    ]


def test_of_a_thousand_copies_of_a_text_one_is_kept(servers: HBase) -> None:
    """However many come at once, and also if one was kept before."""
    with hybriddup.Window.open(servers.url("copies"), config=CONFIG) as window:
        for size in 1000, 1, 330:
            answers = window.add_many(
                [{"id": f"{size} {number}", "text": "转发微博：大家一起出去走走吧"} for number in range(size)]
            )
            assert [one.id for one in answers if one.kept] == (["1000 0"] if size == 1000 else [])
        assert window.stats().n_kept_in_window == 1


def test_ids_that_come_again_take_no_room(servers: HBase) -> None:
    """A page that is crawled again and again leaves no records, states or entries."""
    posts = [{"id": number, "text": f"第{number}条微博，今天去了{number}号公园散步"} for number in range(50)]
    with hybriddup.Window.open(servers.url("again"), config=CONFIG) as window:
        window.add_many(posts)
        before = rows_of(servers, "again")
        for _ in range(5):
            assert all(one.repeated for one in window.add_many(posts))
        assert rows_of(servers, "again") == before


def rows_of(servers: HBase, name: str) -> set[bytes]:
    """Return the keys of the rows of a window."""
    with closing(happybase.Connection("127.0.0.1", servers.port)) as connection:
        return {key for key, _ in connection.table(name).scan(columns=[b"d"])}


def test_a_kept_post_matches_whatever_the_clock_of_a_sender_says(
    servers: HBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A computer whose clock is years ahead looks at the posts of the others; times are those of the window's clock."""
    now = time.time()
    with hybriddup.Window.open(servers.url("clocks"), config=CONFIG, clock=lambda: now) as window:
        assert window.add("你妈妈喊你回家吃饭哦，回家罗回家罗").kept
        for seconds, text in (1e7, "另一条完全不同的微博在这里"), (1e8, "第三条说的又是别的事情了"):
            monkeypatch.setattr("time.time", lambda ahead=now + seconds: ahead)
            assert window.add(text).kept
        assert not window.add("你妈妈叫你回家吃饭啦，回家罗回家罗").kept


def test_what_is_read_often_stays_in_memory(servers: HBase) -> None:
    """A table that a window makes has a block cache."""
    hybriddup.Window.open(servers.url("cached"), config=CONFIG).close()
    with closing(happybase.Connection("127.0.0.1", servers.port)) as connection:
        families = connection.table("cached").families()
    assert [one["block_cache_enabled"] for one in families.values()] == [True, True]
