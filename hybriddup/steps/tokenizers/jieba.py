"""Tokenizer `jieba`: Chinese words from a dictionary and, optionally, a hidden Markov model."""

from __future__ import annotations

import hashlib
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Literal

from hybriddup.data.records import Tokens, tokens_from_lists
from hybriddup.errors import ConfigError
from hybriddup.steps.options import Options as ComponentOptions
from hybriddup.steps.tokenizers.meaning import is_word

MAX_RUN = 500
"""Maximum length of a run without white space or punctuation that is passed to jieba, which takes time quadratic in the
length."""

_IN_RUN = r"\u4e00-\u9fd5a-zA-Z0-9+#&._%\-"  # characters that jieba itself does not split at
_RUN = re.compile(rf"[{_IN_RUN}]{{1,{MAX_RUN}}}+|[^{_IN_RUN}]++")

_LINE_RULE = "each line must be a word, one space and its frequency, in UTF-8"
_USER_LINE_RULE = "each line must be a word, or a word, one space and its frequency, in UTF-8"


class JiebaOptions(ComponentOptions):
    """Dictionaries and mode of `jieba`."""

    dictionary: Path | None = None
    """File that replaces jieba's own dictionary: a word, one space and its frequency per line."""
    user_dictionary: Path | None = None
    """File of words added to the dictionary: one word per line, optionally a space and its frequency; frequency 0
    splits the word. Write words in normalized form (lower case, simplified)."""
    hmm: bool = True
    """Whether words in no dictionary are guessed from their characters."""
    mode: Literal["exact", "search"] = "exact"
    """exact: each character is in one word; search: adds the shorter words in long words."""


class Jieba:
    """Splits texts into dictionary words; white space and punctuation are not tokens, as in the tokenizer `words`.

    Only the options are pickled for other processes; each process loads its dictionaries at first use.

    Raises
    ------
    ConfigError
        A dictionary cannot be opened (at construction) or parsed (with the first texts).

    Notes
    -----
    The dictionary is parsed in full, in half a second, instead of read from jieba's cache in the temporary directory:
    that cache is keyed by path and goes stale if the dictionary or jieba's version changes without a newer date. A
    process keeps the last dictionary that it parsed, for further tokenizers. The tokenizer behind ``jieba.cut`` is not
    affected, and jieba logs nothing.
    """

    Options = JiebaOptions
    holds_interpreter = True

    def __init__(self, options: JiebaOptions) -> None:
        self.options = options
        for option, path in self._dictionaries():
            with _opened(option, path):
                pass

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options only."""
        return type(self), (self.options,)

    def recipe(self) -> dict[str, str]:
        """Return jieba's version and the SHA-256 of each dictionary in use."""
        checksums = {}
        for option, path in self._dictionaries():
            with _opened(option, path) as file:
                checksums[option] = hashlib.sha256(file.read()).hexdigest()
        return {"jieba": version("jieba"), **checksums}

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the words of each text, in order; none for a text of only punctuation and white space."""
        tokenizer, forced_splits = self._segmenter
        with _forced_splits(forced_splits):
            return tokens_from_lists([self._words(text, tokenizer) for text in texts])

    def _words(self, text: str, tokenizer: Any) -> list[str]:
        cut = tokenizer.lcut_for_search if self.options.mode == "search" else tokenizer.lcut
        runs = _RUN.findall(text) if len(text) > MAX_RUN else [text]
        return [word for run in runs for word in cut(run, HMM=self.options.hmm) if is_word(word)]

    def _dictionaries(self) -> Iterator[tuple[str, Path]]:
        yield "dictionary", self.options.dictionary or _own_dictionary()
        if self.options.user_dictionary is not None:
            yield "user_dictionary", self.options.user_dictionary

    @cached_property
    def _segmenter(self) -> tuple[Any, set[str]]:
        """A `jieba.Tokenizer` with loaded dictionaries, and the words of frequency 0, which it must always split."""
        tokenizer = _import_jieba().Tokenizer()
        forced_splits: set[str] = set()
        for option, path in self._dictionaries():
            with _opened(option, path) as file, _forced_splits(forced_splits):
                _LOADERS[option](tokenizer, file, path)
        return tokenizer, forced_splits


def _own_dictionary() -> Path:
    spec = find_spec("jieba")
    if spec is None or spec.origin is None:
        raise ConfigError("tokenizer 'jieba' needs the package jieba, which is not installed; run: pip install jieba")
    return Path(spec.origin).with_name("dict.txt")


@contextmanager
def _opened(option: str, path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(
            f"tokenizer.{option}: cannot read {path}: {reason}. "
            "Give the path of a dictionary file, or leave the option out."
        ) from error


def _load_dictionary(tokenizer: Any, file: BinaryIO, path: Path) -> None:
    try:
        tokenizer.FREQ, tokenizer.total = _parsed(file.read(), str(path))
    except ValueError as error:
        raise _bad_dictionary("dictionary", path, _LINE_RULE, error) from error
    if tokenizer.total <= 0 or min(tokenizer.FREQ.values()) < 0:
        raise _bad_dictionary("dictionary", path, _LINE_RULE, "frequencies must be at least 0, and some greater")
    tokenizer.initialized = True  # so that jieba neither reads its own dictionary nor logs and caches it


@lru_cache(maxsize=1)
def _parsed(dictionary: bytes, name: str) -> tuple[dict[str, int], int]:
    """Return the frequency of each word and word prefix, and their sum; cached, so that tokenizers share the result.

    ``name`` is the file's name for messages.
    """
    file = BytesIO(dictionary)
    file.name = name
    frequencies, total = _import_jieba().Tokenizer().gen_pfdict(file)
    return frequencies, total


def _load_user_dictionary(tokenizer: Any, file: BinaryIO, path: Path) -> None:
    for number, line in enumerate(file, 1):
        if b"\t" in line:
            raise _bad_dictionary("user_dictionary", path, _USER_LINE_RULE, f"line {number} has a tab")
    file.seek(0)
    tokenizer.FREQ = tokenizer.FREQ.copy()
    try:
        tokenizer.load_userdict(file)
    except ValueError as error:
        raise _bad_dictionary("user_dictionary", path, _USER_LINE_RULE, error) from error


_LOADERS = {"dictionary": _load_dictionary, "user_dictionary": _load_user_dictionary}


def _bad_dictionary(option: str, path: Path, rule: str, fault: object) -> ConfigError:
    return ConfigError(f"tokenizer.{option}: {path} is not a jieba dictionary: {fault}; {rule}. Correct the file.")


@cache
def _import_jieba() -> Any:
    """Import jieba, ignoring warnings about its old code (escapes, `pkg_resources`)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    return jieba


_FORCED_SPLITS_LOCK = threading.RLock()


@contextmanager
def _forced_splits(words: set[str]) -> Iterator[None]:
    """Make jieba's model split exactly these words within the ``with`` block.

    jieba has one set of words to split per process, and user dictionaries add to it. Without this function, the
    dictionary of one tokenizer would change the words of another tokenizer.
    """
    finalseg = _import_jieba().finalseg
    with _FORCED_SPLITS_LOCK:
        before = finalseg.Force_Split_Words
        finalseg.Force_Split_Words = words
        try:
            yield
        finally:
            finalseg.Force_Split_Words = before
