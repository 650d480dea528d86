"""A live index that the window has outgrown gives way to a larger one, without a pause: texts move a few at a time."""

from __future__ import annotations

from hybriddup.window.index import LiveIndex, LiveTexts, fill
from hybriddup.window.index.indexes import make_index, prepare_stored
from hybriddup.window.memory import Growth, Memory
from hybriddup.window.steps import Steps
from hybriddup.window.stores import WindowStore

ROOM_TO_GROW = 3
"""An index is planned anew for so many times the texts that it has."""
MOVED_A_POST = 8
"""Texts that move for each post decided: some microseconds, and all have moved before a tenth more have come."""
FEWEST_MOVED = 256


def grow(memory: Memory, n_posts: int, steps: Steps, store: WindowStore) -> LiveIndex | None:
    """Bring the index nearer to one that suits, after so many posts were decided.

    The index that was outgrown answers until the larger one has all of its texts, and is then returned.
    """
    if memory.growth is None and memory.index.outgrown:
        n_texts = ROOM_TO_GROW * memory.index.report().n_texts
        memory.growth = Growth(make_index(steps, store, n_texts), memory.kept.first_position)
    if memory.growth is not None:
        move_texts(memory.index, memory.growth, max(MOVED_A_POST * n_posts, FEWEST_MOVED), steps, store)
        if next(memory.index.texts(memory.growth.next_position, 1), None) is None:
            outgrown, memory.index, memory.growth = memory.index, memory.growth.larger, None
            memory.index.forget_before(memory.kept.first_position)
            return outgrown
    return None


def move_texts(index: LiveIndex, growth: Growth, n_texts: int, steps: Steps, store: WindowStore) -> None:
    """Add so many texts of an index to the larger one."""
    texts = next(index.texts(growth.next_position, n_texts), None)
    if texts is None:
        return
    if growth.larger.n_shingles > index.n_shingles:
        texts = read_again(texts, steps, store)
    fill(growth.larger, [texts])
    growth.next_position = int(texts.prints.positions[-1]) + 1


def read_again(texts: LiveTexts, steps: Steps, store: WindowStore) -> LiveTexts:
    """Return these texts with their shingles, from the store."""
    prepared = prepare_stored(steps, store.posts(texts.prints.positions))
    return LiveTexts(prepared.prints.without_strengths(), prepared.sketches, prepared.shingles)
