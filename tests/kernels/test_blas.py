"""Importing scipy.linalg only when a kernel needs BLAS."""

import os
import subprocess
import sys

import pytest

needs_compiler = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled")

FIRST_CALL = """
import sys
from hybriddup.kernels.cache import anchor
anchor()
print("scipy.linalg" in sys.modules, "scipy.linalg.cython_blas" in sys.modules)
"""
PRODUCT = """
import numba, numpy as np
@numba.njit
def product(a, b):
    return a @ b
print(product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])).tolist())
"""
LOOK_UP = """
import sys
from hybriddup.kernels.blas import BLAS, delayed_blas
with delayed_blas():
    import scipy.linalg.cython_blas
    print("scipy.linalg" in sys.modules, "dgemm" in sys.modules[BLAS].__pyx_capi__, "scipy.linalg" in sys.modules)
    import scipy.linalg
    print(scipy.linalg.det([[1.0, 2.0], [3.0, 5.0]]) < 0)
print(type(sys.modules[BLAS].__loader__).__name__)
"""


def printed(program: str) -> list[str]:
    """Return what a new interpreter prints, line by line; a warm one has imported numba and scipy already."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@needs_compiler
def test_kernels_load_without_scipy_linalg_and_later_ones_can_call_blas() -> None:
    assert printed(FIRST_CALL + PRODUCT) == ["False False", "[[3.0, 2.0], [7.0, 4.0]]"]


def test_a_look_up_and_an_import_within_the_block_get_the_real_module() -> None:
    assert printed(LOOK_UP) == ["False True True", "True", "ExtensionFileLoader"]
