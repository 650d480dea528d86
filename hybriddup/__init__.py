"""hybriddup finds repeated short texts: simhash narrows millions of posts to a few pairs, which are then verified.

>>> import hybriddup
>>> result = hybriddup.dedupe(["good morning, everybody", "good morning everybody!", "nothing like it"])
>>> result.kept
[0, 2]
"""

import typing as _typing

if _typing.TYPE_CHECKING:  # with `as`, type checkers take an imported name for a public one
    from hybriddup.api import accounts as accounts
    from hybriddup.api import dedupe as dedupe
    from hybriddup.api import dedupe_files as dedupe_files
    from hybriddup.api import evaluate as evaluate
    from hybriddup.api import explain as explain
    from hybriddup.api import fingerprint as fingerprint
    from hybriddup.api import learn as learn
    from hybriddup.api import tune as tune
    from hybriddup.config.load import load_settings as load_settings
    from hybriddup.config.settings import Settings as Settings
    from hybriddup.data.records import Removed as Removed
    from hybriddup.errors import ConfigError as ConfigError
    from hybriddup.errors import HybriddupError as HybriddupError
    from hybriddup.errors import InputError as InputError
    from hybriddup.errors import OutputError as OutputError
    from hybriddup.errors import PluginError as PluginError
    from hybriddup.errors import StoreError as StoreError
    from hybriddup.errors import UnsupportedError as UnsupportedError
    from hybriddup.errors import WindowError as WindowError
    from hybriddup.estimators import NearDuplicates as NearDuplicates
    from hybriddup.estimators import SimhashVectorizer as SimhashVectorizer
    from hybriddup.plugin.spec import hookimpl as hookimpl
    from hybriddup.run.accounts import AccountPair as AccountPair
    from hybriddup.run.near_misses import NearMiss as NearMiss
    from hybriddup.run.recipe import LearnedRecipe as LearnedRecipe
    from hybriddup.run.result import Result as Result
    from hybriddup.run.summary import Summary as Summary
    from hybriddup.steps.options import Options as Options
    from hybriddup.study.evaluate import Evaluation as Evaluation
    from hybriddup.study.explanation import Explanation as Explanation
    from hybriddup.study.tune import Tuned as Tuned
    from hybriddup.window import Decision as Decision
    from hybriddup.window import Evidence as Evidence
    from hybriddup.window import Match as Match
    from hybriddup.window import PostList as PostList
    from hybriddup.window import StoredPost as StoredPost
    from hybriddup.window import Window as Window
    from hybriddup.window import WindowStats as WindowStats

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

if not _typing.TYPE_CHECKING:  # to type checkers a name that is not imported above is an error, not Any
    __all__ = sorted(_HOME)

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'hybriddup' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*_HOME, "__version__"]
