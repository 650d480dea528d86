"""Block index: fingerprints -> candidate pairs. The end of stage 1; what is missed here is lost as recall."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from hybriddup.records import CandidatePairs, Fingerprints
from hybriddup.summary import BlockReport


class KeysInCommon(NamedTuple):
    """In how many tables two texts meet; an index may tell by a method ``keys_in_common(earlier, later)``."""

    n_in_common: int
    n_keys: int


@dataclass(frozen=True)
class Expectation:
    """What a block index may know of a run before it: how many texts will come, and pairs it ought to find."""

    n_texts: int
    workers: int
    bits: int
    max_hamming_distance: int
    """The largest limit of any length band."""
    pilot: Callable[[], tuple[Fingerprints, Fingerprints]]
    """Makes pairs that ought to be found: some of the corpus's own texts, and copies of them edited at random up to
    the threshold of their length, row by row. Made only when asked for."""
    compatible_share: float = 1.0
    """Share of the pairs of texts whose lengths allow a match, 0.0 to 1.0."""


@runtime_checkable
class BlockIndex(Protocol):
    """Finds, for each text of a batch, texts with few differing bits. Built anew for each run."""

    def prepare(self, expectation: Expectation) -> None:
        """Choose the shape of the index; called once, before anything is added."""
        ...

    def add(self, prints: Fingerprints) -> None:
        """Make these texts findable; their positions rise from call to call."""
        ...

    def candidates(self, prints: Fingerprints) -> CandidatePairs:
        """Return the pairs between texts added so far (``earlier``) and these (``later``), within their limits.

        A pair is within its limits when, by the shorter text, ``hamming_distance <= max_hamming_distance`` and
        the longer text's length is at most ``max_partner_length``. Whether a pair is found may depend on the two
        texts only, never on what else is in the index or in the batch.
        """
        ...

    def candidates_within(self, prints: Fingerprints) -> CandidatePairs:
        """Return the pairs among these texts, as if each had been added before the next was looked up."""
        ...

    def report(self) -> BlockReport:
        """Return what was done since `prepare`."""
        ...


class Crowded(Exception):  # noqa: N818  (a signal between two steps, no error)
    """Raised by a `JoiningIndex`: these texts have so many pairs that they should be looked up in smaller batches."""


@runtime_checkable
class JoiningIndex(BlockIndex, Protocol):
    """A block index that can look up one batch in another, some of its tables at a time."""

    @property
    def n_rounds(self) -> int:
        """Rounds that together find what `candidates` finds, 1 or more."""
        ...

    @property
    def small_batch(self) -> int:
        """So many texts are compared with each other at less cost than one half with the other."""
        ...

    @property
    def added(self) -> Fingerprints | None:
        """The texts added so far, without the strengths of their bits; None = none yet."""
        ...

    def candidates_between(
        self, earlier: Fingerprints, later: Fingerprints, round_number: int | None
    ) -> CandidatePairs:
        """Return the pairs that the tables of one round find between earlier texts and later ones.

        Parameters
        ----------
        earlier
            Positions rising. The later texts themselves: pairs among them.
        round_number
            0 to ``n_rounds - 1``; None = all tables.

        Raises
        ------
        Crowded
            There are too many pairs to hold; never where there are few later texts.
        """
        ...
