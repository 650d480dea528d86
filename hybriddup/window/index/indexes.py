"""The live index of a window: which one suits it, planned on edited copies of its own posts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from hybriddup.pilot import N_PILOT_PAIRS, as_prints, edited_copies
from hybriddup.records import Fingerprints, UInt32s, text_lengths
from hybriddup.spread import spread_rows
from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.length_classes import compatible_share
from hybriddup.window.index import LiveIndex
from hybriddup.window.index.live_shapes import make_live_index
from hybriddup.window.records import StoredPost
from hybriddup.window.steps import PreparedTexts, Steps
from hybriddup.window.stores import WindowStore

FEWEST_BYTES_A_TEXT, MOST_BYTES_A_TEXT = 150, 600
ALWAYS_ALLOWED = 2**31
"""Bytes that an index may take, as far as that is no more than `MOST_BYTES_A_TEXT`; and `FEWEST_BYTES_A_TEXT` always,
with which it can go by shingles."""


def make_index(steps: Steps, store: WindowStore, n_texts: int) -> LiveIndex:
    """Return an empty index for about so many texts such as the store holds."""
    pilot = WindowPilot(sample_texts(store), steps)
    return make_live_index(
        steps.components.settings.blocks,
        expectation_of(steps, pilot, n_texts),
        sketched=steps.counts_characters,
        pilot_shingles=pilot.shingles if steps.may_use_shingles else None,
        memory=memory_for(n_texts),
    )


class WindowPilot:
    """Texts of the window and an edited copy of each, by which an index is planned; what is made of them, once.

    Parameters
    ----------
    texts
        Compared texts, spread evenly over the window.
    """

    def __init__(self, texts: Sequence[str], steps: Steps) -> None:
        self.texts = texts
        self._components = steps.components
        self._shingler = steps.shingler

    @cached_property
    def copies(self) -> list[str]:
        """The edited copies, row by row."""
        return edited_copies(self.texts, self._components)

    @cached_property
    def prints(self) -> tuple[Fingerprints, Fingerprints]:
        """The fingerprints of the texts and of the copies."""
        return as_prints(self.texts, self._components), as_prints(self.copies, self._components)

    def shingles(self) -> tuple[UInt32s, UInt32s]:
        """Return the shingles of the texts and of the copies."""
        return self._shingler.shingles(self.texts), self._shingler.shingles(self.copies)


def memory_for(n_texts: int) -> int:
    """Return how many bytes the index may plan for: a small window may spend more on each text, to be faster."""
    return max(FEWEST_BYTES_A_TEXT * n_texts, min(MOST_BYTES_A_TEXT * n_texts, ALWAYS_ALLOWED))


def prepare_stored(steps: Steps, posts: Sequence[StoredPost]) -> PreparedTexts:
    """Return posts of the store as they were when they were looked up."""
    positions = np.array([post.position for post in posts], np.int64)
    return steps.prepare([post.text for post in posts], [post.compared_text for post in posts], positions)


def expectation_of(steps: Steps, pilot: WindowPilot, n_texts: int) -> Expectation:
    """Return what an index may know of a window with texts such as those of the pilot."""
    return Expectation(
        n_texts=n_texts,
        workers=steps.workers,
        bits=steps.components.fingerprinter.n_bits,
        max_hamming_distance=steps.components.settings.max_hamming_distance,
        pilot=lambda: pilot.prints,
        compatible_share=compatible_share(steps.components.bands.limits_of(text_lengths(pilot.texts))),
    )


def sample_texts(store: WindowStore) -> Sequence[str]:
    """Return some compared texts of the store, spread evenly; a text that is empty says nothing and is left out."""
    first, n = store.first_position, store.next_position - store.first_position
    positions = first + spread_rows(n, N_PILOT_PAIRS)
    return [text for text in store.texts(positions.astype(np.int64)) if text]
