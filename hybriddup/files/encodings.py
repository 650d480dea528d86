"""Validates the encoding that the user named for text files, or detects it."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence

from hybriddup.errors import InputError
from hybriddup.files.sources import UTF_8, Source
from hybriddup.files.text import text_lines

AUTO = "auto"
"""Value of --encoding for detecting the encoding of the inputs."""
ASCII = bytes(range(128))
SAMPLE_BYTES = 1 << 18
"""Size in bytes of the sample for detecting an encoding; it consists of lines that are not plain ASCII."""


def common_encoding(sources: Sequence[Source], name: str) -> str:
    """Return the encoding for all sources: ``name``, or, if that is ``auto``, the detected encoding.

    Raises InputError if the encoding is unknown, cannot be detected, or differs between the sources.
    """
    if name != AUTO:
        return checked_encoding(name)
    found = {source.name: encoding for source in sources if (encoding := looks_like(source)) is not None}
    if "" in found.values():
        unknown = next(source for source, encoding in found.items() if not encoding)
        raise InputError(f"{unknown}: the encoding cannot be detected; name it with --encoding.")
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{source} ({encoding})" for source, encoding in found.items())
        raise InputError(
            f"several inputs must have the same encoding, because the kept records go to one output unchanged; got "
            f"{listed}. Run the inputs of each encoding by themselves."
        )
    return next(iter(found.values()), UTF_8)


def checked_encoding(name: str) -> str:
    """Return Python's name of an encoding; raise InputError if it is unknown or not a superset of ASCII."""
    try:
        encoding = codecs.lookup(name).name.removesuffix("-sig")
        if ASCII.decode(encoding) == ASCII.decode():
            return encoding
    except (LookupError, ValueError):
        pass
    raise InputError(
        f"encoding {name!r} cannot be read: it is not known, or its ASCII characters are not single bytes. Give one "
        "such as utf-8, gb18030, big5, shift_jis, cp949, cp1251 or latin-1, or auto if files are read. Files in UTF-16 "
        "are recognized by their byte order mark."
    )


def encoding_of_other(source: Source, given: str) -> str:
    """Return the encoding of a file that is not an input: UTF-8 if the file is valid UTF-8.

    Otherwise, return ``given``, the value of --encoding; or `AUTO` if ``given`` is UTF-8, which this file is not.
    """
    found = looks_like(source)
    return UTF_8 if found in {None, UTF_8} else given if given not in {UTF_8, AUTO} else AUTO


def looks_like(source: Source) -> str | None:
    """Return the detected encoding of a source; empty if detection fails, None if the source is plain ASCII."""
    with source.open() as stream:
        sample = _sample(text_lines(stream, source))
    if 2 * sum(map(_is_utf8, sample)) >= len(sample):
        return UTF_8 if sample else None
    from charset_normalizer import from_bytes

    best = from_bytes(b"".join(sample)).best()
    try:
        return checked_encoding(best.encoding) if best else ""
    except InputError:
        return ""


def encoding_advice(source: Source) -> str:
    """Return advice for an error message about a source that cannot be decoded: which encoding to try."""
    found = looks_like(source)
    if found in {None, "", source.encoding}:
        return "Name its encoding with --encoding."
    return f"{source.name} looks like {found}; give --encoding {found}."


def _sample(lines: Iterable[bytes]) -> list[bytes]:
    taken, n_bytes = [], 0
    for line in lines:
        if not line.isascii():
            taken.append(line)
            n_bytes += len(line)
            if n_bytes > SAMPLE_BYTES:
                break
    return taken


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
