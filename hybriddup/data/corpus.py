"""The posts of a run as columns (texts, ids, rows), whether from files, a list or a data frame."""

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
    """One-based number of the line, or of the record in formats without lines."""
    row: int
    """Zero-based input row, counted across all files."""
    reason: str


class PackedIds(Sequence[Any]):
    """Ids, all str or all int, stored in one numpy array, which needs a quarter of the memory of a list."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        """Return one id as a str or int; for a slice or an array of indices, a list of ids."""
        found = self.values[index]
        return found if isinstance(found, str) else found.tolist()

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


def pack_ids(ids: list[Any]) -> NDArray[Any] | list[Any]:
    """Convert ids to an array if all are str or all are int.

    Ids that an array cannot represent exactly (mixed types, lone surrogates, ints past 64 bits) stay a list.
    """
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
    """Concatenate the results of `pack_ids`: into `PackedIds` if all are arrays of the same dtype, else into a list."""
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if arrays and len(arrays) == len(parts) and len({array.dtype for array in arrays}) == 1:
        return PackedIds(np.concatenate(arrays))
    return [one for part in parts for one in (part.tolist() if isinstance(part, np.ndarray) else part)]


def take_ids(ids: Sequence[Any], places: Int64s) -> list[Any]:
    """Return the ids at the indices ``places``."""
    return ids[places] if isinstance(ids, PackedIds) else [ids[place] for place in places.tolist()]


class Against(NamedTuple):
    """Another corpus, whose posts a run compares with its own posts, but never removes."""

    name: str
    end: int
    """One more than the index of this corpus's last post in the combined corpus."""


@dataclass
class Corpus:
    """Posts in input order, as columns. A bad record has a row number, but no entry in the columns."""

    texts: list[str]
    ids: Sequence[Any]
    """Ids from the input; a post without an id has its row number as id."""
    rows: Int64s
    """int64[n]: zero-based input row of each post, ascending; the rows of bad records are missing."""
    order_values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Maps each field that an option needs, such as ``keep: {highest: FIELD}``, to its values, one per post."""
    n_rows: int = 0
    """Number of input rows, including bad records."""
    bad_records: list[BadRecord] = field(default_factory=list)
    """The first few bad records, with their location."""
    n_bad_records: int = 0
    against: tuple[Against, ...] = ()
    """Corpora that the run's own posts are compared with. Their posts precede the own posts in the columns of this
    corpus, have the rows and ids of their own input, and are never removed."""

    @property
    def n_against(self) -> int:
        """Total number of posts from the corpora in `against`; they precede the run's own posts."""
        return self.against[-1].end if self.against else 0

    def sources(self, places: Int64s) -> list[str | None]:
        """Return, for each post, the name of the corpus in `against` that it is from; None for the run's own posts.

        ``places`` are the indices of the posts.
        """
        names = [*(other.name for other in self.against), None]
        return [names[i] for i in np.searchsorted([other.end for other in self.against], places, "right").tolist()]

    def take(self, places: Int64s) -> Corpus:
        """Return a corpus of the posts at the indices ``places``, which must be ascending; their rows do not change."""
        chosen = places.tolist()
        return replace(
            self,
            texts=[self.texts[place] for place in chosen],
            ids=take_ids(self.ids, places),
            rows=self.rows[places],
            order_values={name: [values[place] for place in chosen] for name, values in self.order_values.items()},
            against=tuple(Against(name, int(np.searchsorted(places, end))) for name, end in self.against),
        )


def put_before(corpus: Corpus, others: Sequence[tuple[str, Corpus]]) -> Corpus:
    """Prepend the posts of other, named corpora; a run compares its posts with them, but removes none of them."""
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
