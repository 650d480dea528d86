"""Delays the import of scipy.linalg until a kernel calls BLAS; the kernels of hybriddup never do.

When numba is first used, it imports `scipy.linalg.cython_blas` to check whether BLAS is available. This imports all
of scipy.linalg, which takes 0.2 s: a quarter of the time that a run over a few posts takes. BLAS functions themselves
are looked up by name when compiled code first calls one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

BLAS = "scipy.linalg.cython_blas"


@contextmanager
def delayed_blas() -> Iterator[None]:
    """Within a ``with`` block, make imports of `BLAS`, scipy's module of BLAS functions, return a placeholder.

    The placeholder imports the real module when a function is looked up in it. Nothing changes if the real module is
    already imported, or scipy is not installed.
    """
    if BLAS in sys.modules or "scipy" not in sys.modules:  # numba itself imports scipy, unless it is not installed
        yield
        return
    sys.modules[BLAS] = placeholder = _placeholder()
    try:
        yield
    finally:
        _remove(placeholder)


def _placeholder() -> ModuleType:
    """Return an empty module that imports `BLAS` when one of its attributes is read (PEP 562)."""
    module: Any = ModuleType(BLAS)
    module.__spec__ = ModuleSpec(BLAS, None)

    def look_up(name: str) -> Any:
        _remove(module)
        return getattr(import_module(BLAS), name)

    module.__getattr__ = look_up
    return module  # type: ignore[no-any-return]


def _remove(placeholder: ModuleType) -> None:
    if sys.modules.get(BLAS) is placeholder:
        del sys.modules[BLAS]
