"""Drops residue, leftovers of platforms and crawlers in posts, by custom patterns that RE2 matches in linear time.

Python's own regular expressions can take years on one post, and a configuration may come from somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

LONE_SURROGATES = re.compile("([\ud800-\udfff]+)")
INSTALL = "pip install 'hybriddup[residue]'"


def compile_pattern(source: str, *, ignore_case: bool = False) -> Any:
    """Compile a pattern with RE2.

    Raises
    ------
    ValueError
        The pattern is invalid or matches an empty text, or google-re2 is not installed.
    """
    try:
        import re2
    except ImportError as error:
        raise ValueError(f"needs google-re2, which is not installed; run: {INSTALL}") from error
    options = re2.Options()
    options.log_errors, options.case_sensitive = False, not ignore_case
    try:
        pattern = re2.compile(source, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if isinstance(error, re2.error) else "it contains half of a surrogate pair"
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"must be a regular expression of RE2 ({shown})") from error
    if pattern.search("") is not None:
        raise ValueError("must not match an empty text")
    return pattern


def check_pattern(source: str) -> str:
    """Return ``source`` if it is a valid pattern; see `compile_pattern` for errors."""
    compile_pattern(source)
    return source


ResiduePattern = Annotated[str, Field(min_length=1), AfterValidator(check_pattern)]


def dropper(sources: Sequence[str], *, ignore_case: bool) -> Callable[[str], str]:
    """Return a function that replaces the matches of the patterns with spaces, one pattern after another."""
    patterns = [compile_pattern(source, ignore_case=ignore_case) for source in sources]

    def drop(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub(" ", text)
        return text

    def drop_between_surrogates(text: str) -> str:
        try:
            return drop(text)
        except UnicodeEncodeError:  # RE2 reads UTF-8, which cannot encode lone surrogates
            parts = LONE_SURROGATES.split(text)
            return "".join(part if place % 2 else drop(part) for place, part in enumerate(parts))

    return drop_between_surrogates
