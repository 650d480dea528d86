"""One text, or one template, many times: exactly one post is kept, and what the store sends stays small."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hybriddup_redis.buckets import SLACK
from servers import Server

import hybriddup
from hybriddup.testing.window_posts import CONFIG

TEXT = "转发微博：今天的天气真不错，大家一起出去走走吧"


def copies(prefix: str, n: int) -> list[dict[str, str]]:
    return [{"id": f"{prefix}-{number}", "text": TEXT} for number in range(n)]


def edits(prefix: str, n: int) -> list[dict[str, str]]:
    """Posts of one template that match each other."""
    return [{"id": f"{prefix}-{number}", "text": f"{TEXT}{'。！？~…'[number % 5]}"} for number in range(n)]


@pytest.mark.parametrize("make", [copies, edits])
@pytest.mark.parametrize("keeps_one_before", [True, False])
def test_of_a_flood_from_several_senders_one_post_is_kept(
    server: Server, make: Callable[[str, int], list[dict[str, str]]], keeps_one_before: bool
) -> None:
    """Far more at once than a bucket holds, whether one was kept before or not."""
    url = server.url(f"flood-{make.__name__}-{keeps_one_before}")

    def send(sender: int) -> int:
        with hybriddup.Window.open(url, config=CONFIG, workers=1) as window:
            batches = [make(f"{sender}-{batch}", 256) for batch in range(4)]
            return sum(decision.kept for batch in batches for decision in window.add_many(batch))

    n_kept = 0
    if keeps_one_before:
        with hybriddup.Window.open(url, config=CONFIG) as window:
            n_kept += sum(decision.kept for decision in window.add_many(make("first", 1)))
    with ThreadPoolExecutor(4) as pool:
        n_kept += sum(pool.map(send, range(4)))
    assert n_kept == 1


def test_what_redis_sends_grows_with_the_posts_and_not_with_their_square(server: Server) -> None:
    """A thousand copies in one batch: some hundred bytes each."""
    with hybriddup.Window.open(server.url("bytes"), config=CONFIG) as window, server.client() as client:
        window.add_many(copies("first", 2))
        before = client.info("stats")["total_net_output_bytes"]
        assert not any(decision.kept for decision in window.add_many(copies("more", 1024)))
        assert client.info("stats")["total_net_output_bytes"] - before < 1_000_000


def test_ids_that_come_again_leave_nothing(server: Server) -> None:
    """A page that is polled has the same ids each time."""
    with hybriddup.Window.open(server.url("polled"), config=CONFIG) as window, server.client() as client:
        posts = [{"id": number, "text": f"{number} is the number of this post"} for number in range(300)]
        answers = window.add_many(posts)
        n_keys = sum(1 for _ in client.scan_iter("{polled*", count=5000))
        for _ in range(5):
            assert [replace(one, repeated=False) for one in window.add_many(posts)] == answers
        assert sum(1 for _ in client.scan_iter("{polled*", count=5000)) == n_keys


def test_a_large_bucket_is_cut_to_the_newest_kept_posts(server: Server) -> None:
    """Of posts that share all their keys and do not match."""
    words = ["red", "green", "blue", "white", "black", "brown", "gold", "grey", "pink", "cyan"]
    config = {
        "blocks": {"use": "shingles", "max_bucket_size": 10},
        "lengths": [{"max_hamming_distance": 40, "verifier": {"use": "edit", "threshold": 0.99}}],
    }
    posts = [f"{one} {other} {third}" for one in words for other in words for third in words]
    with hybriddup.Window.open(server.url("cut"), config=config) as window, server.client() as client:
        for first in range(0, len(posts), 50):
            window.add_many(posts[first : first + 50])
        larger = [client.strlen(key) for key in client.scan_iter("{cut*", count=5000) if client.type(key) == b"string"]
        longest = 28 * (10 + SLACK) * 1.25 + 28 * 50
        assert 28 * 10 < max(larger) <= longest
