"""What measures windows in HBase works."""

from __future__ import annotations

from measure import measure
from plugin_support.faults import make_posts
from servers import HBase


def test_every_measurement_tells_a_rate(servers: HBase) -> None:
    """On a few posts, of which each quarter is kept."""
    texts = [post["text"] for post in make_posts(20, 5)]
    found = measure(servers.port, texts, "weibo", 2, 16, 40)
    assert found["2 senders"].n_kept == found["one sender"].n_kept == 20
    assert found["articles"].n_kept <= 40
    assert all(rate.per_second > 0 for rate in found.values())
