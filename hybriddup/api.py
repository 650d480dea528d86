"""The Python API: dedupe, dedupe_files, fingerprint, learn, explain, evaluate and tune. There is no global state."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from hybriddup.config.load import DEFAULT_CONFIG, Config, open_session, with_threshold
from hybriddup.config.settings import Settings
from hybriddup.data.corpus import put_before
from hybriddup.data.frames import corpus_from_posts, describe
from hybriddup.data.records import UInt64s
from hybriddup.errors import ConfigError, InputError
from hybriddup.steps.parallel import available_workers, check_workers, undisturbed

LabeledPair = tuple[str, str, bool] | Mapping[str, Any]
"""Two texts, and whether they should be duplicates: a tuple, or a mapping with the keys ``a``, ``b`` (the texts) and
``label``."""

if TYPE_CHECKING:
    from hybriddup.plugin.manager import PluginManager
    from hybriddup.run.accounts import AccountPair
    from hybriddup.run.recipe import LearnedRecipe
    from hybriddup.run.result import Result
    from hybriddup.study.evaluate import Evaluation
    from hybriddup.study.explanation import Explanation
    from hybriddup.study.tune import Tuned


class DataFrame(Protocol):
    """A data frame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> Any:
        """Names of the columns; for a pyarrow table, the columns themselves."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        ...


Posts = Iterable[str] | Iterable[Mapping[str, Any]] | DataFrame
"""A list of texts or of mappings such as dicts, a Hugging Face data set, or a data frame."""


def dedupe(
    posts: Posts,
    *,
    config: Config = DEFAULT_CONFIG,
    threshold: float | None = None,
    against: Posts | None = None,
    text_field: str = "text",
    id_field: str = "id",
    per: str | None = None,
    time_field: str = "created_at",
    workers: int | None = None,
    progress: bool = False,
    plugins: Iterable[str | ModuleType] = (),
) -> Result:
    """Decide which posts to keep, and which to remove because they repeat a kept one.

    Parameters
    ----------
    posts
        A list of str, a list of dicts, a pandas or polars DataFrame, a pyarrow Table, or a Hugging Face data set.
    config
        A shipped name (``posts``, ``weibo``, ...), the path of a YAML file, a dict of the keys to change, or
        `Settings`.
    threshold
        Lowest score, inclusive, that makes two posts duplicates: from 0.0 to 1.0 (the same text). It replaces the
        threshold of the verifier of each length band; None = as configured.
    against
        Other posts to compare with, such as the posts that an earlier run kept, in any of the forms of ``posts``. They
        are never removed, and counted only in ``n_against``. If a post of ``posts`` repeats one of them, its
        ``keeper_source`` is "against", and its ``keeper_row`` is the row of its keeper in ``against``.
    text_field, id_field
        Fields or columns with the text and the id; a post that has no id gets its row as id. A path such as ``user.id``
        is for nested fields; ``title + body`` joins two texts with a newline; ``full_text | text`` is the first of the
        two that is not empty.
    per
        A field or path, or several (``user.id + city``): only posts with the same values are compared. None = compare
        all posts.
    time_field
        Field with the time of a post, which a configuration with ``within`` needs.
    workers
        Number of threads, and of processes if a tokenizer needs them, 1 or more; None = one per core. Never changes the
        result.
    progress
        Whether to show progress on standard error.
    plugins
        Modules to load as plugins in addition to the installed ones, by name or as objects.

    Raises
    ------
    InputError
        The posts are not of a form described above; the message names the position of the first such post.
    ConfigError
        The configuration is invalid (the message lists every fault), ``workers`` is out of range, or ``threshold`` does
        not apply because several verifiers judge together.
    PluginError
        A plugin cannot be loaded, or breaks the contract of its role.

    Examples
    --------
    >>> import hybriddup
    >>> posts = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "明天下雨吗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]
    >>> [(post.row, post.keeper_row, post.reason) for post in hybriddup.dedupe(posts).removed]
    [(2, 0, 'near')]
    """
    from hybriddup.run.pipeline import run
    from hybriddup.run.terminal import COURSE_OF_A_RUN, show_progress

    settings, manager = begin(config, plugins, workers, threshold)
    times = () if settings.within is None else (time_field,)
    corpus = corpus_from_posts(posts, text_field, id_field, settings.order_fields, per, times)
    if against is not None:
        others = corpus_from_posts(against, text_field, id_field, (), per, times)
        corpus = put_before(corpus, [("against", others)])
    with show_progress(quiet=not progress, course=COURSE_OF_A_RUN) as shown:
        result = run(
            corpus,
            settings,
            manager.registry,
            workers=workers,
            progress=shown,
            config_name=config_name(config),
            per=per,
            time_field=time_field,
        )
    manager.run_finished(result)
    return result


def dedupe_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    config: Config = DEFAULT_CONFIG,
    threshold: float | None = None,
    mark: bool = False,
    counts: bool = False,
    authors: str | None = None,
    time_field: str = "created_at",
    against: str | Path | Sequence[str | Path] = (),
    against_text_field: str | None = None,
    removed: str | Path | None = None,
    clusters: str | Path | None = None,
    bad: str | Path | None = None,
    summary: str | Path | None = None,
    report: str | Path | None = None,
    save_recipe: str | Path | None = None,
    force: bool = False,
    text_field: str = "text",
    id_field: str = "id",
    per: str | None = None,
    format: str | None = None,  # noqa: A002  as the command names it
    encoding: str = "utf-8",
    delimiter: str | None = None,
    strict: bool = False,
    dry_run: bool = False,
    workers: int | None = None,
    progress: bool = False,
    plugins: Iterable[str | ModuleType] = (),
) -> Result:
    r"""Read posts from files, write the kept ones, and return the result; the same as ``hybriddup dedupe``.

    Parameters
    ----------
    inputs
        A file or directory of posts, or a list of these, read as one corpus in this order. ``-`` = standard input;
        ``sqlite:///posts.db?table=posts`` = a table or view of an SQLite database.
    output
        File for the kept posts in the input's format, or a table if the input is a table; None = ``INPUT.kept.EXT`` or
        ``TABLE_kept`` next to a single input.
    mark, counts, authors, time_field, removed, clusters, bad, summary, report, save_recipe, force, strict, dry_run
        As the options of ``hybriddup dedupe``. None = the file is not written, or ``authors`` are not added.
    against, against_text_field
        Files of posts that were kept earlier, and the name of their text field if it differs from ``text_field``.
    format, encoding, delimiter
        File format, encoding and field separator of the inputs. ``format=None`` = inferred from the file names,
        ``delimiter=None`` = detected from the first line, ``encoding="auto"`` = detected.
    config, threshold, text_field, id_field, per, workers, progress, plugins
        As for `dedupe`.

    Raises
    ------
    InputError
        A file cannot be read, or holds no posts.
    OutputError
        An output exists and ``force`` is false, or an output cannot be written. No output is changed then.
    ConfigError, PluginError
        As for `dedupe`.

    Examples
    --------
    >>> import hybriddup, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "posts.txt"
    ...     _ = path.write_text("good morning, all\nGood morning all!\n")
    ...     hybriddup.dedupe_files(path).kept, path.with_name("posts.kept.txt").read_text()
    ([0], 'good morning, all\n')
    """
    from hybriddup.files.inputs import ReadOptions
    from hybriddup.run.over_files import FileRun, run_over_files
    from hybriddup.run.terminal import COURSE_OF_A_RUN, show_progress

    def name(path: str | Path | None) -> str | None:
        return None if path is None else os.fspath(path)

    def names(paths: str | Path | Sequence[str | Path]) -> list[str]:
        return [os.fspath(one) for one in ([paths] if isinstance(paths, (str, Path)) else paths)]

    settings, manager = begin(config, plugins, workers, threshold)
    job = FileRun(
        inputs=names(inputs), output=name(output), mark=mark, counts=counts, authors=authors, time_field=time_field,
        against=names(against),
        against_text_field=against_text_field, removed=name(removed), clusters=name(clusters), bad=name(bad),
        summary=name(summary), report=name(report), save_recipe=name(save_recipe), force=force,
        text_field=text_field, id_field=id_field, per=per, strict=strict, dry_run=dry_run,
        reading=ReadOptions(format, encoding=encoding, delimiter=delimiter),
    )  # fmt: skip
    with show_progress(quiet=not progress, course=COURSE_OF_A_RUN) as shown:
        return run_over_files(
            job, settings, manager, workers=workers, progress=shown, config_name=config_name(config)
        ).result


def accounts(
    posts: Posts,
    *,
    user: str,
    within: str = "60s",
    min_texts: int = 1,
    config: Config = DEFAULT_CONFIG,
    text_field: str = "text",
    time_field: str = "created_at",
    workers: int | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> list[AccountPair]:
    """Find pairs of accounts that post the same texts within a given time; pairs with the most texts come first.

    Parameters
    ----------
    posts
        Mappings or a data frame, as for `dedupe`. Posts that lack a user or a time are in no pair.
    user, time_field
        Fields with the account and the time of a post, or paths such as ``user.id``.
    within
        Longest time between two posts, such as ``60s`` or ``1h``.
    min_texts
        Minimum number of different texts that two accounts must have in common.
    config, text_field, workers, plugins
        As for `dedupe`.

    Raises
    ------
    InputError, ConfigError, PluginError
        As for `dedupe`; also if no post has a user, or none a time.

    Examples
    --------
    >>> import hybriddup
    >>> some = [("a", 0), ("b", 9)]
    >>> posts = [{"text": "Vote for the blue bench!", "user": user, "created_at": at} for user, at in some]
    >>> [(pair.account_a, pair.account_b, pair.n_texts) for pair in hybriddup.accounts(posts, user="user")]
    [('a', 'b', 1)]
    """
    from hybriddup.run.accounts import find_accounts

    settings, manager = begin(config, plugins, workers)
    corpus = corpus_from_posts(posts, text_field, "id", optional=(user, time_field))
    return find_accounts(corpus, settings, manager.registry, user, time_field, within, min_texts, workers)[0]


def fingerprint(
    texts: Sequence[str],
    *,
    config: Config = DEFAULT_CONFIG,
    workers: int | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> UInt64s:
    """Return uint64[n_texts, words]: the simhash of each text; bit ``b`` is bit ``b % 64`` of word ``b // 64``.

    A weighter that learns from a corpus learns from these texts. A text without tokens has the fingerprint 0, which is
    meaningless.

    Parameters
    ----------
    texts
        A sequence of str, which may be empty.
    config, workers, plugins
        As for `dedupe`.

    Raises
    ------
    ConfigError
        The configuration is invalid.
    InputError
        One of the texts is not a string.

    Examples
    --------
    >>> import hybriddup
    >>> hybriddup.fingerprint(["good morning"]).shape
    (1, 2)
    """
    from hybriddup.run.components import Components

    settings, manager = begin(config, plugins, workers)
    components = Components.create(settings, manager.registry, workers or available_workers())
    raw = corpus_from_posts(texts, "text", "id").texts

    def make() -> UInt64s:
        searched = components.searched(components.compared(components.normalizer.normalize_batch(raw)))
        components.fingerprinter.fit(searched)
        return components.fingerprinter.fingerprint(searched).bits

    return undisturbed(make)


def learn(
    posts: Posts,
    path: str | Path | None = None,
    *,
    config: Config = DEFAULT_CONFIG,
    text_field: str = "text",
    workers: int | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> LearnedRecipe:
    """Learn a recipe from posts and save it to a file: token weights, common shingles, and data of verifiers.

    Runs and windows whose configuration names the file (``recipe: FILE``) use it instead of learning from their own
    posts. They then make the same fingerprints and keys. Given the same posts in the same order, they remove the same
    posts with the same keepers.

    Parameters
    ----------
    posts
        As for `dedupe`; a few thousand typical posts are enough.
    path
        File for the recipe, which is written atomically; None = no file.

    Raises
    ------
    InputError, ConfigError, PluginError
        As for `dedupe`; also if there are no posts.
    OutputError
        The file could not be written.

    Examples
    --------
    >>> import hybriddup, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "recipe.npz"
    ...     recipe = hybriddup.learn(["good morning", "good night"], path)
    ...     hybriddup.dedupe(["good day", "good day"], config={"recipe": str(path)}).recipe.id == recipe.id
    True
    """
    from hybriddup.run.pipeline import learn as learn_recipe
    from hybriddup.run.recipe import RECIPE_IS_GIVEN

    target = None if path is None else os.path.join(Path.cwd(), path)  # noqa: PTH118  Path drops the / of a directory
    settings, manager = begin(config, plugins, workers)
    if settings.recipe is not None:
        raise ConfigError(RECIPE_IS_GIVEN)
    corpus = corpus_from_posts(posts, text_field, "id")
    if not corpus.texts:
        raise InputError("posts is empty; there is nothing to learn from.")
    recipe = learn_recipe(corpus, settings, manager.registry, workers)
    if target is not None:
        recipe.save(target)
    return recipe


def explain(
    a: str | int,
    b: str | int,
    *,
    run: Result | None = None,
    config: Config = DEFAULT_CONFIG,
    corpus: Sequence[str] | None = None,
    recipe: LearnedRecipe | str | Path | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> Explanation:
    """Explain why two texts, or two posts of a run, match or not: every step and the verdict.

    Parameters
    ----------
    a, b
        The earlier and the later text; or, with ``run``, two rows of the run.
    run
        A result of `dedupe`. Its settings, plugins and recipe are used, so the other options must be left out. The
        verdict includes the run's decision about the two rows. If the run kept only one of them, this row becomes A.
    corpus
        The texts of a run, in the order in which the run decided them.
    recipe
        The recipe that a run used or learned, as an object or a file: `Result.recipe`, or the result of `learn`.
        If none of run, corpus and recipe is given, distances and keys can differ from the values in a run, so that
        the run might not compare the pair. A verdict that depends on this includes a caution, and
        `Explanation.is_certain` is False.
    config, plugins
        As for `dedupe`.

    Raises
    ------
    ConfigError
        The configuration is invalid.
    InputError
        A text is not a string, a row does not exist, or options are given that cannot be combined.

    Examples
    --------
    >>> import hybriddup
    >>> hybriddup.explain("good morning, everybody", "good morning everybody!").matches
    True
    >>> result = hybriddup.dedupe(["good morning, everybody", "nothing like it", "Good morning everybody!"])
    >>> hybriddup.explain(0, 2, run=result).outcome
    'removed'
    """
    from hybriddup.run.recipe import load_recipe
    from hybriddup.study.explain import explain_rows, explain_texts

    if run is not None:
        if (config, corpus, recipe, tuple(plugins)) != (DEFAULT_CONFIG, None, None, ()):
            raise InputError("config, corpus, recipe and plugins must be left out with run, which has its own.")
        return explain_rows(a, b, run)
    if not isinstance(a, str) or not isinstance(b, str):
        name, found = ("b", b) if isinstance(a, str) else ("a", a)
        raise InputError(f"{name} must be a string, or with run a row; got {describe(found)}.")
    settings, manager = open_session(config, plugins)
    texts = None if corpus is None else corpus_from_posts(corpus, "text", "id").texts
    learned = load_recipe(recipe) if isinstance(recipe, (str, Path)) else recipe
    return explain_texts(a, b, settings, manager.registry, texts, recipe=learned)


def evaluate(
    pairs: Iterable[LabeledPair],
    *,
    config: Config = DEFAULT_CONFIG,
    workers: int | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> Evaluation:
    """Evaluate a configuration on labeled pairs: return precision, recall, F1, and the wrongly judged pairs.

    Parameters
    ----------
    pairs
        Tuples of two texts and a label, or mappings with ``a``, ``b`` and ``label``; True or 1 = the two are
        duplicates.
    config, workers, plugins
        As for `dedupe`.

    Raises
    ------
    ConfigError
        The configuration is invalid.
    InputError
        There are no pairs, or an item is not a labeled pair.

    Examples
    --------
    >>> import hybriddup
    >>> pairs = [("good morning, all", "Good morning all!", True), ("good morning, all", "see you at lunch", False)]
    >>> hybriddup.evaluate(pairs).total.decision.f1
    1.0
    """
    from hybriddup.study.evaluate import evaluate as evaluate_pairs
    from hybriddup.study.evaluate import label_pairs

    settings, manager = begin(config, plugins, workers)
    labeled = label_pairs(pairs)
    return undisturbed(lambda: evaluate_pairs(labeled, settings, manager.registry, workers=workers))


def tune(
    pairs: Iterable[LabeledPair],
    *,
    config: Config = DEFAULT_CONFIG,
    precision: float | None = None,
    workers: int | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> Tuned:
    """Fit a configuration to labeled pairs; return the new settings and their precision, recall and F1.

    Parameters
    ----------
    pairs
        As for `evaluate`; at least ten pairs with each label. A hundred pairs are enough to start with.
    precision
        Required precision, 0.0 to 1.0; None = maximize F1 only.
    config, workers, plugins
        As for `dedupe`.

    Raises
    ------
    ConfigError
        The configuration is invalid.
    InputError
        There are too few pairs, or an item is not a labeled pair.
    """
    from hybriddup.study.evaluate import label_pairs
    from hybriddup.study.tune import tune as tune_pairs

    settings, manager = begin(config, plugins, workers)
    labeled = label_pairs(pairs)
    return undisturbed(lambda: tune_pairs(labeled, settings, manager.registry, precision=precision, workers=workers))


def begin(
    config: Config, plugins: Iterable[str | ModuleType], workers: int | None, threshold: float | None = None
) -> tuple[Settings, PluginManager]:
    """Check the number of workers and resolve the configuration; return the settings and the plugin manager."""
    check_workers(workers)
    settings, manager = open_session(config, plugins)
    if threshold is not None:
        settings, _ = with_threshold(settings, threshold, config_name(config))
    return settings, manager


def config_name(config: Config) -> str:
    """Return the name of a configuration for summaries: its shipped name or path, or the kind of object."""
    if isinstance(config, (str, Path)):
        return str(config)
    return "Settings" if isinstance(config, Settings) else "a mapping"
