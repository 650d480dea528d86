"""The text of the package avoids idioms that make it hard to read.

Each idiom has an ordinary sense that is fine, so the test has a ceiling and not a ban.
"""

import re

from tests.docs.markdown import ROOT

CEILING = 30
"""Number of idioms in `hybriddup` now; lower it when the number falls."""
IDIOMS = {
    r"\bask(s|ed|ing)?\b|_asked\b|\bAsked\b": "query, request, or the name of the thing",
    r"\bstands?\b|\bstanding\b": "is, follows, is stored",
    r"\b(that|those) of\b": "repeat the noun, or split the sentence",
    r"\bt(old|ells?|elling)\b": "encodes, stores, determines, records",
    r"\bsa(id|ys)\b": "states, contains, records",
    r"\bso (many|much|few)\b": "n, up to N, at most N",
    r"\bbesides?\b": "next to, with, in addition to",
    r"\bof which\b": "repeat the noun, or split the sentence",
    r"\bgo(es)? by\b": "depends on, uses, is ordered by",
    r"\b[Ww]hat (is|was|are|were|comes?|came|becomes?|became)\b": "the noun: the difference, the result, the outcome",
    r"\bwhere (there|none|it|they|one)\b": "if there is none, if",
    r"\b[A-Z_]+_A_(BATCH|SLICE|TIME|PART)\b|\b[a-z_]+_a_(batch|slice|time|part)\b": "texts_per_batch",
}
"""Patterns of idioms in docstrings, comments, messages and names, with what to write instead."""


def test_the_number_of_idioms_does_not_grow() -> None:
    """Write for a colleague who has not seen the code: the noun and the verb, in the words of the field."""
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}; write: {instead}"
        for path in sorted((ROOT / "hybriddup").rglob("*.py"))
        for text in [path.read_text("utf-8")]
        for pattern, instead in IDIOMS.items()
        for match in re.finditer(pattern, text)
    ]
    advice = (
        f"{len(found)} idioms in hybriddup, {CEILING} allowed. Rewrite the sentences that you added (CONTRIBUTING.md, "
        "plain English). If every one is meant in its ordinary sense, raise CEILING with the reason in the commit."
    )
    assert len(found) <= CEILING, "\n".join([advice, *found])
