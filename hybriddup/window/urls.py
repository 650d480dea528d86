"""Converts between paths and URLs of windows, and removes the passwords of URLs from error messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from hybriddup.errors import ConfigError, HybriddupError, StoreError
from hybriddup.steps.options import quote

URL = re.compile(r"([a-z][a-z0-9+.-]+)://|(memory):$|(file):/", re.IGNORECASE)
"""Pattern of URLs. It does not match paths with a colon, such as ``posts:2026`` or ``C:/posts``."""
MEMORY = "memory:"
SECRET = re.compile("pass|secret|token|key|auth", re.IGNORECASE)
"""Pattern of the names of secret options in the query of a URL."""
PARTS = re.compile(r"file:(?://([^/?#]*))?([^?#]*)(.*)", re.IGNORECASE | re.DOTALL)
"""Pattern of ``file:`` URLs, with groups for host, path, and the rest, which must be empty."""


def url_of(path: str | Path | None) -> tuple[str, str]:
    """Return the scheme and the URL of a window; the scheme is ``file`` for a path, and ``memory`` for None.

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


def split_address(url: str, form: str) -> SplitResult:
    """Split the URL of a server into its parts; ConfigError, without any part of a password, if it is invalid.

    An unescaped ``/``, ``?`` or ``#`` in a password ends the host too early: parts of the password would be taken for a
    port, a path or options, and appear in errors about these. So an ``@`` after the host is rejected.

    Parameters
    ----------
    url
        As the user gave it.
    form
        The form that is allowed, for the message.

    Examples
    --------
    >>> split_address("redis://:a%2Fb@host/0", "redis://[user:password@]host:port/0").password
    'a%2Fb'
    """
    parts = parts_of(url)
    if parts is None:
        raise ConfigError(
            "the address of the window cannot be read. In a user, a password or an option, write / ? # [ ] and @ as "
            f"%2F %3F %23 %5B %5D and %40. Allowed: {form}."
        )
    return parts


def parts_of(url: str) -> SplitResult | None:
    """Split a URL into its parts; return None if it is invalid, or if an ``@`` follows the host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return None if "@" in parts.path + parts.query + parts.fragment else parts


@contextmanager
def secrets_hidden(url: str) -> Iterator[None]:
    """Remove the passwords of a URL from errors that the ``with`` block raises, and from their causes."""
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
    """Return the passwords and secret options of a URL, as they may occur in messages, the longest first.

    If the URL is invalid, return the URL itself and all parts that may belong to a password.

    Examples
    --------
    >>> secrets_of("redis://me:a%20b@host/0?window=tweets&token=t")
    ['a%20b', 'a b', 't']
    >>> secrets_of("redis://me:not/quoted#yet@host/0")
    ['redis://me:not/quoted#yet@host/0', 'not/quoted#yet', 'quoted', 'not', 'yet']
    """
    parts = parts_of(url)
    if (
        parts is None
    ):  # any piece before the last @ may be part of the password, unless there is no host, as in file:///
        rest = url.partition("://")[2]
        password = "" if rest.startswith("/") else rest.rpartition("@")[0].partition(":")[2]
        found = [url, password, *re.split(r"[/?#\[\]]", password)]
    else:
        query = (pair.partition("=") for pair in parts.query.split("&"))
        found = [parts.password or "", *(value for name, _, value in query if SECRET.search(name))]
    forms = {form for one in found if one for form in (one, unquote(one))}
    return sorted(forms, key=lambda form: (-len(form), form))


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, as a traceback shows them."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
