"""What all tests share.

Hypothesis has no deadlines, because the first call of a kernel compiles or loads it. Processes that share the tests
(pytest-xdist) have caches of their own for the kernels. What only an ordinary user can notice is skipped for root.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

settings.register_profile("hybriddup", deadline=None)
settings.load_profile("hybriddup")

if (worker := os.environ.get("PYTEST_XDIST_WORKER")) is not None:
    # numba reads this when it is imported. It writes to its cache without a lock: two processes that compile the same
    # kernel for different types at the same moment can leave one's code under the other's entry.
    caches = os.environ.get("NUMBA_CACHE_DIR") or str(Path(__file__).parents[1] / ".pytest_cache" / "numba")
    os.environ["NUMBA_CACHE_DIR"] = str(Path(caches) / worker)


@cache
def may_write_anywhere() -> bool:
    """Whether permissions do not hold back the user who runs the tests, as with root, or there are none."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o500)
        return os.access(folder, os.W_OK)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what only an ordinary user can notice."""
    if item.get_closest_marker("ordinary_user") and may_write_anywhere():
        pytest.skip("permissions do not hold back this user")
