"""Posts that are compared with all that was in the window when they were decided, a part at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Float64s
from hybriddup.steps.deciding.pairs import no_pairs
from hybriddup.window.derived import DerivedState
from hybriddup.window.preparing import PreparedTexts, Steps, TextsAt
from hybriddup.window.stores import WindowStore

CELLS_A_PART = 2**22
"""Long texts are verified fewer at a time: as many as the products of the lengths of their pairs add up to this."""


@dataclass(eq=False)
class Comparison:
    """Posts of one batch, all of them kept, and how far comparing them with earlier posts has come.

    Texts are compared from the oldest on, so that comparing goes ahead of forgetting.
    """

    texts: PreparedTexts
    """At least one, all with fingerprints."""
    edges: Float64s
    """float64[n]: earlier posts with a time after this were within the horizon when each was decided."""
    position: int
    """Texts before this position were compared."""
    end: int
    """The first position of the batch: its posts were all compared with one another when they were decided."""
    n_found_beside: int = 0
    """Near duplicates among the sampled posts of the same batch; they count, or are skipped, together with it."""
    missed: Bools = field(init=False)
    """bool[n]: whether the post has a match that was not found."""
    pairs: CandidatePairs = field(default_factory=no_pairs)
    """Those that are still to be verified, by later post, the oldest first."""

    def __post_init__(self) -> None:
        self.missed = np.zeros(len(self), np.bool_)

    def __len__(self) -> int:
        """Return the number of posts."""
        return len(self.texts.positions)

    @property
    def is_done(self) -> bool:
        """Whether it is known of every post whether it was missed."""
        return bool(self.missed.all()) or (self.position >= self.end and not len(self.pairs))

    def has_lost(self, derived: DerivedState, store: WindowStore) -> bool:
        """Return whether a text was forgotten before it was compared or verified."""
        is_behind = self.position < min(derived.kept.first_position, self.end)
        return is_behind or bool((self.pairs.earlier < store.first_position).any())

    def scan(self, derived: DerivedState, n_texts: int) -> None:
        """Compare with so many texts more; the pairs that were within horizon and limits are then to be verified."""
        scanned = derived.index.scan_from(self.position, n_texts, self.texts.live.prints, self.texts.live.sketches)
        pairs = scanned.pairs
        places = np.searchsorted(self.texts.positions, pairs.later)
        in_window = derived.kept.times_of(pairs.earlier) > self.edges[places]
        self.pairs = pairs.take(in_window & ~self.missed[places])
        self.position = self.end if scanned.next_position is None else scanned.next_position

    def verify(self, n_pairs: int, steps: Steps, normalized_at: TextsAt) -> None:
        """Verify so many pairs, fewer of long texts and at least one."""
        earlier = steps.earlier_texts(normalized_at)
        while n_pairs > 0 and len(self.pairs):
            place = int(np.searchsorted(self.texts.positions, self.pairs.later[0]))
            of_post = int(np.searchsorted(self.pairs.later, self.pairs.later[0], side="right"))
            n_cells = max(int(self.texts.lengths[place]) ** 2, 1)
            n_pairs = min(n_pairs, max(CELLS_A_PART // n_cells, 1))
            n = min(n_pairs, of_post)
            post = self.texts.take(np.array([place]))
            self.missed[place] = steps.verify(self.pairs.take(slice(0, n)), post, earlier)[0].any()
            self.pairs = self.pairs.take(slice(of_post if self.missed[place] else n, None))
            n_pairs -= n
