"""Live index: what finds earlier texts of a window, and lets go of those that have left it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from hybriddup.data.records import ALL_PAIRS, Bools, CandidatePairs, Enough, Fingerprints, Int64s, NearPairs, UInt64s


@dataclass(frozen=True, slots=True)
class LiveReport:
    """What a live index is, and what it did since it was made, so that no limit stays hidden."""

    n_texts: int
    """Texts that can be found."""
    n_bytes: int
    """Bytes of memory in use, of the arrays of the index."""
    shape: str
    """One line for people: how the index is built, such as ``8 tables of 22 bits, 64 probes``."""
    exact: bool
    """True where every pair within its limits is found."""
    n_look_ups: int = 0
    """Keys that were looked up."""
    n_comparisons: int = 0
    """Pairs of fingerprints whose Hamming distance was computed."""
    largest_bucket: int = 0
    """The most texts that were read of one key."""
    limits_hit: dict[str, int] = field(default_factory=dict)
    """How often each limit, by its option's name, cut a search short."""


@dataclass(frozen=True, slots=True, eq=False)
class LiveTexts:
    """Some texts, in order, with what an index goes by."""

    prints: Fingerprints
    sketches: UInt64s | None
    """uint64[n, SKETCH_WORDS], as `hybriddup.kernels.characters.sketch_characters` writes them; None = none."""
    keys: UInt64s
    probes: UInt64s
    """uint64[n, n_keys], uint64[n, n_probes]: as a `hybriddup.steps.blocks.BlockIndex` makes them."""

    def take(self, chosen: Int64s | Bools | slice) -> LiveTexts:
        """Return some of the texts."""
        sketches, keys = None if self.sketches is None else self.sketches[chosen], self.keys[chosen]
        probes = keys if self.probes is self.keys else self.probes[chosen]
        return LiveTexts(self.prints.take(chosen), sketches, keys, probes)


class Scanned(NamedTuple):
    """What came of comparing with some of the texts of an index."""

    pairs: CandidatePairs
    next_position: int | None
    """Where to go on: the position of the next text; None = there is none."""


class LooksUp(Protocol):
    """What a batch is decided by: the texts of a window, or those of them that it can meet."""

    def look_up(self, texts: LiveTexts, enough: Enough = ALL_PAIRS) -> NearPairs:
        """Return the pairs of these texts with earlier ones, as `LiveIndex.look_up` does."""
        ...

    def depths(self, texts: LiveTexts, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return which number from the newest earlier texts have in each key, as `LiveIndex.depths` does."""
        ...
