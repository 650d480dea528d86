"""What measures windows in Redis works."""

from __future__ import annotations

from measure import measure
from plugin_support.faults import make_posts


def test_every_measurement_tells_a_rate() -> None:
    """On a few posts."""
    texts = [post["text"] for post in make_posts(20, 5)]
    found = measure(texts, "weibo", 2, 16, 40)
    assert {"2 senders", "one sender", "one post a call"} <= set(found)
    assert found["2 senders"]["kept"] == found["one sender"]["kept"] == 20
    assert all(numbers[next(iter(numbers))] > 0 for numbers in found.values())
