"""Exact repeats: groups texts that are equal after normalizing, with one lookup per text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s
from hybriddup.kernels.search.batch_groups import number_batch
from hybriddup.kernels.search.key_groups import NO_GROUP
from hybriddup.steps.normalizers.wordless import without_repeats


@dataclass(frozen=True)
class EqualTexts:
    """The texts of a run, grouped by equality. They are in the order in which the run decides their posts."""

    text_numbers: Int32s
    """int32[n_texts]: number of each text. Distinct texts are numbered from 0, in the order of first occurrence."""

    @classmethod
    def of(cls, first_of: Int64s) -> EqualTexts:
        """Build the groups from ``first_of``: int64[n_texts], for each text, the index of the first equal text."""
        is_first = first_of == np.arange(len(first_of))
        return cls((np.cumsum(is_first) - 1).astype(np.int32)[first_of])

    @property
    def is_first(self) -> Bools:
        """bool[n_texts]: whether each text is the first of its group of equal texts."""
        highest, first = np.maximum.accumulate(self.text_numbers), np.ones(len(self.text_numbers), np.bool_)
        np.not_equal(highest[1:], highest[:-1], out=first[1:])
        return first

    @property
    def distinct(self) -> Int64s:
        """int64[n_distinct]: element ``i`` is the index of the first text with ``text_numbers == i``; ascending."""
        return np.flatnonzero(self.is_first)

    @property
    def first_of(self) -> Int64s:
        """int64[n_texts]: for each text, the index of the first equal text, which may be the text itself."""
        return self.distinct[self.text_numbers]


def find_equal_texts(texts: Sequence[str], raw_texts: Sequence[str], *, without_text: str = "compare") -> EqualTexts:
    """Group the texts that are equal after normalizing.

    If ``without_text`` is ``compare``, two texts that are empty after normalizing are equal if their raw texts are;
    otherwise, they are never equal.
    """

    def key_of(place: int) -> Hashable:
        return texts[place] or (raw_texts[place] if without_text == "compare" else place,)

    first_of = np.arange(len(texts))
    repeated = places_of_repeated_hashes(texts)
    places = repeated.tolist()
    first_of_text: dict[Hashable, int] = {}
    first_of[repeated] = list(map(first_of_text.setdefault, map(key_of, places), places))
    return EqualTexts.of(first_of)


def places_of_repeated_hashes(keys: Sequence[Hashable]) -> Int64s:
    """Return int64[n], ascending: the indices of the keys whose hash occurs more than once.

    Only these few keys need to be compared. Python's hashes differ between processes, but the result of comparing the
    keys does not.
    """
    hashes = np.fromiter(map(hash, keys), np.int64, len(keys))  # never -1, which means no key
    numbers, _ = number_batch(hashes.view(np.uint64)[:, None])
    return np.flatnonzero(numbers != NO_GROUP)


def part_by_scope(equal: EqualTexts, scopes: Int64s) -> EqualTexts:
    """Split groups of equal texts by scope. ``scopes``: int64[n_texts], the scope of each text, numbered from 0."""
    parted = equal.text_numbers.astype(np.int64) * (scopes.max(initial=0) + 1) + scopes
    _, firsts, numbers = np.unique(parted, return_index=True, return_inverse=True)
    return EqualTexts.of(firsts[numbers])


def part_without_tokens(equal: EqualTexts, has_tokens: Bools, raw_texts: Sequence[str]) -> EqualTexts:
    """Split the groups of equal texts without tokens by their raw texts, so that ``!!`` and ``👍`` are not equal.

    Two raw texts are still equal if they differ only in how often an emoji, emoticon or mark is repeated.
    ``has_tokens``: bool[n_distinct], whether each distinct text has tokens, by text number.
    """
    if has_tokens.all():
        return equal
    first_of = equal.first_of
    first_of_raw: dict[tuple[int, str], int] = {}
    for place in np.flatnonzero(~has_tokens[equal.text_numbers]).tolist():
        key = (int(equal.text_numbers[place]), without_repeats(raw_texts[place]))
        first_of[place] = first_of_raw.setdefault(key, place)
    return EqualTexts.of(first_of)
