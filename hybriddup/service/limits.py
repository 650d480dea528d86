"""Limits of the service. A request beyond one is refused with an error that names the limit, and counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of the service, all inclusive."""

    max_body_bytes: int = 8 * 2**20
    max_posts: int = 1000
    """Number of posts per request."""
    max_text_length: int = 20_000
    """Length of a text as it is sent, in code points."""
    max_queue: int = 20_000
    """Number of posts that wait or are being decided."""
    request_timeout: float = 10.0
    """Deadline in seconds, separately for reading the body, for answering, and for the client to read the answer."""
    max_connections: int = 512
    """Number of open connections."""
    header_timeout: float = 5.0
    """Seconds from the first byte of a request, or from the beginning of a connection, to the end of the headers."""
    keep_alive: int = 30
    """Seconds that a connection stays open between two requests."""


MAX_HEADER_BYTES = 2**16
"""Size of a request's headers in bytes, not counting the last piece received."""
MAX_AHEAD = 32
"""Number of unanswered (pipelined) requests per connection."""
MAX_CHUNKS = 10_000
"""Number of chunks per request body."""
UNREAD_BYTES, UNREAD_SECONDS = 2**20, 1.0
"""Bytes and seconds of an unread body to read and drop, before the connection is closed."""
SECONDS_BEFORE_429 = 0.5
"""Delay before an answer with status 429, in seconds."""
LARGE_BODY = 2**16
"""Size in bytes above which a body is parsed in a thread."""
MAX_BYTES_OF_BODIES = 2**28
"""Total size in bytes of the bodies in memory; `Limits.max_body_bytes` if that is larger."""
MAX_MATCHES = 100
"""Number of matches per request."""
MOST_LATEST = 500
"""Number of latest decisions remembered per outcome."""
DEFAULT_LISTED, MAX_LISTED = 20, 100
"""Number of decisions, or pairs to judge, per answer."""
MOST_COMPARED = 200
"""Number of posts that a request for pairs to judge looks up in the window."""
MAX_LOOKS = 64
"""Number of requests that use or wait for the reading thread: look-ups, lists, explanations, deletions."""
