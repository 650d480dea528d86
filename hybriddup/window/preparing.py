"""The steps of a window that do not depend on its stored posts: fingerprinting texts, and verifying pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import xxhash

from hybriddup.data.records import (
    NO_KEY,
    NO_SKETCHES,
    Bools,
    CandidatePairs,
    Int32s,
    Int64s,
    UInt64s,
    VerifiedPairs,
    text_lengths,
)
from hybriddup.kernels.search.pair_limits import text_columns
from hybriddup.run.components import Components
from hybriddup.steps.candidates import Batch
from hybriddup.steps.candidates.sketches import sketch_texts
from hybriddup.steps.normalizers.wordless import without_repeats
from hybriddup.steps.parallel import start_in_background
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import positions_of, texts_at

FEWEST_IN_PARALLEL = 128
"""Minimum size of a batch, in texts, for computing its sketches in another thread."""
MOST_CHARACTERS = 2**22
"""Maximum number of characters in the cache of earlier texts: about 8 MB, or 30,000 posts whose normalized and
compared texts have 70 characters each. A fuller cache is emptied."""

TextsAt = Callable[[Int64s], Sequence[str]]
"""Function that takes positions of posts in the window, and returns their normalized texts in the same order."""


class PreparedTexts(NamedTuple):
    """Texts to look up, with their keys, hashes and fingerprints."""

    normalized: Sequence[str]
    compared: Sequence[str]
    """The compared part of each text; see `hybriddup.run.components.Components.compared`."""
    keys: list[tuple[bool, str]]
    """The keys of the texts for exact repeats; see `exact_keys`."""
    hashes: UInt64s
    """uint64[n]: hash of each of ``keys``; never 0."""
    batch: Batch
    """Positions, block keys and fingerprints of the texts. In a batch to be decided, positions are consecutive."""
    searchable: Bools
    """bool[n]: whether each text could be a near repeat; if it could not, it has no block keys."""

    @property
    def positions(self) -> Int64s:
        """int64[n]: position of each text's post in the window; a query text gets a position after all posts."""
        return self.batch.positions

    @property
    def lengths(self) -> Int32s:
        """int32[n]: length of each text in ``compared``."""
        return self.batch.columns.lengths

    def take(self, rows: Int64s) -> PreparedTexts:
        """Return a copy with the texts at ``rows`` (ascending) only, so that all other texts can be freed."""
        normalized, compared = texts_at(self.normalized, rows), texts_at(self.compared, rows)
        keys, batch = [self.keys[row] for row in rows.tolist()], self.batch.take(rows)
        return PreparedTexts(normalized, compared, keys, self.hashes[rows], batch, self.searchable[rows])


class EarlierTexts:
    """A cache of the texts that new posts are compared with, read from the window.

    These are mostly the latest kept texts, and texts that many new posts resemble.
    """

    def __init__(self, normalized_at: TextsAt, compared: Callable[[Sequence[str]], Sequence[str]]) -> None:
        self._normalized_at, self._compared = normalized_at, compared
        self._texts: dict[int, tuple[str, str]] = {}
        """By position, the normalized text and its compared part."""
        self._n_characters = 0

    def at(self, positions: Int64s) -> tuple[list[str], list[str]]:
        """Return the normalized texts at some positions, in this order, and the compared part of each."""
        wanted = positions.tolist()
        if self._n_characters > MOST_CHARACTERS:
            self._texts.clear()
            self._n_characters = 0
        if new := [position for position in wanted if position not in self._texts]:
            texts = self._normalized_at(np.array(new, np.int64))
            self.hold(new, texts, self._compared(texts))
        found = list(map(self._texts.__getitem__, wanted))
        return [normalized for normalized, _ in found], [compared for _, compared in found]

    def hold(self, positions: Sequence[int], normalized: Sequence[str], compared: Sequence[str]) -> None:
        """Cache the texts at these positions."""
        self._texts.update(zip(positions, zip(normalized, compared, strict=True), strict=True))
        self._n_characters += sum(map(len, normalized)) + sum(map(len, compared))

    def forget(self, position: int) -> None:
        """Remove the text at a position from the cache, because its post was deleted."""
        self._texts.pop(position, None)


@dataclass(frozen=True)
class Steps:
    """The components of a window, and the steps that need only the components, not the posts of the window."""

    components: Components
    workers: int

    def normalize(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts of posts."""
        return list(self.components.normalizer.normalize_batch(texts))

    def prepare(self, raw: Sequence[str], normalized: Sequence[str], positions: Int64s) -> PreparedTexts:
        """Compute fingerprints, keys and limits of texts, so that they can be looked up; ``raw`` are texts as sent."""
        workers = self.workers if len(raw) >= FEWEST_IN_PARALLEL else 1
        compared = self.components.compared(normalized)
        sketches_of = start_in_background(
            lambda: sketch_texts(compared, 1) if self.counts_characters else NO_SKETCHES, workers
        )
        searched, lengths = self.components.searched(compared), text_lengths(compared)
        simhashes = self.components.fingerprint(normalized, searched)
        without_text = self.components.settings.without_text
        keys = exact_keys(normalized, raw, simhashes.has_tokens, positions, without_text)
        bands, index, bits = self.components.bands, self.components.block_index, simhashes.bits
        searchable = simhashes.is_comparable & bands.may_be_near(lengths)
        block_keys = without_keys(index.keys(searched, bits), searchable)
        probes = without_keys(index.probes(block_keys, bits), searchable) if index.probes_others else block_keys
        limits, kinds = bands.limits_by_length(lengths)
        columns = text_columns(bits, limits, sketches_of(), kinds)
        batch = Batch(positions, block_keys, probes, columns, text_numbers(keys))
        return PreparedTexts(normalized, compared, keys, hash_keys(keys), batch, searchable)

    def fit(self, normalized: Sequence[str]) -> None:
        """Fit the weighter on these texts, replacing its weights."""
        maker, searched = self.components.fingerprinter, self.components.searched(self.components.compared(normalized))
        maker.weighter.fit(maker.tokenizer.tokenize_batch(searched))

    def verifier_context(self, normalized: Sequence[str]) -> VerifierContext:
        """Return the context that verifiers need to score pairs of these texts."""
        return self.components.verifier_context(normalized, self.components.compared(normalized), self.workers)

    def earlier_texts(self, normalized_at: TextsAt) -> EarlierTexts:
        """Return an empty cache of the texts of the window; ``normalized_at`` reads texts that are not cached."""
        return EarlierTexts(normalized_at, self.components.compared)

    @cached_property
    def counts_characters(self) -> bool:
        """Whether a verifier requires that two texts have some characters in common."""
        return bool(self.components.bands.least_in_common().any())

    def verify(
        self, pairs: CandidatePairs, prepared: PreparedTexts, earlier: EarlierTexts
    ) -> tuple[Bools, VerifiedPairs]:
        """Return bool[n_pairs]: whether the verifiers accept each pair; and the accepted pairs.

        In ``pairs``, ``later`` is the position of a prepared text, and ``earlier`` the position of a prepared text or
        of a text of the window.
        """
        local, context = self.localize(pairs, prepared, earlier)
        accepted, verified = self.components.bands.verify(local, context)
        return accepted, verified.of(pairs.take(accepted))

    def localize(
        self, pairs: CandidatePairs, prepared: PreparedTexts, earlier: EarlierTexts
    ) -> tuple[CandidatePairs, VerifierContext]:
        """Prepare the verifiers for the texts of the pairs; return the pairs and the context that contains these texts.

        In the returned pairs, ``earlier`` and ``later`` are indices of texts in the context, not positions.
        """
        first = int(prepared.positions[0])
        positions, one, other = positions_of(pairs.earlier, pairs.later)
        n_of_window = int(np.searchsorted(positions, first))
        normalized, compared = earlier.at(positions[:n_of_window])
        places = positions[n_of_window:] - first
        posts = normalized + texts_at(prepared.normalized, places)
        is_whole = self.components.settings.compare == "all"
        both = posts if is_whole else compared + texts_at(prepared.compared, places)
        context = self.components.verifier_context(posts, both, self.workers)
        self.components.plan.renew(context)
        return CandidatePairs(one, other, pairs.hamming_distances), context


def exact_keys(
    normalized: Sequence[str], raw: Sequence[str], has_tokens: Bools, positions: Int64s, without_text: str
) -> list[tuple[bool, str]]:
    """Return a key for each text; exact repeats have equal keys.

    A key is a tuple: whether the text has words, and a string. The string is the normalized text if it has words, else
    the result of `key_as_sent`. But if the normalized text is empty and ``without_text`` is not ``compare``, the string
    contains the position of the post, so that no other post has this key.
    """
    keeps = without_text != "compare"
    return [
        (has_words, text if has_words else f"\0{position}\0{sent}" if keeps and not text else key_as_sent(text, sent))
        for has_words, text, sent, position in zip(
            has_tokens.tolist(), normalized, raw, positions.tolist(), strict=True
        )
    ]


def key_as_sent(normalized: str, sent: str) -> str:
    """Return the key string of a post without words: its normalized text, and ``sent`` with repeated signs collapsed.

    For example, ``sent`` = ``"👍👍!!"`` becomes ``"👍!"`` in the key.
    """
    return f"{normalized}\0{without_repeats(sent)}"


def text_numbers(keys: Sequence[tuple[bool, str]]) -> Int64s:
    """Number the distinct keys, starting at 0; return int64[n]: the number of each key."""
    numbers: dict[tuple[bool, str], int] = {}
    return np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), np.int64, len(keys))


def without_keys(keys: UInt64s, searchable: Bools) -> UInt64s:
    """Return block keys, uint64[n, n_keys], with `NO_KEY` for the texts that are not ``searchable``, bool[n]."""
    return keys if searchable.all() else np.where(searchable[:, None], keys, np.uint64(NO_KEY))


def hash_keys(keys: Sequence[tuple[bool, str]]) -> UInt64s:
    """Return uint64[n]: the hash of each key, never 0."""
    hashes = (
        xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), seed=has_words) for has_words, text in keys
    )
    return np.maximum(np.fromiter(hashes, np.uint64, len(keys)), np.uint64(1))
