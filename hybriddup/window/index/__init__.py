"""Live index: what finds earlier texts of a window, and lets go of those that have left it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

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


@runtime_checkable
class LiveIndex(LooksUp, Protocol):
    """The texts of a window that can be found, by block key.

    One thread at a time may call it. The limits of a text are a function of its length, the same in every call.
    """

    @property
    def sketched(self) -> bool:
        """Whether sketches of the characters are kept of each text."""
        ...

    def look_up(self, texts: LiveTexts, enough: Enough = ALL_PAIRS) -> NearPairs:
        """Return the pairs of these texts with such as were added and not forgotten; ``later`` is a row of them.

        Two texts are a pair when they share a key, of which the newest ``max_bucket_size`` texts are looked at, and are
        within the limits of the shorter one. Where both have sketches, they may have as many characters in common as
        they need. Pairs of a text may be left out where ``enough`` others are nearer for sure, but for one, so that it
        is seen that some were.
        """
        ...

    def depths(self, texts: LiveTexts, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_probes]: which number from the newest an earlier text has in each key of a later one.

        ``rows`` int64[n] are those of the later texts, ``earlier`` int64[n] positions. It is 0 where the earlier text
        is not among those that are looked at.
        """
        ...

    def add(self, texts: LiveTexts, is_kept: Bools) -> None:
        """Make the kept ones of these texts findable, and count the look-ups of all that met a crowded key.

        Positions rise from call to call.
        """
        ...

    def remove(self, texts: LiveTexts) -> None:
        """Have some texts that were added take up no room among the newest of their keys.

        Pairs with them may still be returned: whoever asks leaves them out.
        """
        ...

    def scan_from(self, position: int, n_texts: int, later: Fingerprints, sketches: UInt64s | None = None) -> Scanned:
        """Compare these with every text from a position on, up to about so many, and return all the pairs.

        That is the truth by which the index is audited: every text looked at, a part at a time. ``later`` may be of
        positions that were added; their pairs are with earlier texts only.
        """
        ...

    def forget_before(self, position: int) -> None:
        """Find texts before this position no more; a smaller position than one given before changes nothing.

        Their memory is used again, a little at each call of `add`.
        """
        ...

    def report(self) -> LiveReport:
        """Return what the index is, and what was done since it was made."""
        ...
