r"""Repair of wrongly decoded or escaped text: ``â€™`` for ’, ``Ã©`` for é, ``\xe2\x80\xa6`` for an ellipsis.

UTF-8 that was decoded as Windows-1252 is repaired only if no other reading is plausible. Two characters are repaired
if the second is a sign that never ends a word, or if they are one of at least three pairs in a row; three or four
characters are repaired if they form one UTF-8 character.
"""

from __future__ import annotations

import re

_CP1252 = {byte: bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte)) for byte in range(0x80, 0x100)}
"""Maps each byte to its character in Windows-1252, or in Latin-1 for the five bytes that Windows-1252 leaves out."""
_BYTE = {character: byte for byte, character in _CP1252.items()}
_MAY_FOLLOW_A_WORD = "\u00a0\u00ab\u00ad\u00b4\u00b7\u00bb"
_FOLLOWING = "".join(_CP1252[byte] for byte in range(0x80, 0xC0))
_SIGNS = "".join(
    character for character in _FOLLOWING if "\u00a1" <= character < "\u00c0" and character not in _MAY_FOLLOW_A_WORD
)
_READ_WRONGLY = re.compile(
    f"(?:[\u00c3\u00d0\u00d1\u00d8\u00d9][{re.escape(_FOLLOWING)}]){{3,}}+|[\u00c2\u00c3][{re.escape(_SIGNS)}]|[\u00e2\u00e3][{re.escape(_FOLLOWING)}]{{2}}|\u00f0[{re.escape(_FOLLOWING)}]{{3}}"
)
_ESCAPED_BYTES = re.compile(r"(?:\\x[89a-f][0-9a-f]){2,}+", re.IGNORECASE)
_ESCAPED_UNITS = re.compile(r"(?:\\u[0-9a-f]{4})++", re.IGNORECASE)
SIGNS_OF_MOJIBAKE = ("\\", *"\u00c2\u00e2\u00c3\u00e3\u00d0\u00f0\u00d1\u00f1\u00d8\u00f8\u00d9\u00f9")
"""First characters of mojibake and escapes, letters in upper and lower case: a text without any of these characters
needs no repair."""


def repair(text: str) -> str:
    r"""Repair the wrongly decoded characters of a text, and decode its escaped ones.

    Examples
    --------
    >>> repair(r"donâ€™t, cafÃ©, 5\u20ac \xe2\x80\xa6")
    'don’t, café, 5€ …'
    """
    text = text if text.isascii() else _READ_WRONGLY.sub(_read_again, text)
    if "\\" not in text:
        return text
    return _ESCAPED_UNITS.sub(_unescape_units, _ESCAPED_BYTES.sub(_unescape_bytes, text))


def _read_again(broken: re.Match[str]) -> str:
    return _decoded(bytes(_BYTE[character] for character in broken[0]), "utf-8") or broken[0]


def _unescape_bytes(escaped: re.Match[str]) -> str:
    return _decoded(bytes.fromhex(escaped[0].lower().replace("\\x", "")), "utf-8") or escaped[0]


def _unescape_units(escaped: re.Match[str]) -> str:
    return _decoded(bytes.fromhex(escaped[0].lower().replace("\\u", "")), "utf-16-be") or escaped[0]


def _decoded(encoded: bytes, encoding: str) -> str:
    """Decode bytes; return an empty text if they are invalid in the encoding."""
    try:
        return encoded.decode(encoding)
    except UnicodeDecodeError:
        return ""
