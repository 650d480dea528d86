"""Memory for the bodies of all requests together, so that many large ones at once cannot take all there is."""

from __future__ import annotations

from starlette.types import Scope

from hybriddup.service.problems import RequestError

KEY = "hybriddup.body_bytes"


class BodyRoom:
    """Counts the bytes of the bodies that are read or whose posts wait.

    Parameters
    ----------
    most
        Bytes of all of them together at most, but for one body that comes alone.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0

    def take(self, scope: Scope, n_bytes: int) -> None:
        """Hold so many more bytes for a request; RequestError where there is no room for them."""
        own = scope.get(KEY, 0)
        if self.held + n_bytes > self.most and self.held > own:
            message = f"the bodies of other requests take {self.held - own:,} bytes."
            allowed = f"at most {self.most:,} bytes in all bodies together; send it again, later"
            raise RequestError(503, "too_many_bytes", message, allowed, retry_after=1)
        self.held += n_bytes
        scope[KEY] = own + n_bytes

    def release(self, scope: Scope) -> None:
        """Give back what a request held, now that it is answered."""
        self.held -= scope.pop(KEY, 0)
