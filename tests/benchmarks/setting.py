"""Where and with what something was measured, and how times are told."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from hybriddup.steps.parallel import available_workers

PACKAGES = ("hybriddup", "numpy", "numba", "rapidfuzz", "rensa", "gaoya", "datasketch", "simhash-pybind")


def setting() -> dict[str, Any]:
    """Return date, processor, number of cores, Python and the versions of what was compared."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "cores": available_workers(),
        "python": platform.python_version(),
        "packages": {name: installed for name in PACKAGES if (installed := version_of(name))},
    }


def processor() -> str:
    """Return the name of the processor, as well as the system tells it."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text("utf-8").splitlines() if listed.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def version_of(package: str) -> str | None:
    """Return the installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median, the 99th percentile and the most of some times, in milliseconds."""
    values = (np.percentile(seconds, [50, 99, 100]) * 1000).round(2).tolist()
    return dict(zip(("p50", "p99", "max"), values, strict=True))
