"""hybriddup finds repeated short texts: simhash narrows millions of posts to a few pairs, the text confirms them.

>>> import hybriddup
>>> result = hybriddup.dedupe(["good morning, everybody", "good morning everybody!", "nothing like it"])
>>> result.kept
[0, 2]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybriddup.api import dedupe, evaluate, explain, fingerprint, learn, tune
    from hybriddup.config.load import load_settings
    from hybriddup.config.settings import Settings
    from hybriddup.data.records import Removed
    from hybriddup.errors import HybriddupError
    from hybriddup.estimators import NearDuplicates, SimhashVectorizer
    from hybriddup.plugin.spec import hookimpl
    from hybriddup.run.result import Result
    from hybriddup.steps.options import Options
    from hybriddup.window import Window

__version__ = "0.2.0"

__all__ = [
    "HybriddupError",
    "NearDuplicates",
    "Options",
    "Removed",
    "Result",
    "Settings",
    "SimhashVectorizer",
    "Window",
    "dedupe",
    "evaluate",
    "explain",
    "fingerprint",
    "hookimpl",
    "learn",
    "load_settings",
    "tune",
]

# Loaded when first used: numba, scikit-learn and the rest take longer than printing --help should.
_HOME = {
    "HybriddupError": "hybriddup.errors",
    "NearDuplicates": "hybriddup.estimators",
    "Options": "hybriddup.steps.options",
    "Removed": "hybriddup.data.records",
    "Result": "hybriddup.run.result",
    "Settings": "hybriddup.config.settings",
    "SimhashVectorizer": "hybriddup.estimators",
    "Window": "hybriddup.window",
    "dedupe": "hybriddup.api",
    "evaluate": "hybriddup.api",
    "explain": "hybriddup.api",
    "fingerprint": "hybriddup.api",
    "hookimpl": "hybriddup.plugin.spec",
    "learn": "hybriddup.api",
    "load_settings": "hybriddup.config.load",
    "tune": "hybriddup.api",
}


if not TYPE_CHECKING:  # to type checkers a name that is not listed above is an error, not Any

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'hybriddup' has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
