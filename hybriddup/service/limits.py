"""What the service accepts at most; everything beyond is refused by name and counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of the service, all inclusive."""

    max_body_bytes: int = 8 * 2**20
    max_posts: int = 1000
    """Posts in one request."""
    max_text_length: int = 20_000
    """Characters (code points) of one text, as it is sent."""
    max_queue: int = 20_000
    """Posts that wait to be decided, those being decided included."""
    request_timeout: float = 10.0
    """Seconds for reading a request, and again for answering it."""


MAX_MATCHES = 100
"""Matches that one request may ask for."""
MAX_LOOKS = 64
"""Requests that look into the window without changing it and wait for that: matches, explanations, posts by id."""
