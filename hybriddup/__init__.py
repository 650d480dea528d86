"""hybriddup finds repeated short texts: simhash narrows millions of posts to a few pairs, which are then verified.

>>> import hybriddup
>>> result = hybriddup.dedupe(["good morning, everybody", "good morning everybody!", "nothing like it"])
>>> result.kept
[0, 2]
"""

import typing as _typing

if _typing.TYPE_CHECKING:
    from hybriddup.api import accounts, dedupe, dedupe_files, evaluate, explain, fingerprint, learn, tune
    from hybriddup.config.load import load_settings
    from hybriddup.config.settings import Settings
    from hybriddup.data.records import Removed
    from hybriddup.errors import (
        ConfigError,
        HybriddupError,
        InputError,
        OutputError,
        PluginError,
        StoreError,
        UnsupportedError,
        WindowError,
    )
    from hybriddup.estimators import NearDuplicates, SimhashVectorizer
    from hybriddup.plugin.spec import hookimpl
    from hybriddup.run.accounts import AccountPair
    from hybriddup.run.near_misses import NearMiss
    from hybriddup.run.recipe import LearnedRecipe
    from hybriddup.run.result import Result
    from hybriddup.run.summary import Summary
    from hybriddup.steps.options import Options
    from hybriddup.study.evaluate import Evaluation
    from hybriddup.study.explanation import Explanation
    from hybriddup.study.tune import Tuned
    from hybriddup.window import Decision, Evidence, Match, PostList, StoredPost, Window, WindowStats

__version__ = "0.2.0"

# Loaded when first used: numba, scikit-learn and the rest take longer than printing --help should.
_NAMES = {
    "api": "accounts dedupe dedupe_files evaluate explain fingerprint learn tune",
    "config.load": "load_settings",
    "config.settings": "Settings",
    "data.records": "Removed",
    "run.accounts": "AccountPair",
    "errors": "ConfigError HybriddupError InputError OutputError PluginError StoreError UnsupportedError WindowError",
    "estimators": "NearDuplicates SimhashVectorizer",
    "plugin.spec": "hookimpl",
    "run.near_misses": "NearMiss",
    "run.recipe": "LearnedRecipe",
    "run.result": "Result",
    "run.summary": "Summary",
    "steps.options": "Options",
    "study.evaluate": "Evaluation",
    "study.explanation": "Explanation",
    "study.tune": "Tuned",
    "window": "Decision Evidence Match PostList StoredPost Window WindowStats",
}
_HOME = {name: f"hybriddup.{home}" for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "AccountPair",
    "ConfigError",
    "Decision",
    "Evaluation",
    "Evidence",
    "Explanation",
    "HybriddupError",
    "InputError",
    "LearnedRecipe",
    "Match",
    "NearDuplicates",
    "NearMiss",
    "Options",
    "OutputError",
    "PluginError",
    "PostList",
    "Removed",
    "Result",
    "Settings",
    "SimhashVectorizer",
    "StoreError",
    "StoredPost",
    "Summary",
    "Tuned",
    "UnsupportedError",
    "Window",
    "WindowError",
    "WindowStats",
    "accounts",
    "dedupe",
    "dedupe_files",
    "evaluate",
    "explain",
    "fingerprint",
    "hookimpl",
    "learn",
    "load_settings",
    "tune",
]


if not _typing.TYPE_CHECKING:  # to type checkers a name that is not listed above is an error, not Any

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'hybriddup' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
