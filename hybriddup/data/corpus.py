"""The posts of a run as columns, whether they come from files, a list or a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.dtypes import StringDType
from numpy.typing import NDArray

from hybriddup.data.records import Int64s


@dataclass(frozen=True)
class BadRecord:
    """A record that could not be used, and why."""

    source: str
    """File name, ``-`` for standard input, or ``posts`` for a list."""
    line: int
    """One-based line in the file (for formats without lines, one-based record)."""
    row: int
    """Zero-based input row over all files."""
    reason: str


class PackedIds(Sequence[Any]):
    """Ids that are all text, or all whole numbers, in a quarter of the memory that Python's objects take."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        """Return one id as a str or int, or some as a list."""
        found = self.values[index]
        return found if isinstance(found, str) else found.tolist()

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


def pack_ids(ids: list[Any]) -> NDArray[Any] | list[Any]:
    """Return ids of one kind as an array; others, which no array could give back as they are, unchanged."""
    kinds = set(map(type, ids))
    try:
        if kinds == {str}:
            return np.array(ids, StringDType())
        if kinds == {int}:
            return np.array(ids, np.int64)
    except (UnicodeEncodeError, OverflowError):  # lone surrogates; whole numbers past 64 bits
        pass
    return ids


def unite_ids(parts: Sequence[NDArray[Any] | list[Any]]) -> Sequence[Any]:
    """Return what `pack_ids` made of consecutive posts as the ids of all."""
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if arrays and len(arrays) == len(parts) and len({array.dtype for array in arrays}) == 1:
        return PackedIds(np.concatenate(arrays))
    return [one for part in parts for one in (part.tolist() if isinstance(part, np.ndarray) else part)]


def take_ids(ids: Sequence[Any], places: Int64s) -> list[Any]:
    """Return the ids at some places; faster than one by one where they are packed."""
    return ids[places] if isinstance(ids, PackedIds) else [ids[place] for place in places.tolist()]


class Against(NamedTuple):
    """Another corpus, whose posts are kept whatever they repeat."""

    name: str
    end: int
    """The place after its last post."""


@dataclass
class Corpus:
    """Posts in input order. Bad records take a row but are not in the columns."""

    texts: list[str]
    ids: Sequence[Any]
    """The users' ids; the row itself where the input has none."""
    rows: Int64s
    """int64[n]: zero-based input row of each post, rising; gaps are bad records."""
    order_values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """The values of each field that ``keep: {highest: FIELD}`` and ``per`` name."""
    n_rows: int = 0
    """Rows of the input, bad records included."""
    bad_records: list[BadRecord] = field(default_factory=list)
    """The first few bad records, with where they are."""
    n_bad_records: int = 0
    against: tuple[Against, ...] = ()
    """Other corpora, whose posts stand before all others; their rows and ids are those that they have there."""

    @property
    def n_against(self) -> int:
        """Posts of other corpora."""
        return self.against[-1].end if self.against else 0

    def sources(self, places: Int64s) -> list[str | None]:
        """Return the names of the other corpora that posts are of; None for those of none."""
        names = [*(other.name for other in self.against), None]
        return [names[i] for i in np.searchsorted([other.end for other in self.against], places, "right").tolist()]

    def take(self, places: Int64s) -> Corpus:
        """Return the posts at some places, rising; the rows are those of the whole input."""
        chosen = places.tolist()
        return replace(
            self,
            texts=[self.texts[place] for place in chosen],
            ids=take_ids(self.ids, places),
            rows=self.rows[places],
            order_values={name: [of[place] for place in chosen] for name, of in self.order_values.items()},
            against=tuple(Against(name, int(np.searchsorted(places, end))) for name, end in self.against),
        )


def put_before(corpus: Corpus, others: Sequence[tuple[str, Corpus]]) -> Corpus:
    """Return posts with those of other corpora, each with its name, before them: what they repeat of these goes."""
    if not others:
        return corpus
    parts = [*(other for _, other in others), corpus]
    ends = np.cumsum([len(part.texts) for part in parts]).tolist()
    ids = [part.ids.values if isinstance(part.ids, PackedIds) else list(part.ids) for part in parts if part.texts]
    return replace(
        corpus,
        texts=[text for part in parts for text in part.texts],
        ids=unite_ids(ids),
        rows=np.concatenate([part.rows for part in parts]),
        order_values={
            field: [value for part in parts for value in part.order_values.get(field, [None] * len(part.texts))]
            for field in corpus.order_values
        },
        against=tuple(Against(name, end) for (name, _), end in zip(others, ends, strict=False)),
    )
