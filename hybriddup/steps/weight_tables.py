"""Fitted weights as a table that can be kept and named in a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from hybriddup.data.records import Float32s, UInt64s
from hybriddup.kernels.token_table import build_table


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

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table as arrays by name."""
        return {"keys": self.keys, "weights": self.weights, "rarest": np.array(self.rarest)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> FittedTable:
        """Return the table that `arrays` told."""
        return cls(arrays["keys"], arrays["weights"], float(arrays["rarest"]))
