"""Tokenize: text -> tokens, the features whose hashes make the fingerprint."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from hybriddup.data.records import Tokens


@runtime_checkable
class Tokenizer(Protocol):
    """Splits texts into tokens; a pure function of each text, and picklable with its options."""

    holds_interpreter: bool
    """Whether tokenizing holds the interpreter lock, so that more workers need processes instead of threads."""

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the tokens of each text, in order; a text may have none."""
        ...
