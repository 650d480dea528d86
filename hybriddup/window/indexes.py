"""The live index of a window: which one suits it, planned on edited copies of its own posts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.pilot import N_PILOT_PAIRS, make_pilot
from hybriddup.records import text_lengths
from hybriddup.spread import spread_rows
from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.length_classes import compatible_share
from hybriddup.window.live_index import LiveIndex, fill
from hybriddup.window.live_shapes import BYTES_A_TEXT, make_live_index
from hybriddup.window.steps import Steps
from hybriddup.window.stores import WindowStore

MOST_BYTES_A_TEXT = 600
ALWAYS_ALLOWED = 2**31
"""Bytes that an index may take, as far as that is no more than `MOST_BYTES_A_TEXT`."""
ROOM_TO_GROW = 3
"""An index is planned anew for so many times the texts that it has."""


def make_index(steps: Steps, store: WindowStore, n_texts: int) -> LiveIndex:
    """Return an empty index for about so many texts such as the store holds."""
    expectation = expectation_of(steps, store, n_texts)
    blocks, memory = steps.components.settings.blocks, memory_for(n_texts)
    return make_live_index(blocks, expectation, sketched=steps.counts_characters, memory=memory)


def memory_for(n_texts: int) -> int:
    """Return how many bytes the index may plan for: a small window may spend more on each text, to be faster."""
    return max(BYTES_A_TEXT * n_texts, min(MOST_BYTES_A_TEXT * n_texts, ALWAYS_ALLOWED))


def suited(index: LiveIndex, steps: Steps, store: WindowStore) -> LiveIndex:
    """Return the index, or where the window has outgrown it, one with the same texts that has room to grow."""
    if not index.outgrown:
        return index
    larger = make_index(steps, store, ROOM_TO_GROW * index.report().n_texts)
    fill(larger, index.texts())
    return larger


def expectation_of(steps: Steps, store: WindowStore, n_texts: int) -> Expectation:
    """Return what an index may know of the window."""
    texts = sample_texts(store)
    return Expectation(
        n_texts=n_texts,
        workers=steps.workers,
        bits=steps.components.fingerprinter.n_bits,
        max_hamming_distance=steps.components.settings.max_hamming_distance,
        pilot=lambda: make_pilot(texts, steps.components),
        compatible_share=compatible_share(steps.components.bands.limits_of(text_lengths(texts))),
    )


def sample_texts(store: WindowStore) -> Sequence[str]:
    """Return some compared texts of the store, spread evenly; a text that is empty says nothing and is left out."""
    first, n = store.first_position, store.next_position - store.first_position
    positions = first + spread_rows(n, N_PILOT_PAIRS)
    return [text for text in store.texts(positions.astype(np.int64)) if text]
