"""The Python API, from `dedupe` to `tune`. Each call makes its own components; nothing is global."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hybriddup.config.load import DEFAULT_CONFIG, Config, open_session, with_threshold
from hybriddup.config.settings import Settings
from hybriddup.data.corpus import put_before
from hybriddup.data.frames import corpus_from_posts, describe
from hybriddup.data.records import UInt64s
from hybriddup.errors import ConfigError, InputError
from hybriddup.steps.parallel import available_workers, check_workers, undisturbed

LabeledPair = tuple[str, str, bool] | Mapping[str, Any]
"""Two texts, and whether they should be duplicates."""

if TYPE_CHECKING:
    from hybriddup.run.recipe import LearnedRecipe
    from hybriddup.run.result import Result
    from hybriddup.study.evaluate import Evaluation
    from hybriddup.study.explanation import Explanation
    from hybriddup.study.tune import Tuned


def dedupe(
    posts: Any,
    *,
    config: Config = DEFAULT_CONFIG,
    threshold: float | None = None,
    against: Any = None,
    text_field: str = "text",
    id_field: str = "id",
    per: str | None = None,
    workers: int | None = None,
    progress: bool = False,
    plugins: Iterable[str | ModuleType] = (),
) -> Result:
    """Return which posts stay and which repeat an earlier one that stays.

    Parameters
    ----------
    posts
        A list of str, a list of dicts, a DataFrame of pandas or polars, or a data set of Hugging Face.
    config
        A shipped name (``posts``, ``weibo``, ...), the path of a YAML file, a dict that names what it changes, or
        `Settings`.
    threshold
        The lowest score that makes two posts duplicates, 0.0 to 1.0 = same, inclusive; None = as the configuration
        says. It is that of the verifier of each length band.
    against
        Other posts, in any of these forms, such as those kept before: what repeats one of them is removed. They are all
        keepers, whatever they repeat, and in no count but ``n_against``. A post that one of them removes has
        ``keeper_source`` "against", and ``keeper_row`` counts among them.
    text_field, id_field
        Where dicts and data frames hold the text and the id; the row is the id of a post that has none. A path such as
        ``user.id`` reaches into fields; ``title + body`` is the text of both, with a line end between them.
    per
        A field, or a path: a post repeats only posts with the same value of it. None = any post.
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
        The configuration cannot be used, and the message names every fault; or ``workers`` is no number of workers; or
        there is no one threshold to set, where several verifiers judge together.
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

    check_workers(workers)
    settings, manager = open_session(config, plugins)
    if threshold is not None:
        settings, _ = with_threshold(settings, threshold, config_name(config))
    corpus = corpus_from_posts(posts, text_field, id_field, settings.order_fields, per)
    if against is not None:
        corpus = put_before(corpus, [("against", corpus_from_posts(against, text_field, id_field, (), per))])
    with show_progress(quiet=not progress, course=COURSE_OF_A_RUN) as shown:
        result = run(
            corpus,
            settings,
            manager.registry,
            workers=workers,
            progress=shown,
            config_name=config_name(config),
            per=per,
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

    Parameters
    ----------
    texts
        Any number of them.
    config, workers, plugins
        As for `dedupe`.

    Raises
    ------
    ConfigError
        The configuration cannot be used.
    InputError
        Something among the texts is none.

    Examples
    --------
    >>> import hybriddup
    >>> hybriddup.fingerprint(["good morning"]).shape
    (1, 2)
    """
    from hybriddup.run.components import Components

    check_workers(workers)
    settings, manager = open_session(config, plugins)
    components = Components.create(settings, manager.registry, workers or available_workers())
    raw = corpus_from_posts(texts, "text", "id").texts

    def make() -> UInt64s:
        compared = components.compared(components.normalizer.normalize_batch(raw))
        components.fingerprinter.fit(compared)
        return components.fingerprinter.fingerprint(compared).bits

    return undisturbed(make)


def learn(
    posts: Any,
    path: str | Path | None = None,
    *,
    config: Config = DEFAULT_CONFIG,
    text_field: str = "text",
    workers: int | None = None,
    plugins: Iterable[str | ModuleType] = (),
) -> LearnedRecipe:
    """Return what a configuration learns from posts, and save it to a file.

    That is the weights of tokens, the common shingles, and what verifiers learn. Runs and windows whose configuration
    names the file (``recipe: FILE``) go by it instead of learning from their own posts, so that they make the same
    fingerprints and keys, and in the same order remove the same posts with the same keepers.

    Parameters
    ----------
    posts
        As for `dedupe`; a few thousand that are like those to come are enough.
    path
        The file, which appears whole or not at all; None = nothing is written.

    Raises
    ------
    InputError, ConfigError, PluginError
        As for `dedupe`; and there are no posts.
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
    from hybriddup.run.components import Components
    from hybriddup.run.pipeline import Run
    from hybriddup.run.progress import Clock
    from hybriddup.run.recipe import RECIPE_IS_GIVEN

    check_workers(workers)
    target = None if path is None else os.path.join(Path.cwd(), path)  # noqa: PTH118  Path drops the / of a directory
    settings, manager = open_session(config, plugins)
    if settings.recipe is not None:
        raise ConfigError(RECIPE_IS_GIVEN)
    n_workers = workers or available_workers()
    corpus = corpus_from_posts(posts, text_field, "id")
    if not corpus.texts:
        raise InputError("posts is empty; there is nothing to learn from.")
    learner = Run(Components.create(settings, manager.registry, n_workers), n_workers, Clock())
    recipe = undisturbed(lambda: learner.learn(corpus))
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
    """Return each step for two texts, or for two posts of a run, and the verdict.

    Parameters
    ----------
    a, b
        The earlier text and the later one; or, with ``run``, two rows of it.
    run
        What `dedupe` returned. Its settings, its plugins and what it learned are used, so that the other options must
        be left out, and the verdict says what it did with the two rows. A row that it kept becomes A.
    corpus
        The texts of a run, in the order in which they were decided.
    recipe
        What a run learned, or a file with it: `Result.recipe`, or what `learn` returned or saved. Without run, corpus
        and recipe, distances and keys can differ from those of a run, which may not look at the pair; the verdict says
        so where it matters, and `Explanation.is_certain` is False.
    config, plugins
        As for `dedupe`.

    Raises
    ------
    ConfigError
        The configuration cannot be used.
    InputError
        Something among the texts is none; a row is not one of the run; or options are given that do not go together.

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
    """Return how well a configuration decides about labeled pairs: precision, recall, F1, and the pairs judged wrongly.

    Parameters
    ----------
    pairs
        Tuples of two texts and a label, or mappings with ``a``, ``b`` and ``label``; True or 1 = the two should be
        duplicates.
    config, workers, plugins
        As for `dedupe`.

    Raises
    ------
    ConfigError
        The configuration cannot be used.
    InputError
        There are no pairs, or one of them is none.

    Examples
    --------
    >>> import hybriddup
    >>> pairs = [("good morning, all", "Good morning all!", True), ("good morning, all", "see you at lunch", False)]
    >>> hybriddup.evaluate(pairs).total.decision.f1
    1.0
    """
    from hybriddup.study.evaluate import evaluate as evaluate_pairs
    from hybriddup.study.evaluate import label_pairs

    check_workers(workers)
    settings, manager = open_session(config, plugins)
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
    """Return a configuration that was fitted to labeled pairs (``settings``), and what it reaches.

    Parameters
    ----------
    pairs
        As for `evaluate`; at least ten of either label, and a hundred are enough to begin with.
    precision
        0.0 to 1.0: share of the pairs called duplicates that should be; None = the best F1 is taken.
    config, workers, plugins
        As for `dedupe`.

    Raises
    ------
    ConfigError
        The configuration cannot be used.
    InputError
        There are too few pairs, or one of them is none.
    """
    from hybriddup.study.evaluate import label_pairs
    from hybriddup.study.tune import tune as tune_pairs

    check_workers(workers)
    settings, manager = open_session(config, plugins)
    labeled = label_pairs(pairs)
    return undisturbed(lambda: tune_pairs(labeled, settings, manager.registry, precision=precision, workers=workers))


def config_name(config: Config) -> str:
    """Return how a summary names a configuration: its name or path, or what kind of object it was."""
    if isinstance(config, (str, Path)):
        return str(config)
    return "Settings" if isinstance(config, Settings) else "a mapping"
