"""What is held in memory, saved when a window is closed, so that opening it again need not look at every text.

Two files beside the store: the texts of the live index, and the times and hashes of the kept posts. Both name the next
position and what their content depends on. Where they are missing, damaged, of another time or made in another way, all
of it is derived from the store, which alone is believed.
"""

from __future__ import annotations

import json
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import xxhash

from hybriddup.plugin.options import to_plain
from hybriddup.records import Float64s, Int64s, UInt64s
from hybriddup.window.index.snapshot import Snapshot, load, save
from hybriddup.window.memory import Memory
from hybriddup.window.steps import Steps

INDEX_FILE, KEPT_FILE = "index.snapshot", "kept.snapshot"
COLUMNS = ("positions", "times", "watermarks", "hashes", "hashed_positions")

logger = logging.getLogger("hybriddup")


@dataclass(frozen=True)
class SavedMemory:
    """Saved files that can be believed and belong together."""

    index: Snapshot
    positions: Int64s
    times: Float64s
    watermarks: Float64s
    hashes: UInt64s
    hashed_positions: Int64s

    def restore(self, memory: Memory) -> None:
        """Fill an empty memory."""
        self.index.restore(memory.index)
        memory.kept.add(self.positions, self.times, self.watermarks)
        memory.exact.add(self.hashes, self.hashed_positions, 0)


def saved_id(steps: Steps) -> str:
    """Return what the saved content depends on, hashed: recipe of the fingerprints, limits, and common shingles."""
    components, shingles = steps.components, steps.shingler.learned() if steps.may_use_shingles else b""
    parts = [components.recipe(), [band.to_dict() for _, band in components.settings.bands()]]
    parts.append(xxhash.xxh3_128_hexdigest(shingles))
    return xxhash.xxh3_128_hexdigest(json.dumps(parts, sort_keys=True, default=to_plain).encode())


def save_memory(folder: Path, memory: Memory, steps: Steps, position: int) -> None:
    """Save what is held in memory of the posts before a position; a disk that is full costs the next opening time."""
    try:
        save(folder / INDEX_FILE, memory.index, recipe_id=saved_id(steps), position=position)
        save_kept(folder / KEPT_FILE, memory, saved_id(steps), position)
    except OSError as error:
        logger.warning("the window could not be saved for the next opening, which will take longer: %s", error)


def save_kept(path: Path, memory: Memory, made_with: str, position: int) -> None:
    """Write the columns of the kept posts to a file, which appears when it is whole or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("wb") as file:
            columns = (*memory.kept.columns(), *memory.exact.entries(memory.kept.first_position))
            named: dict[str, Any] = dict(zip(COLUMNS, columns, strict=True))
            np.savez(file, about=np.array([made_with, str(position)]), **named)
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def load_memory(folder: Path, steps: Steps) -> SavedMemory | None:
    """Return what was saved; None where there is nothing that can be believed."""
    index = load(folder / INDEX_FILE, saved_id(steps))
    if index is None:
        return None
    try:
        # reading a member of the archive checks its checksum
        with (folder / KEPT_FILE).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            about, *columns = (file[name] for name in ("about", *COLUMNS))
    except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
        logger.warning("%s is not used: %s", folder / KEPT_FILE, error)
        return None
    if about.tolist() != [saved_id(steps), str(index.position)]:
        logger.warning("%s is not used: it was not saved together with the index", folder / KEPT_FILE)
        return None
    return SavedMemory(index, *columns)
