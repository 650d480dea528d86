"""Converts inputs that no reader supports: UTF-16, and JSON that is neither an array nor one object per line.

The result is a temporary copy in UTF-8 or JSON Lines. The user gets a remark about it, because the kept posts are
written in the format of the copy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from typing import Any, cast

from hybriddup.errors import InputError
from hybriddup.files.sources import Source, spooled

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
PIECE_CHARACTERS = 1 << 20
LISTS = ("data", "statuses", "items", "results", "posts", "tweets")
"""Keys under which APIs return a list of posts."""
TWITTER_ARCHIVE = r"window\.YTD\.[\w.]+\s*=\s*"
TO_UNPACK = re.compile(rf'\s*(?:{TWITTER_ARCHIVE}\[|\{{\s*"(?:{"|".join(LISTS)})"\s*:\s*\[\s*[{{\]]|\{{[ \t]*\r?\n)')
"""Pattern of the beginning of JSON to convert: an array of the Twitter archive, an object with a list of posts, or an
object that spans several lines."""
BETWEEN = re.compile(rf"(?:[\s,;]|{TWITTER_ARCHIVE})*")


def as_utf8(source: Source) -> Source:
    """Return the source, or its copy in UTF-8 if it begins with the byte order mark of UTF-16."""
    if not source.beginning().startswith(UTF16_MARKS):
        return source
    with source.open() as stream, TextIOWrapper(stream, "utf-16", newline="") as text:
        pieces = iter(partial(text.read, PIECE_CHARACTERS), "")
        return _copy(source, pieces, "was read as UTF-16; posts are written as UTF-8")


def as_json_lines(source: Source) -> Source:
    """Return the source, or a copy as JSON Lines if it begins as `TO_UNPACK` describes."""
    if not TO_UNPACK.match(source.beginning().decode("utf-8-sig", "replace")):
        return source
    with source.open() as stream, TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        lines = (json.dumps(post, ensure_ascii=False, separators=(",", ":")) + "\n" for post in _posts(text, source))
        return _copy(source, lines, "has posts in lists or over several lines; posts are written as JSON Lines")


def _posts(text: TextIOWrapper, source: Source) -> Iterator[Any]:
    """Yield the posts in a file of JSON values, each an array of posts, an object with a list of posts, or a post."""
    whole, decoder = text.read(), json.JSONDecoder()
    at = cast("re.Match[str]", BETWEEN.match(whole)).end()
    while at < len(whole):
        try:
            value, at = decoder.raw_decode(whole, at)
        except (json.JSONDecodeError, RecursionError) as error:
            line = 1 + whole.count("\n", 0, getattr(error, "pos", at))
            reason = getattr(error, "msg", "nested too deeply")
            raise InputError(
                f"{source.name}:{line}: not valid JSON ({reason}). Is the file complete? A file of posts holds one "
                f"object per line, an array of objects, or objects with a list of posts under {', '.join(LISTS)}."
            ) from None
        yield from map(_unwrapped, value if isinstance(value, list) else _page(value))
        at = cast("re.Match[str]", BETWEEN.match(whole, at)).end()


def _page(value: Any) -> Iterable[Any]:
    """Return the list of posts in an object, or, if the object is a post itself, a list with only this post."""
    found = (value[name] for name in LISTS if isinstance(value, dict) and isinstance(value.get(name), list))
    return [value] if isinstance(value, dict) and "text" in value else next(found, [value])


def _unwrapped(post: Any) -> Any:
    """Return the object inside ``{"tweet": {...}}``, the format of the Twitter archive; any other post unchanged."""
    inner = post.get("tweet") if isinstance(post, dict) and len(post) == 1 else None
    return inner if isinstance(inner, dict) else post


def _copy(source: Source, pieces: Iterable[str], remark: str) -> Source:
    try:
        spool = spooled(piece.encode("utf-8", "surrogatepass") for piece in pieces)
    except UnicodeDecodeError as error:
        raise InputError(f"{source.name} is not valid {error.encoding.upper()} ({error.reason}).") from None
    source.close()
    return replace(source, spool=spool, compression="", remark="; ".join(filter(None, [source.remark, remark])))
