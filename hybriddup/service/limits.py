"""Limits of the service. A request that exceeds a limit is counted, and refused with an error that names the limit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of the service, all inclusive."""

    max_body_bytes: int = 8 * 2**20
    max_posts: int = 1000
    """Maximum number of posts per request."""
    max_text_length: int = 20_000
    """Maximum length of a text, before normalizing, in code points."""
    max_queue: int = 20_000
    """Maximum number of posts that wait or are being decided."""
    request_timeout: float = 10.0
    """Time limit in seconds for reading the body, and then the same limit for answering."""
    keep_alive: int = 30
    """Time in seconds for which a connection stays open between two requests."""


SECONDS_BEFORE_429 = 0.5
"""Delay before an answer with status 429, in seconds."""
LARGE_BODY = 2**16
"""Size in bytes above which a body is parsed in a thread."""
MAX_BYTES_OF_BODIES = 2**28
"""Maximum total size of the bodies in memory, in bytes, unless `Limits.max_body_bytes` is larger."""
MAX_MATCHES = 100
"""Maximum number of matches per request."""
MOST_LATEST = 500
"""Number of latest decisions to store per outcome."""
DEFAULT_LISTED, MAX_LISTED = 20, 100
"""Default and maximum number of posts, decisions, or pairs to judge, per answer."""
MOST_COMPARED = 200
"""Maximum number of posts that a request for pairs to judge looks up in the window."""
MAX_LOOKS = 64
"""Maximum number of requests that use or wait for the reading thread: look-ups, lists, explanations, deletions."""
