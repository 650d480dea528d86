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
    """Seconds for reading a body, again for answering the request, and again for the client to take the answer."""
    max_connections: int = 512
    """Connections that are open at once."""
    header_timeout: float = 5.0
    """Seconds from the first byte of a request, or from the beginning of a connection, to the end of the headers."""
    keep_alive: int = 30
    """Seconds that a connection stays open between two requests."""


MAX_HEADER_BYTES = 2**16
"""Bytes of the headers of a request, before what came with their end."""
MAX_AHEAD = 32
"""Requests that a client may send on one connection before the first of them is answered."""
MAX_CHUNKS = 10_000
"""Chunks in which a body may come."""
UNREAD_BYTES, UNREAD_SECONDS = 2**20, 1.0
"""Of a body that is answered before it was read: how much is dropped, and for how long, before the connection ends."""
SECONDS_BEFORE_429 = 0.5
"""After which a client is told that too many posts wait."""
LARGE_BODY = 2**16
"""Bytes from which on a body is parsed beside the event loop."""
MAX_BYTES_OF_BODIES = 2**28
"""Bytes of the bodies of all requests that are being read or wait, unless one body may have more."""
MAX_MATCHES = 100
"""Matches that one request may ask for."""
MOST_LATEST = 500
"""Latest decisions that can be asked for, of each outcome."""
DEFAULT_LISTED, MAX_LISTED = 20, 100
"""Decisions, or pairs to judge, in one answer."""
MOST_COMPARED = 200
"""Posts that one request for pairs to judge looks for in the window."""
MAX_LOOKS = 64
"""Requests that look into the window without changing it and wait for that: matches, explanations, posts by id."""
