"""What an index is planned for, checked."""

from __future__ import annotations

from dataclasses import dataclass

from hybriddup.errors import ConfigError
from hybriddup.planner.distances import Distances, after_edits, at_distance

MAX_POSTS = 2**31 - 1
"""Rows are numbered with 32 bits."""
MAX_BITS = 512
MAX_EDIT_SHARE = 0.5


@dataclass(frozen=True)
class Question:
    """What an index is planned for."""

    n_posts: int
    """Posts in the index, 1 to `MAX_POSTS`."""
    bits: int
    """Width of a fingerprint, a multiple of 64, at most `MAX_BITS`."""
    distances: Distances
    """Of the pairs that ought to be found."""
    recall: float
    """Share of them that has to be found, inclusive, above 0.0 to 1.0."""
    memory: int | None = None
    """Bytes that the index may take at most; None = any."""


def make_question(
    n_posts: int,
    bits: int,
    *,
    max_hamming_distance: int | None = None,
    edit_share: float | None = None,
    recall: float = 0.99,
    memory: int | None = None,
) -> Question:
    """Return the question that these numbers ask.

    Parameters
    ----------
    max_hamming_distance
        Bits in which pairs differ, 0 to ``bits - 1``; or
    edit_share
        share of the characters that were edited, above 0.0 to `MAX_EDIT_SHARE`, by which their distances are modeled.

    Raises
    ------
    ConfigError
        A number is out of its range, or not exactly one of the two was given; the message names the option.
    """
    if n_posts > MAX_POSTS:
        raise ConfigError(
            f"--posts must be at most {MAX_POSTS:,}, because rows are numbered with 32 bits; got {n_posts:,}. "
            "Plan for parts, such as windows of time."
        )
    if not (64 <= bits <= MAX_BITS and bits % 64 == 0):
        raise ConfigError(f"--bits must be a multiple of 64 from 64 to {MAX_BITS}; got {bits}.")
    if not 0 < recall <= 1:
        raise ConfigError(f"--recall must be above 0 and at most 1; got {recall:g}.")
    distances = wanted_distances(bits, max_hamming_distance, edit_share, recall)
    return Question(n_posts, bits, distances, recall, memory)


def wanted_distances(bits: int, max_hamming_distance: int | None, edit_share: float | None, recall: float) -> Distances:
    """Return the distances of the pairs that ought to be found, by the one of the two that was given."""
    if (max_hamming_distance is None) == (edit_share is None):
        given = "neither" if edit_share is None else "both"
        raise ConfigError(
            "give either --max-hamming-distance, in bits, or --edit-share, the share of characters edited; "
            f"got {given} of them."
        )
    if max_hamming_distance is not None:
        if not 0 <= max_hamming_distance < bits:
            raise ConfigError(
                f"--max-hamming-distance must be from 0 to {bits - 1}, below --bits; got {max_hamming_distance}."
            )
        return at_distance(max_hamming_distance)
    if edit_share is None or not 0 < edit_share <= MAX_EDIT_SHARE:
        raise ConfigError(f"--edit-share must be above 0 and at most {MAX_EDIT_SHARE}; got {edit_share}.")
    if recall == 1:
        raise ConfigError(
            "--recall must be below 1 with --edit-share, because no limit holds every edited copy; got 1. "
            "Give --max-hamming-distance to plan for all pairs within a limit."
        )
    return after_edits(edit_share, bits, recall)
