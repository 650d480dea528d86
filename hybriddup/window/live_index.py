"""Live index: what finds earlier texts of a window, and lets go of those that have left it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from hybriddup.records import CandidatePairs, Fingerprints, UInt64s


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
    """Buckets that were looked into."""
    n_comparisons: int = 0
    """Pairs of fingerprints whose Hamming distance was computed."""
    largest_bucket: int = 0
    """The most texts that were read in one bucket."""
    limits_hit: dict[str, int] = field(default_factory=dict)
    """How often each limit, by its option's name, cut a search short."""


@dataclass(frozen=True, slots=True, eq=False)
class LiveTexts:
    """Some texts of an index, in order, from which another index can be made."""

    prints: Fingerprints
    """Without the strengths of their bits, which only later texts need."""
    sketches: UInt64s | None
    """uint64[n, 2], as `hybriddup.kernels.characters.sketch_characters` returns them; None = the index has none."""


@runtime_checkable
class LiveIndex(Protocol):
    """Finds, for each text of a batch, texts of the window with few differing bits.

    One thread at a time may call it. The limits of a text are a function of its length, the same in every call.
    """

    @property
    def sketched(self) -> bool:
        """Whether `add` and `candidates` are given sketches of the characters."""
        ...

    @property
    def outgrown(self) -> bool:
        """Whether the window has grown so much that an index planned anew would suit it better."""
        ...

    def add(self, prints: Fingerprints, sketches: UInt64s | None = None) -> None:
        """Make these texts findable; their positions rise from call to call.

        ``sketches`` is uint64[n, 2], row by row, as `hybriddup.kernels.characters.sketch_characters` returns them.
        """
        ...

    def candidates(self, later: Fingerprints, sketches: UInt64s | None = None) -> CandidatePairs:
        """Return the pairs between texts added and not forgotten (``earlier``) and these (``later``).

        Each is within its limits, as `hybriddup.steps.blocks.BlockIndex.candidates` has them, and, where the index is
        sketched, may have as many characters in common as it needs.
        """
        ...

    def forget_before(self, position: int) -> None:
        """Find texts before this position no more; a smaller position than one given before changes nothing.

        Their memory is used again, a little at each call of `add`.
        """
        ...

    def texts(self) -> Iterator[LiveTexts]:
        """Yield the texts that can be found, in order, in batches; nothing may be added meanwhile."""
        ...

    def report(self) -> LiveReport:
        """Return what the index is, and what was done since it was made."""
        ...


def fill(index: LiveIndex, texts: Iterable[LiveTexts]) -> None:
    """Add the texts of another index, or of a snapshot, to an empty index of the same width."""
    for some in texts:
        index.add(some.prints, some.sketches if index.sketched else None)
