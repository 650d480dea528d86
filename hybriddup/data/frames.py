"""Converts lists and data frames to a corpus, and removed posts to a data frame.

Neither pandas nor polars is imported until a result is converted: input frames are recognized by their attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, replace
from importlib import import_module
from typing import Any

import numpy as np

from hybriddup.data.corpus import Corpus
from hybriddup.data.fields import (
    DEFAULT_ID_FIELD,
    MISSING,
    alternatives,
    combined,
    find_or,
    first_text,
    is_missing,
    scope_fields,
    text_fields,
)
from hybriddup.data.records import Removed
from hybriddup.errors import HybriddupError, InputError

COLUMN_TYPES = dict.fromkeys(("row", "keeper_row", "hamming_distance"), "int64")
COLUMN_TYPES |= dict.fromkeys(("score", "threshold"), "float64")
"""Types of the number columns in a data frame of removed posts, even if it is empty. The id columns have the type of
the ids; all other columns have text."""

_ACCEPTED = "posts must be a list of strings, a list of dicts, a pandas or polars DataFrame, or a pyarrow Table"


def corpus_from_posts(
    posts: Any,
    text_field: str,
    id_field: str,
    order_fields: Sequence[str] = (),
    per: str | None = None,
    optional: Sequence[str] = (),
) -> Corpus:
    """Convert posts to a corpus; the row of a post is its index.

    Posts are a list, or another ordered iterable, of strings or of mappings with the field ``text_field``; or a pandas
    or polars data frame, or a pyarrow table, with this column. The id of a post without an id is its row.

    Parameters
    ----------
    order_fields
        The fields named by ``keep: {highest: FIELD}``.
    per
        Only posts with equal values of this field are compared. Several fields are written as
        ``"user.id + city"``: posts must then have equal values of each. None = all posts are compared.
    optional
        Additional fields, which posts need not have.

    Raises
    ------
    InputError
        The posts are of another type, lack a field, or have a text that is not a string; the message names the first
        such post.
    """
    if is_data_frame(posts):
        return _with_fields(_from_data_frame(posts, text_field, id_field, order_fields, per), posts, optional)
    listed = _as_list(posts)
    if listed and isinstance(listed[0], Mapping):
        return _with_fields(_from_mappings(listed, text_field, id_field, order_fields, per), listed, optional)
    if listed and per is not None:
        raise InputError(f"per={per!r} needs posts with fields, such as dicts; posts[0] is {describe(listed[0])}.")
    if listed and order_fields:
        raise InputError(
            f"keep: {{highest: {order_fields[0]}}} needs posts with fields, such as dicts; posts[0] is "
            f"{describe(listed[0])}. Give dicts with {order_fields[0]!r}, or choose keep: first, last or longest."
        )
    nothing: dict[str, list[Any]] = {field: [] for field in (*order_fields, *filter(None, [per]))}
    expected = f"a string, or a mapping with the field {text_field!r}"
    if set(map(type, listed)) <= {str}:
        return _corpus(listed, range(len(listed)), nothing)
    texts = [_as_text(post, f"posts[{position}]", expected) for position, post in enumerate(listed)]
    return _corpus(texts, range(len(texts)), nothing)


def _with_fields(corpus: Corpus, posts: Any, optional: Sequence[str]) -> Corpus:
    """Add optional fields to `Corpus.order_values`; a post without the field has None."""
    values = {
        field: _column(posts, field, "the option") if is_data_frame(posts) else [find_or(post, field) for post in posts]
        for field in optional
    }
    return replace(corpus, order_values={**corpus.order_values, **values})


def take_posts(posts: Any, rows: Sequence[int], n_rows: int) -> Any:
    """Select posts by row; the result has the type of ``posts``. InputError if there are not ``n_rows`` posts."""
    if not hasattr(posts, "__len__") or isinstance(posts, (str, bytes, bytearray, Mapping, Set)):
        raise InputError(f"{_ACCEPTED}, the same as for dedupe; got {describe(posts)}.")
    if len(posts) != n_rows:
        raise InputError(f"dedupe was given {n_rows:,} posts, and these are {len(posts):,}; give the same posts.")
    if hasattr(posts, "iloc"):
        return posts.iloc[list(rows)]
    if is_arrow(posts):
        return posts.take(np.array(rows, np.int64))
    if hasattr(posts, "to_numpy") or isinstance(posts, np.ndarray):
        return posts[np.array(rows, np.int64)]
    if hasattr(posts, "select"):  # a data set of Hugging Face
        return posts.select(list(rows))
    taken = [posts[row] for row in rows]
    return tuple(taken) if isinstance(posts, tuple) else taken


def removed_to_pandas(removed: Sequence[Removed]) -> Any:
    """Return the removed posts as a pandas DataFrame, with one column per field of `Removed`."""
    pd = _library("pandas")

    def series(name: str, values: list[Any]) -> Any:
        if name in COLUMN_TYPES:
            return pd.Series(values, dtype=COLUMN_TYPES[name])
        try:
            return pd.Series(values, dtype=None if values else "object")
        except UnicodeEncodeError:  # text with lone surrogates does not fit into Arrow's UTF-8
            return pd.Series(values, dtype="object")

    return pd.DataFrame({name: series(name, values) for name, values in _columns_of(removed)})


def removed_to_polars(removed: Sequence[Removed]) -> Any:
    """Return the removed posts as a polars DataFrame, with one column per field of `Removed`."""
    pl = _library("polars")
    types = {"int64": pl.Int64, "float64": pl.Float64, "text": pl.String}

    def series(name: str, values: list[Any]) -> Any:
        wanted = None if values and name in {"id", "duplicate_of"} else types[COLUMN_TYPES.get(name, "text")]
        try:
            return pl.Series(name, values, wanted)
        except (TypeError, ValueError, OverflowError):  # ids of several kinds; text with lone surrogates
            return pl.Series(name, values, pl.Object)

    return pl.DataFrame([series(name, values) for name, values in _columns_of(removed)])


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise HybriddupError(f"to_{name}() needs {name}, which is not installed; run: pip install {name}") from error


def _columns_of(removed: Sequence[Removed]) -> Iterator[tuple[str, list[Any]]]:
    for field in fields(Removed):
        yield field.name, [getattr(post, field.name) for post in removed]


def is_data_frame(posts: Any) -> bool:
    """Return whether ``posts`` is a pandas or polars data frame or a pyarrow Table, or has the same interface."""
    kind = type(posts)  # not the instance: some lazy frames compute their columns, with a warning, on access
    return is_arrow(posts) or all(hasattr(kind, name) for name in ("columns", "shape", "to_dict", "__getitem__"))


def is_arrow(posts: Any) -> bool:
    """Return whether ``posts`` is a pyarrow Table, or has the same interface."""
    return all(hasattr(type(posts), name) for name in ("column_names", "to_pylist", "take"))


def column_names(posts: Any) -> list[Any]:
    """Return the names of the columns of a data frame."""
    return list(posts.column_names if is_arrow(posts) else posts.columns)


def _from_data_frame(
    posts: Any, text_field: str, id_field: str, order_fields: Sequence[str], per: str | None
) -> Corpus:
    wanted = _alternatives_of(posts, text_field)
    columns = {name: _texts(posts, name) for parts in wanted for name in parts}
    texts = next(iter(columns.values()))
    if len(columns) > 1:
        rows = zip(*columns.values(), strict=True)
        texts = [first_text(dict(zip(columns, row, strict=True)), wanted) for row in rows]
    has_ids = id_field in column_names(posts) or id_field != DEFAULT_ID_FIELD
    ids = _column(posts, id_field, "id_field") if has_ids else range(len(texts))
    order_values: dict[str, Sequence[Any]] = {field: _column(posts, field, "keep: highest") for field in order_fields}
    if per is not None:
        order_values[per] = combined([_column(posts, field, "per") for field in scope_fields(per)])
    return _corpus(texts, ids, order_values)


def _alternatives_of(posts: Any, text_field: str) -> list[list[str]]:
    """Return the alternatives of a text field such as ``a | b + c`` whose columns are all in ``posts``.

    If there are none, return every alternative. An alternative is the list of its columns, such as ``["b", "c"]``.
    """
    names = column_names(posts)
    wanted = alternatives(text_field, names)
    there = [parts for parts in wanted if all(part in names or part.partition(".")[0] in names for part in parts)]
    return there or wanted


def _texts(posts: Any, field: str) -> list[str]:
    column = _column(posts, field, "text_field")
    return [_text_or_none(text, f"row {row} of column {field!r}") for row, text in enumerate(column)]


def _column(posts: Any, field: str, option: str) -> list[Any]:
    names = column_names(posts)
    n_found = names.count(field)
    if n_found == 1:
        return _values(posts[field])
    outer = field.partition(".")[0]
    if n_found == 0 and outer != field and names.count(outer) == 1:
        values = [find_or({outer: value}, field, MISSING) for value in _values(posts[outer])]
        if any(value is not MISSING for value in values):
            return [None if value is MISSING else value for value in values]
    problem = "has no column" if n_found == 0 else f"has {n_found} columns named"
    columns = ", ".join(map(repr, names)) or "none"
    raise InputError(f"the data frame {problem} {field!r} (columns: {columns}); name the right one with {option}.")


def _values(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


def _from_mappings(
    posts: list[Any], text_field: str, id_field: str, order_fields: Sequence[str], per: str | None
) -> Corpus:
    texts = []
    for position, post in enumerate(posts):
        if not isinstance(post, Mapping):
            raise InputError(
                f"posts[{position}] is {describe(post)}, but posts[0] is a mapping; all must be of a kind."
            )
        texts.append(_text_of(post, text_field, position))
    ids = [find_or(post, id_field, position) for position, post in enumerate(posts)]
    if id_field != DEFAULT_ID_FIELD:
        _check_used(posts, id_field, "id_field")
    if text_field not in posts[0] and "|" not in text_field:
        for name in text_fields(text_field, ()):
            _check_used(posts, name, "text_field")
    order_values: dict[str, Sequence[Any]] = {
        field: [_field(post, field, position, "keep: highest") for position, post in enumerate(posts)]
        for field in order_fields
    }
    if per is not None:
        for name in scope_fields(per):
            _check_used(posts, name, "per")
        order_values[per] = combined([[find_or(post, name) for post in posts] for name in scope_fields(per)])
    return _corpus(texts, ids, order_values)


def _text_of(post: Mapping[Any, Any], field: str, position: int) -> str:
    if field in post:
        return _text_or_none(post[field], f"posts[{position}][{field!r}]")
    wanted = alternatives(field, post)
    values = {name: find_or(post, name, MISSING) for parts in wanted for name in parts}
    texts = {
        name: _text_or_none(value, f"posts[{position}][{name!r}]")
        for name, value in values.items()
        if value is not MISSING
    }
    text = first_text(texts, wanted)
    return str(_field(post, field, position, "text_field") if text is MISSING else text)


def _check_used(posts: list[Any], field: str, option: str) -> None:
    """Raise InputError, which names the option, if none of the posts has the field."""
    if all(find_or(post, field, MISSING) is MISSING for post in posts):
        _field(posts[0], field, 0, option)


def _field(post: Mapping[Any, Any], field: str, position: int, option: str) -> Any:
    if (value := find_or(post, field, MISSING)) is not MISSING:
        return value
    names = ", ".join(map(repr, post)) or "none"
    raise InputError(f"posts[{position}] has no field {field!r} (fields: {names}); name the right one with {option}.")


def _text_or_none(value: Any, where: str) -> str:
    """Return a text; empty for None, NaN and other markers for a missing value. ``where`` names the value in errors."""
    return "" if value is None or is_missing(value) else _as_text(value, where)


def _as_text(value: Any, where: str, expected: str = "a string") -> str:
    if isinstance(value, str):
        return str.__str__(value)  # numpy's str subclass becomes plain str, on which encoders and scorers are fast
    raise InputError(f"{where} must be {expected}; got {describe(value)}. Leave it out, or turn it into text, first.")


def _as_list(posts: Any) -> list[Any]:
    if isinstance(posts, (str, bytes, bytearray)):
        raise InputError(f"{_ACCEPTED}; got {describe(posts)}. A list with one text is [text].")
    if isinstance(posts, Mapping):
        raise InputError(f"{_ACCEPTED}; got {describe(posts)}. A list with one post is [post].")
    if isinstance(posts, Set):
        raise InputError(f"{_ACCEPTED}; got {describe(posts)}, which has no order to decide in. Sort it into a list.")
    if hasattr(type(posts), "collect"):
        raise InputError(f"{_ACCEPTED}; got {describe(posts)}. Collect it into a DataFrame first.")
    if not isinstance(posts, Iterable):
        raise InputError(f"{_ACCEPTED}; got {describe(posts)}.")
    return list(posts)


def describe(value: Any) -> str:
    """Describe a value for an error message: its type, and the value of a number or text; long texts are truncated."""
    if value is None:
        return "None"
    if isinstance(value, (str, bytes)):
        return f"{type(value).__name__} {value[:40]!r}{'...' if len(value) > 40 else ''}"
    shown = f" {value!r}" if isinstance(value, (bool, int, float)) else ""
    return f"{type(value).__name__}{shown}"


def _corpus(texts: list[str], ids: Sequence[Any], order_values: Mapping[str, Sequence[Any]]) -> Corpus:
    return Corpus(texts, ids, np.arange(len(texts), dtype=np.int64), order_values, n_rows=len(texts))
