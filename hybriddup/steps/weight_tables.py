"""Fitted weights as a table that can be saved, loaded and named in a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile

import numpy as np
import xxhash

from hybriddup.errors import ConfigError
from hybriddup.kernels.token_table import build_table
from hybriddup.records import Float32s, UInt64s

FORMAT = 1
"""Raised when the file comes to hold something else."""


@dataclass(frozen=True)
class FittedTable:
    """The weights of the common tokens of a corpus; every other token weighs ``rarest``."""

    keys: UInt64s
    """uint64[n]: the tokens' keys, rising."""
    weights: Float32s
    """float32[n]."""
    rarest: float

    @cached_property
    def slots(self) -> tuple[UInt64s, Float32s]:
        """The table as `hybriddup.kernels.token_table.look_up` takes it."""
        slots: tuple[UInt64s, Float32s] = build_table(self.keys, self.weights)
        return slots

    def checksum(self) -> str:
        """Return 32 hexadecimal digits, equal for equal weights."""
        content = self.keys.astype("<u8").tobytes() + self.weights.astype("<f4").tobytes()
        return xxhash.xxh3_128_hexdigest(content + np.float64(self.rarest).tobytes())

    def write(self, file: BinaryIO) -> None:
        """Write the table to an open file."""
        np.savez_compressed(file, format=FORMAT, keys=self.keys, weights=self.weights, rarest=self.rarest)

    def save(self, path: str | Path) -> None:
        """Write the table to a file, which appears whole or not at all."""
        target = Path(path)
        unfinished = target.with_name(f".{target.name}.unfinished")
        try:
            with unfinished.open("wb") as file:
                self.write(file)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)


def load_table(path: str | Path) -> FittedTable:
    """Return a table that `FittedTable.save` wrote.

    Raises
    ------
    ConfigError
        The file cannot be read, or is something else.
    """
    remedy = "Name a file that hybriddup.fit_weights wrote, or leave the option out to fit on each run's posts."
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if int(file["format"]) != FORMAT:
                raise ConfigError(f"weighter.table: {path} has format {int(file['format'])}, not {FORMAT}. {remedy}")
            return FittedTable(file["keys"], file["weights"], float(file["rarest"]))
    except OSError as error:
        raise ConfigError(f"weighter.table: cannot read {path}: {error.strerror or error}. {remedy}") from error
    except (KeyError, ValueError, EOFError, BadZipFile) as error:
        raise ConfigError(f"weighter.table: {path} is not a table of weights. {remedy}") from error
