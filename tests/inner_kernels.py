"""Calls of kernels that only other kernels can call."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba


@cache
def from_python(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls an inner kernel, which has no entry point for Python of its own."""

    @numba.njit
    def call(*arguments: Any) -> Any:
        return kernel(*arguments)

    return call  # type: ignore[no-any-return]
