"""Decisions over time, for the chart on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import time

from hybriddup.window import Decision

SECONDS_A_SLOT = 10
N_SLOTS = 180


@dataclass
class Slot:
    """New decisions within one slot of time."""

    start: int
    """Seconds since 1970."""
    kept: int = 0
    exact: int = 0
    near: int = 0


@dataclass
class History:
    """New decisions of the last half hour; slots without any, and answers given again, are left out."""

    seconds_a_slot: int = SECONDS_A_SLOT
    n_slots: int = N_SLOTS
    slots: list[Slot] = field(default_factory=list)
    """Oldest first."""

    def add(self, decisions: Sequence[Decision]) -> None:
        """Count decisions that were made now."""
        slot = self._current()
        for one in decisions:
            if one.repeated:
                continue
            outcome = one.evidence.reason if one.evidence else "kept"
            setattr(slot, outcome, getattr(slot, outcome) + 1)

    def _current(self) -> Slot:
        """Return the slot of this moment; a clock that goes backwards stays in the last one."""
        start = int(time()) // self.seconds_a_slot * self.seconds_a_slot
        if not self.slots or self.slots[-1].start < start:
            self.slots.append(Slot(start))
            self.forget()
        return self.slots[-1]

    def forget(self) -> None:
        """Forget the slots that are too old."""
        oldest = int(time()) - self.n_slots * self.seconds_a_slot
        self.slots = [slot for slot in self.slots if slot.start > oldest]
