"""What measures windows in HBase works."""

from __future__ import annotations

from measure import measure
from plugin_support.faults import make_posts
from servers import HBase


def test_every_measurement_tells_a_rate(servers: HBase) -> None:
    """On a few posts, of which each quarter is kept."""
    texts = [post["text"] for post in make_posts(20, 5)]
    found = measure(servers.port, texts, "weibo", 2, 16, 40)
    assert found["2 senders"][0].n_kept == found["one sender"][0].n_kept == 20
    assert all(rate.per_second > 0 and held.n_bytes > 0 for rate, held in found.values())
