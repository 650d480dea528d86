"""Fields of posts, as `--text-field` and the like name them: by name, by path, and several as one text.

A name is looked up as it is first. Otherwise ``user.id`` is the field ``id`` of the object in the field ``user``, and
``title + body`` is the text of both, with a line end between them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial
from operator import itemgetter, methodcaller
from typing import Any

DEFAULT_ID_FIELD = "id"
"""The only id field that posts may all lack: it is that of a caller who said nothing."""
MISSING = object()
"""In place of a value that a record does not have."""
BETWEEN = "\n"
"""What stands between the texts of several fields."""


def find(record: Any, name: str) -> Any:
    """Return the value of a field, by its name or its path; KeyError where the record has none.

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
    """Return the value of a field; the default where the record does not have it."""
    try:
        return find(record, name)
    except KeyError:
        return default


def find_text(record: Any, field: str) -> Any:
    r"""Return the text of a field, or of those of several that are there; KeyError where none is.

    Examples
    --------
    >>> find_text({"title": "Late", "body": "as ever"}, "title + body")
    'Late\nas ever'
    """
    names = text_fields(field, record)
    if len(names) == 1:
        return find(record, field)
    found = [value for name in names if (value := find_or(record, name, MISSING)) is not MISSING]
    if not found:
        raise KeyError(field)
    return joined(found)


def text_fields(field: str, names: Container[str]) -> list[str]:
    """Return the fields whose texts make up the text of a post: one, unless ``+`` stands between several.

    A name that is among those of the record or table is taken as it is.
    """
    return [field] if field in names or "+" not in field else [part.strip() for part in field.split("+")]


def joined(values: Iterable[Any]) -> Any:
    """Return the texts of several fields as one, without those that are empty; a value that is no text as it is."""
    filled = [value for value in values if value is not None and value != ""]
    return next((value for value in filled if not isinstance(value, str)), BETWEEN.join(map(str, filled)))


def is_missing(value: Any) -> bool:
    """Return whether this stands for no value: it is not equal to itself, or cannot tell."""
    if isinstance(value, (str, bytes)):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA; arrays, which are values
        return type(value).__name__ == "NAType"


def has_no_value(value: Any) -> bool:
    """Return whether a field holds nothing that posts could be ordered or told apart by; empty text is nothing, too.

    Examples
    --------
    >>> [has_no_value(value) for value in (None, "", "nan", float("nan"), 0, "0")]
    [True, True, True, True, False, False]
    """
    return value is None or (isinstance(value, str) and value.strip().lower() in {"", "nan"}) or is_missing(value)


def hashable(value: Any) -> Any:
    """Return what stands for a value in a set: itself, or how a list or an object is written, arrays to the end."""
    try:
        hash(value)
    except TypeError:
        return type(value), repr(value.tolist() if hasattr(value, "tolist") else value)
    return value


def finder(name: str) -> Callable[[Any], Any]:
    """Return `find_or` of a name as a function of the record, fast where the name is plain."""
    return partial(find_or, name=name) if "." in name else methodcaller("get", name)


def text_finder(field: str) -> Callable[[Any], Any]:
    """Return `find_text` of a field as a function of the record, fast where the name is plain."""
    return partial(find_text, field=field) if "." in field or "+" in field else itemgetter(field)
