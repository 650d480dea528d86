"""Looks up fields of posts for options such as `--text-field`: by name, by path, or several fields as one text.

A field whose name equals the whole value of the option has priority. Otherwise ``user.id`` is the field ``id`` of the
object in the field ``user``, ``title + body`` is the text of both fields, joined by a newline, and
``full_text | text`` is the text of the first field that is not empty.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter, methodcaller
from typing import Any

DEFAULT_ID_FIELD = "id"
"""Default id field. Posts may all lack it, whereas an id field that the caller chose must exist."""
MISSING = object()
"""Sentinel for a field that a record does not have; None may be a value."""
_SEPARATOR = "\n"


def find(record: Any, name: str) -> Any:
    """Return the value of a field, given its name or path; KeyError if the record lacks it.

    Examples
    --------
    >>> find({"user": {"id": 7}}, "user.id"), find({"user.id": 8, "user": {"id": 7}}, "user.id")
    (7, 8)
    """
    if name in record:
        return record[name]
    value = record
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise KeyError(name)
        value = value[step]
    return value


def find_or(record: Any, name: str, default: Any = None) -> Any:
    """Return the value of a field, or the default if the record does not have it."""
    try:
        return find(record, name)
    except KeyError:
        return default


def find_text(record: Any, field: str) -> Any:
    r"""Return the text of a field, or the joined text of several, skipping missing ones; KeyError if all are missing.

    Examples
    --------
    >>> find_text({"title": "Late", "body": "as ever"}, "title + body")
    'Late\nas ever'
    """
    wanted = alternatives(field, record)
    if wanted == [[field]]:
        return find(record, field)
    value = first_text({name: find_or(record, name, MISSING) for parts in wanted for name in parts}, wanted)
    if value is MISSING:
        raise KeyError(field)
    return value


def alternatives(field: str, names: Container[str]) -> list[list[str]]:
    """Split a text field such as ``a | b + c`` into alternatives, and each into its parts.

    If ``field`` as a whole is a name in ``names``, it is not split.

    Examples
    --------
    >>> alternatives("full_text | title + body", ["full_text"])
    [['full_text'], ['title', 'body']]
    """
    if field in names:
        return [[field]]
    return [[part.strip() for part in one.split("+")] for one in field.split("|")]


def text_fields(field: str, names: Container[str]) -> list[str]:
    """Return the names in a text field such as ``title + body``, or ``field`` as a whole if it is in ``names``."""
    return list(dict.fromkeys(name for parts in alternatives(field, names) for name in parts))


def complete_alternatives(field: str, names: Container[str]) -> list[list[str]]:
    """Split a text field such as ``a | b + c`` into its alternatives, ``a`` and ``b + c``, and each into its parts.

    Alternatives with a part that is not in ``names``, the columns of a table, are left out.
    """
    return [parts for parts in alternatives(field, names) if all(name in names for name in parts)]


def first_text(values: Mapping[str, Any], wanted: list[list[str]]) -> Any:
    """Return the first non-empty text among the alternatives ``wanted``; `MISSING` if all fields are missing.

    ``values`` maps field names to values. If it has some of the fields, but all are empty, return an empty value.
    """
    text: Any = MISSING
    for parts in wanted:
        found = [value for name in parts if (value := values.get(name, MISSING)) is not MISSING]
        if found:
            text = found[0] if len(parts) == 1 else joined(found)
            if not (text is None or is_missing(text) or (isinstance(text, str) and not text)):
                break
    return text


def scope_fields(per: str | None) -> list[str]:
    """Split a value of ``--per`` such as ``user.id + city`` into field names."""
    return [] if per is None else [part.strip() for part in per.split(" + ")]


def combined(columns: list[Sequence[Any]]) -> Sequence[Any]:
    """Combine columns into one column of tuples, None for a row without any value; return a single column unchanged."""
    if len(columns) == 1:
        return columns[0]
    return [None if all(map(has_no_value, values)) else values for values in zip(*columns, strict=True)]


def joined(values: Iterable[Any]) -> Any:
    """Join the non-empty texts of several fields; if a value is not a string, return it, for the caller to reject."""
    filled = [value for value in values if value is not None and value != ""]
    return next((value for value in filled if not isinstance(value, str)), _SEPARATOR.join(map(str, filled)))


def is_missing(value: Any) -> bool:
    """Return whether a value is a marker for a missing value: NaN, NaT or ``pandas.NA``."""
    if isinstance(value, (str, bytes)):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA; arrays, which are values
        return type(value).__name__ == "NAType"


def has_no_value(value: Any) -> bool:
    """Return whether a value is missing, blank or the text "nan", so that posts cannot be ordered or grouped by it.

    Examples
    --------
    >>> [has_no_value(value) for value in (None, "", "nan", float("nan"), 0, "0")]
    [True, True, True, True, False, False]
    """
    return value is None or (isinstance(value, str) and value.strip().lower() in {"", "nan"}) or is_missing(value)


def hashable(value: Any) -> Any:
    """Return the value itself if it is hashable, else a hashable substitute: its type and full repr."""
    try:
        hash(value)
    except TypeError:
        return type(value), repr(value.tolist() if hasattr(value, "tolist") else value)
    return value


def finder(name: str) -> Callable[[Any], Any]:
    """Return a function that returns a record's value of field ``name``, or None; fast for names without a dot."""
    return partial(find_or, name=name) if "." in name else methodcaller("get", name)


def text_finder(field: str) -> Callable[[Any], Any]:
    """Return a function that finds the text of ``field`` in a record, as `find_text` does; fast for plain names."""
    return partial(find_text, field=field) if set(".+|") & set(field) else itemgetter(field)
