"""Decisions over time, for the chart on the page."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hybriddup.window import Decision

SECONDS_A_SLOT = 10
N_SLOTS = 180


@dataclass
class Slot:
    """Decisions of ten seconds."""

    start: int
    """Seconds since 1970."""
    kept: int = 0
    exact: int = 0
    near: int = 0


@dataclass
class History:
    """New decisions of the last half hour; answers given again are left out."""

    clock: Callable[[], float]
    slots: deque[Slot] = field(default_factory=lambda: deque(maxlen=N_SLOTS))

    def add(self, decisions: Sequence[Decision]) -> None:
        """Count decisions that were made now."""
        slot = self.current()
        for one in decisions:
            if one.repeated:
                continue
            outcome = one.evidence.reason if one.evidence else "kept"
            setattr(slot, outcome, getattr(slot, outcome) + 1)

    def current(self) -> Slot:
        """Return the slot of this moment; a clock that goes backwards stays in the last one."""
        start = int(self.clock()) // SECONDS_A_SLOT * SECONDS_A_SLOT
        if not self.slots or self.slots[-1].start < start:
            self.slots.append(Slot(start))
        return self.slots[-1]

    def to_dict(self) -> dict[str, Any]:
        """Return the slots in which something was decided, oldest first, up to now."""
        now = self.current().start
        recent = [slot for slot in self.slots if slot.start > now - N_SLOTS * SECONDS_A_SLOT]
        return {
            "seconds_a_slot": SECONDS_A_SLOT,
            "n_slots": N_SLOTS,
            "slots": [{"start": s.start, "kept": s.kept, "exact": s.exact, "near": s.near} for s in recent],
        }
