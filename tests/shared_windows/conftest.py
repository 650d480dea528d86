"""What the tests of shared windows share."""

from __future__ import annotations

import pytest

from hybriddup.shared_windows import state


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of leases, which goes on only while a process waits, and waits for nothing."""
    now = [0.0]
    monkeypatch.setattr(state, "monotonic", lambda: now[0])
    monkeypatch.setattr(state, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now
