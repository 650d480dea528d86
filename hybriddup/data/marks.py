"""Makes tables for output files: removed posts, clusters, and the fields that `--mark` and `--counts` add to posts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.corpus import PackedIds, take_ids
from hybriddup.data.fields import has_no_value, hashable
from hybriddup.data.frames import COLUMN_TYPES
from hybriddup.data.records import Int64s, Removed
from hybriddup.data.removed import RemovedPosts, cut
from hybriddup.data.times import iso_time, seconds_of

SOURCE = "keeper_source"
"""Field of `Removed` that is a column of output files only if the run compared its posts with other corpora."""
MARKS = ("duplicate_of", "score", "cluster")
"""Names of the fields that ``--mark`` adds to each post."""


TALLIES = {"n_copies": "int64", "first_seen": "string", "last_seen": "string", "authors": "list"}
"""Names and types of the fields that ``--counts`` and ``--authors`` add to kept posts."""


class Table(NamedTuple):
    """Rows of values with named, typed columns."""

    types: Mapping[str, str]
    """Type of each column by name: ``int64``, ``float64``, ``bool``, ``string`` or ``list``; cells may be None."""
    rows: Iterable[Sequence[Any]]


def id_type(ids: Sequence[Any]) -> str:
    """Return the type of a column of ids: ``int64`` if all are ints of at most 64 bits, else ``string``."""
    is_whole = isinstance(ids, range) or (isinstance(ids, PackedIds) and ids.values.dtype == np.int64)
    return "int64" if is_whole else "string"


def removed_table(removed: RemovedPosts) -> Table:
    """Return the removed posts as a table with a column per field of `Removed`.

    The column `SOURCE` is left out if the run compared its posts with no other corpora.
    """
    type_of_ids = id_type(removed.corpus.ids)
    types = {field.name: COLUMN_TYPES.get(field.name, "string") for field in fields(Removed)}
    types |= {"id": type_of_ids, "duplicate_of": type_of_ids}
    if removed.corpus.against:
        return Table(types, removed.values())
    return Table({name: types[name] for name in types if name != SOURCE}, (row[:-1] for row in removed.values()))


def cluster_numbers(removed: RemovedPosts) -> Int64s:
    """Return int64[n_posts]: the number of each post's cluster; 0 = the post has no duplicates.

    Clusters are numbered from 1, in the order of their kept posts.
    """
    columns, numbers = removed.columns, np.zeros(len(removed.corpus.texts), np.int64)
    keepers = np.unique(columns.keepers)
    numbers[keepers] = np.arange(1, len(keepers) + 1)
    numbers[columns.posts] = numbers[columns.keepers]
    return numbers


def clusters_table(removed: RemovedPosts) -> Table:
    """Return the posts of all clusters as a table, with the kept post first in each cluster.

    If the run compared its posts with other corpora, the column ``source`` has the name of each post's corpus; None for
    the run's own posts.
    """
    corpus, numbers = removed.corpus, cluster_numbers(removed)
    is_keeper = np.ones(len(numbers), np.bool_)
    is_keeper[removed.columns.posts] = False
    places = np.flatnonzero(numbers)
    places = places[np.lexsort((places, ~is_keeper[places], numbers[places]))]
    types = {"cluster": "int64", "row": "int64", "id": id_type(corpus.ids), "keeper": "bool"}

    def rows() -> Iterator[tuple[Any, ...]]:
        for some in cut(places):
            values = [numbers[some].tolist(), corpus.rows[some].tolist(), take_ids(corpus.ids, some)]
            yield from zip(*values, is_keeper[some].tolist(), *[corpus.sources(some)] * has_sources, strict=True)

    has_sources = bool(corpus.against)
    return Table(types | {"source": "string"} if has_sources else types, rows())


class Tallies:
    """Computes the fields of `TALLIES` for each kept post of a run, from the post itself and its copies.

    ``n_copies`` does not count the post itself.

    Parameters
    ----------
    times, authors
        Time and author of each post of the corpus; None = the fields that need them are left out.
    """

    def __init__(self, removed: RemovedPosts, times: Sequence[Any] | None, authors: Sequence[Any] | None) -> None:
        columns, n = removed.columns, len(removed.corpus.texts)
        self._n_copies = np.bincount(columns.keepers, minlength=n).astype(np.int64)
        self._keepers = np.arange(n)
        self._keepers[columns.posts] = columns.keepers
        self._by_keeper = np.argsort(self._keepers, kind="stable")
        self._bounds = np.searchsorted(self._keepers[self._by_keeper], np.arange(n + 1))
        seconds = None if times is None else seconds_of(times)
        self._seconds = None if seconds is None or np.isnan(seconds).all() else seconds
        self._authors = authors
        left_out = set() if self._seconds is not None else {"first_seen", "last_seen"}
        left_out |= set() if authors is not None else {"authors"}
        self.types = {name: kind for name, kind in TALLIES.items() if name not in left_out}

    def at(self, place: int) -> tuple[Any, ...]:
        """Return the values of the fields for the post at index ``place`` in the corpus; all None if it was removed."""
        if self._keepers[place] != place:
            return (None,) * len(self.types)
        members = self._by_keeper[self._bounds[place] : self._bounds[place + 1]]
        values: list[Any] = [int(self._n_copies[place])]
        if self._seconds is not None:
            known = self._seconds[members][~np.isnan(self._seconds[members])]
            values += [iso_time(float(end)) for end in (known.min(), known.max())] if len(known) else [None, None]
        if self._authors is not None:
            authors = [self._authors[member] for member in members.tolist()]
            values.append(list({hashable(one): one for one in authors if not has_no_value(one)}.values()))
        return tuple(values)


class Marks:
    """Computes fields to add to the posts of an input with ``n_rows`` rows.

    The fields are `MARKS` if ``with_keepers`` is true, followed by the fields of ``tallies`` if it is given.
    """

    def __init__(
        self, removed: RemovedPosts, n_rows: int, tallies: Tallies | None = None, *, with_keepers: bool = True
    ) -> None:
        corpus, n = removed.corpus, removed.corpus.n_against
        self._removed, self._numbers = removed, np.zeros(n_rows, np.int64)
        self._numbers[corpus.rows[n:]] = cluster_numbers(removed)[n:]
        self._places = np.full(n_rows, -1)
        self._places[removed.rows] = np.arange(len(removed))
        self._posts = np.full(n_rows, -1)
        self._posts[corpus.rows[n:]] = np.arange(n, len(corpus.texts))
        self._tallies, self._with_keepers = tallies, with_keepers
        types = (id_type(corpus.ids), "float64", "int64")
        self.types = dict(zip(MARKS, types, strict=True)) if with_keepers else {}
        self.types |= {} if tallies is None else tallies.types

    def of(self, rows: Int64s) -> Iterator[tuple[Any, ...]]:
        """Yield a tuple of the fields' values for each row; None if a field does not apply to the post."""
        return chain.from_iterable(map(self._of, cut(rows)))

    def _of(self, rows: Int64s) -> Iterator[tuple[Any, ...]]:
        keepers: Iterable[tuple[Any, ...]] = self._keepers_of(rows) if self._with_keepers else repeat(())
        if self._tallies is None:
            yield from keepers
            return
        nothing = (None,) * len(self._tallies.types)
        for marks, place in zip(keepers, self._posts[rows].tolist(), strict=False):
            yield (*marks, *(self._tallies.at(place) if place >= 0 else nothing))

    def _keepers_of(self, rows: Int64s) -> Iterator[tuple[Any, float | None, int | None]]:
        places, columns = self._places[rows], self._removed.columns
        removed = places[places >= 0]
        keepers = take_ids(self._removed.corpus.ids, columns.keepers[removed])
        scores = columns.scores[removed].tolist()
        evidence = zip(keepers, scores, strict=True)
        for place, number in zip(places.tolist(), self._numbers[rows].tolist(), strict=True):
            yield (*(next(evidence) if place >= 0 else (None, None)), number or None)
