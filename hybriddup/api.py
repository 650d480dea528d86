"""The Python API: `dedupe`, `fingerprint` and `explain`. Each makes its own components; nothing is shared or global."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hybriddup.config.load import Config, open_session
from hybriddup.config.settings import KeepHighest, Settings
from hybriddup.errors import ConfigError
from hybriddup.frames import corpus_from_posts
from hybriddup.records import UInt64s

if TYPE_CHECKING:
    from hybriddup.explanation import Explanation
    from hybriddup.result import Result

DEFAULT_CONFIG = "weibo"


def dedupe(
    posts: Any,
    *,
    config: Config = DEFAULT_CONFIG,
    text_field: str = "text",
    id_field: str = "id",
    workers: int | None = None,
    progress: bool = False,
    plugins: Iterable[str | ModuleType] = (),
) -> Result:
    """Return which posts stay and which repeat an earlier one that stays.

    Parameters
    ----------
    posts
        A list of str, a list of dicts, or a pandas or polars DataFrame.
    config
        A shipped name (``weibo``, ``twitter``, ...), the path of a YAML file, a dict that names what it changes, or
        `Settings`.
    text_field, id_field
        Where dicts and data frames hold the text and the id; the row is the id of a post that has none.
    workers
        Threads, and processes where a tokenizer needs them, 1 or more; None = one for each core. Never changes the
        result.
    progress
        Whether to show progress on standard error.
    plugins
        Modules to load as plugins besides the installed ones, by name or as objects.

    Raises
    ------
    InputError
        Posts that are not what is described above; the message names the first one's position.
    ConfigError
        The configuration cannot be used, and the message names every fault; or ``workers`` is no number of workers.
    PluginError
        A plugin cannot be loaded, or breaks the contract of its role.

    Examples
    --------
    >>> import hybriddup
    >>> posts = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "明天下雨吗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]
    >>> [(post.row, post.keeper_row, post.reason) for post in hybriddup.dedupe(posts).removed]
    [(2, 0, 'near')]
    """
    from hybriddup.pipeline import run

    check_workers(workers)
    settings, manager = open_session(config, plugins)
    highest = settings.keep.highest if isinstance(settings.keep, KeepHighest) else None
    corpus = corpus_from_posts(posts, text_field, id_field, highest)
    result = run(
        corpus,
        settings,
        manager.registry,
        workers=workers,
        progress=show_progress() if progress else None,
        config_name=config_name(config),
    )
    manager.run_finished(result)
    return result


def fingerprint(
    texts: Sequence[str],
    *,
    config: Config = DEFAULT_CONFIG,
    workers: int | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> UInt64s:
    """Return uint64[n_texts, words]: the simhash of each text, bit ``b`` being bit ``b % 64`` of word ``b // 64``.

    A weighter that learns from a corpus learns from these texts. A text without tokens has fingerprint 0, which says
    nothing about it.

    Examples
    --------
    >>> import hybriddup
    >>> hybriddup.fingerprint(["good morning"]).shape
    (1, 2)
    """
    from hybriddup.components import Components
    from hybriddup.parallel import available_workers

    check_workers(workers)
    settings, manager = open_session(config, plugins)
    components = Components.create(settings, manager.registry, workers or available_workers())
    normalized = components.normalizer.normalize_batch(corpus_from_posts(texts, "text", "id").texts)
    components.fingerprinter.fit(normalized)
    return components.fingerprinter.fingerprint(normalized).bits


def fit_weights(
    posts: Any,
    path: str | Path,
    *,
    config: Config = DEFAULT_CONFIG,
    text_field: str = "text",
    plugins: Iterable[str | ModuleType] = (),
) -> None:
    """Fit the configuration's weighter on these posts and save its table to a file.

    Runs whose configuration names the file (``weighter: {use: tfidf, table: FILE}``) weigh tokens alike, so that
    their fingerprints can be compared; otherwise each run is fitted on its own posts.

    Raises
    ------
    ConfigError
        The configuration's weighter has no table, or has been given one already.

    Examples
    --------
    >>> import hybriddup, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder) / "weights.npz"
    ...     hybriddup.fit_weights(["good morning", "good night"], table)
    ...     hybriddup.fingerprint(["good day"], config={"weighter": {"table": str(table)}}).shape
    (1, 2)
    """
    from hybriddup.components import Components
    from hybriddup.steps.weighters import FittedWeighter

    settings, manager = open_session(config, plugins)
    components = Components.create(settings, manager.registry, workers=1)
    weighter = components.fingerprinter.weighter
    if not isinstance(weighter, FittedWeighter) or not weighter.needs_fit:
        raise ConfigError(
            f"weighter {settings.weighter.use!r} has nothing to fit here; fit_weights needs `tfidf` or `levels` "
            f"without a table."
        )
    components.fingerprinter.fit(
        components.normalizer.normalize_batch(corpus_from_posts(posts, text_field, "id").texts)
    )
    weighter.table.save(path)


def explain(
    a: str,
    b: str,
    *,
    config: Config = DEFAULT_CONFIG,
    corpus: Sequence[str] | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> Explanation:
    """Return each step for two texts and the verdict, as if they were two posts of a run.

    Parameters
    ----------
    corpus
        The texts of that run, in the order in which they were decided. Without them a weighter that learns from a
        corpus has none, and the Hamming distance can differ by some bits from a run's.

    Examples
    --------
    >>> import hybriddup
    >>> hybriddup.explain("good morning, everybody", "good morning everybody!").matches
    True
    """
    from hybriddup.explanation import explain_texts

    settings, manager = open_session(config, plugins)
    return explain_texts(a, b, settings, manager.registry, corpus)


def check_workers(workers: object) -> None:
    """Raise ConfigError where this is no number of workers; None leaves it to the number of cores."""
    is_number = isinstance(workers, Integral) and not isinstance(workers, bool)
    if workers is not None and not (is_number and workers >= 1):  # type: ignore[operator]
        raise ConfigError(f"workers must be a whole number, 1 or more, or None for one a core; got {workers!r}.")


def config_name(config: Config) -> str:
    """Return how a summary names a configuration: its name or path, or what kind of object it was."""
    if isinstance(config, (str, Path)):
        return str(config)
    return "Settings" if isinstance(config, Settings) else "a mapping"


def show_progress() -> Any:
    """Return what shows the progress of a run on standard error, as the command line does."""
    from hybriddup.cli.progress import terminal_progress

    return terminal_progress()
