"""Where a window lies: paths, URLs, and the passwords in them, which nobody is to read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from hybriddup.errors import ConfigError, HybriddupError, StoreError
from hybriddup.steps.options import quote

URL = re.compile(r"([a-z][a-z0-9+.-]+)://|(memory):$|(file):/", re.IGNORECASE)
"""One letter is a drive, and other paths may have a colon."""
MEMORY = "memory:"
SECRET = re.compile("pass|secret|token|key|auth", re.IGNORECASE)
"""In names of a URL's query."""
PARTS = re.compile(r"file:(?://([^/?#]*))?([^?#]*)(.*)", re.IGNORECASE | re.DOTALL)
"""Host, path, and what must not follow."""


def url_of(path: str | Path | None) -> tuple[str, str]:
    """Return the scheme of what is to be opened, and its URL; a path is one of ``file``, None is memory.

    Examples
    --------
    >>> url_of("redis://host/0")
    ('redis', 'redis://host/0')
    >>> url_of("/srv/posts:2026")
    ('file', 'file:///srv/posts%3A2026')
    """
    if path is None:
        return "memory", MEMORY
    found = URL.match(path) if isinstance(path, str) else None
    if found is None:
        try:
            return "file", Path(path).absolute().as_uri()
        except (TypeError, UnicodeEncodeError):
            raise ConfigError(
                f"a window is opened by the path of a directory, as text or as a Path, or by a URL; got {quote(path)}."
            ) from None
    return found[found.lastindex or 1].lower(), str(path)


def path_of(url: str) -> Path:
    """Return the path of a ``file:`` URL.

    Examples
    --------
    >>> path_of("file:///srv/my%20window").as_posix()
    '/srv/my window'
    """
    host, path, rest = PARTS.fullmatch(url).groups()  # type: ignore[union-attr]  # anything has these parts
    where = path if (host or "").lower() in ("", "localhost") else f"//{host}{path}"
    if (where != path and os.name != "nt") or rest or not path or "%00" in path:
        raise ConfigError(
            "a directory of this machine is file:///path, with %3F for ? and %23 for #, or just its path. Other "
            "machines have their own schemes."
        )
    return Path(url2pathname(where) if os.name == "nt" else os.fsdecode(unquote_to_bytes(path)))


@contextmanager
def secrets_hidden(url: str) -> Iterator[None]:
    """Have no error of the block repeat a password of the URL, nor the errors that caused it."""
    try:
        yield
    except Exception as error:
        secrets = secrets_of(url)
        if not any(secret in str(each) for each in chain_of(error) for secret in secrets):
            raise
        message = str(error)
        for secret in secrets:
            message = message.replace(secret, "***")
        kind = type(error) if isinstance(error, HybriddupError) else StoreError
        raise kind(message) from None


def secrets_of(url: str) -> list[str]:
    """Return the passwords in a URL as they may stand in messages, the longest first.

    Examples
    --------
    >>> secrets_of("redis://me:a%20b@host/0?window=tweets&token=t")
    ['a%20b', 'a b', 't']
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # who can tell
        return [url]
    query = (pair.partition("=") for pair in parts.query.split("&"))
    found = [parts.password or "", *(value for name, _, value in query if SECRET.search(name))]
    return sorted({form for one in found if one for form in (one, unquote(one))}, key=len, reverse=True)


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, what caused it, and so on, as they are shown together."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
