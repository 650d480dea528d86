"""Live index: what finds earlier texts of a window, and lets go of those that have left it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from hybriddup.records import CandidatePairs, Fingerprints, UInt32s, UInt64s

TEXTS_AT_A_TIME = 2**16


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
    """Some texts, in order, with what an index can go by."""

    prints: Fingerprints
    """Those of an index are without the strengths of their bits, which only later texts need."""
    sketches: UInt64s | None
    """uint64[n, 2], as `hybriddup.kernels.characters.sketch_characters` returns them; None = the index has none."""
    shingles: UInt32s | None
    """uint32[n, n_shingles], as `hybriddup.kernels.shingles.bottom_shingles` returns them; None = there are none."""

    def take(self, chosen: slice) -> LiveTexts:
        """Return some of the texts."""
        sketches = None if self.sketches is None else self.sketches[chosen]
        shingles = None if self.shingles is None else self.shingles[chosen]
        return LiveTexts(self.prints.take(chosen), sketches, shingles)


class Scanned(NamedTuple):
    """What came of comparing with some of the texts of an index."""

    pairs: CandidatePairs
    next_position: int | None
    """Where to go on: the position of the next text; None = there is none."""


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
    def n_shingles(self) -> int:
        """How many shingles are kept of each text, and asked of each that is given; 0 = none."""
        ...

    @property
    def outgrown(self) -> bool:
        """Whether the window has grown so much that an index planned anew would suit it better."""
        ...

    def add(self, prints: Fingerprints, sketches: UInt64s | None = None, shingles: UInt32s | None = None) -> None:
        """Make these texts findable; their positions rise from call to call.

        Row by row: ``sketches`` is uint64[n, 2], as `hybriddup.kernels.characters.sketch_characters` returns them, and
        ``shingles`` uint32[n, n_shingles or more], as `hybriddup.kernels.shingles.bottom_shingles` returns them.
        """
        ...

    def candidates(
        self, later: Fingerprints, sketches: UInt64s | None = None, shingles: UInt32s | None = None
    ) -> CandidatePairs:
        """Return the pairs between texts added and not forgotten (``earlier``) and these (``later``).

        Each is within its limits, as `hybriddup.steps.blocks.BlockIndex.candidates` has them, and, where the index is
        sketched, may have as many characters in common as it needs.
        """
        ...

    def scan_from(self, position: int, n_texts: int, later: Fingerprints, sketches: UInt64s | None = None) -> Scanned:
        """Compare these with every text from a position on, up to about so many, and return all the pairs.

        That is the truth by which the index is audited: `candidates` with every text looked at, a part at a time.
        ``later`` may be of positions that were added; their pairs are with earlier texts only.
        """
        ...

    def forget_before(self, position: int) -> None:
        """Find texts before this position no more; a smaller position than one given before changes nothing.

        Their memory is used again, a little at each call of `add`.
        """
        ...

    def texts(self, position: int = 0, n_at_a_time: int = TEXTS_AT_A_TIME) -> Iterator[LiveTexts]:
        """Yield the texts that can be found from a position on, in order, in batches of so many or fewer.

        None of the batches is empty. Nothing may be added meanwhile.
        """
        ...

    def report(self) -> LiveReport:
        """Return what the index is, and what was done since it was made."""
        ...


def fill(index: LiveIndex, texts: Iterable[LiveTexts]) -> None:
    """Add texts to an index: those of another one, or such as are new.

    Fingerprints must be as wide, and there must be sketches, and at least as many shingles, where the index asks them.
    """
    for some in texts:
        sketches, shingles = some.sketches if index.sketched else None, some.shingles if index.n_shingles else None
        index.add(some.prints, sketches, shingles)
