"""The explanation of a pair, for people: the steps of each text, what was compared, and the verdict."""

from __future__ import annotations

import typer

from hybriddup.cli.tables import print_table
from hybriddup.study.explain import MOST_REASONS, ExplainedText, Explanation


def print_explanation(explanation: Explanation) -> None:
    """Print the steps of both texts, what was compared, and the verdict."""
    print_table(_text_rows(explanation.a, explanation.b), title="A")
    print_table(_text_rows(explanation.b, explanation.a), title="B")
    print_table(_pair_rows(explanation), title="A and B")
    typer.secho(explanation.verdict, fg="green" if explanation.matches else "yellow")


def _text_rows(text: ExplainedText, other: ExplainedText) -> list[list[str]]:
    others = {token for token, _ in other.tokens}
    return [
        ["text", _shown(text.text)],
        ["normalized", _shown(text.normalized)],
        ["compared", f"{_shown(text.compared)}  ({text.length} characters)"],
        ["tokens", _tokens(text.tokens)],
        ["not in other", _tokens([(token, weight) for token, weight in text.tokens if token not in others])],
        ["fingerprint", text.fingerprint],
    ]


def _tokens(tokens: list[tuple[str, float]]) -> str:
    spelled = (f"{_shown(token).replace(' ', '␣')} {weight:.3g}" for token, weight in tokens)
    return " | ".join(spelled) or "none"


def _pair_rows(explanation: Explanation) -> list[list[str]]:
    limit = explanation.max_hamming_distance
    allowed = f"at most {limit} allowed" if limit is not None else "exact repeats only"
    return [
        ["length band", f"{explanation.length_band}, of the shorter text"],
        ["distance", f"{explanation.hamming_distance} bits differ, {allowed}"],
        ["block keys", _keys(explanation)],
        ["numbers", "the same" if explanation.numbers_match else "different"],
        ["second look", _score(explanation)],
        *([["" if place else "because", reason] for place, reason in enumerate(explanation.reasons[:MOST_REASONS])]),
    ]


def _keys(explanation: Explanation) -> str:
    if explanation.keys_in_common is None:
        return "not told by this block index"
    return f"{explanation.keys_in_common} of {explanation.n_keys} in common ({explanation.block_index})"


def _score(explanation: Explanation) -> str:
    if explanation.score is None or explanation.threshold is None:
        return "none"
    reached = "reaches" if explanation.score >= explanation.threshold else "is under"
    return f"{explanation.verifier} score {explanation.score:.4g} {reached} the threshold {explanation.threshold:g}"


def _shown(text: str) -> str:
    """Return a text with line ends, lone surrogates and other invisible characters as escapes."""
    return text if text.isprintable() else repr(text)[1:-1]
