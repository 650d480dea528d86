"""Measures, on synthetic posts and their edited copies, how many pairs share a shingle and how many bits differ."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from hybriddup.config import open_session
from hybriddup.run.components import Components
from hybriddup.steps.blocks import count_shared

N_POSTS = 400
"""Number of posts in each script, Chinese and Latin."""
LENGTHS = (30, 51)
"""Range of the length of a post in characters, upper bound exclusive."""
N_WORDS = 3000
"""Size of the vocabulary: Chinese characters or Latin words. Frequencies follow Zipf's law."""
LETTERS = list("etaoinshrdlcumwfgypbvk")


class EditedPairs(NamedTuple):
    """Measurements on pairs of a post and its edited copy."""

    share_a_key: float
    """Share of the pairs that share a key of the block index `shingles`, 0.0 to 1.0."""
    median: int
    """Median Hamming distance of the pairs, in bits."""
    limit: int
    """Hamming distance, in bits, that 99 % of the pairs do not exceed."""
    within_limit: float
    """Share of the pairs that differ in at most ``limit`` bits, 0.0 to 1.0."""

    def describe(self) -> str:
        """Return the measurements as a sentence."""
        return (
            f"Measured on {2 * N_POSTS} made-up posts and edited copies: {self.share_a_key:.4f} share a shingle; half "
            f"differ in up to {self.median} bits, 99 % in up to {self.limit}."
        )


def measure_edits(share: float, bits: int) -> EditedPairs:
    """Make synthetic posts and edited copies, and measure shared keys and Hamming distances of these pairs.

    Parameters
    ----------
    share
        Share of the characters that are edited, 0.0 to 1.0.
    bits
        Size of the fingerprints.
    """
    rng = np.random.default_rng(20)
    posts = [han_post(rng) for _ in range(N_POSTS)] + [latin_post(rng) for _ in range(N_POSTS)]
    copies = [edited(rng, post, share) for post in posts]
    settings, manager = open_session({"fingerprint": {"bits": bits}, "blocks": {"use": "shingles"}}, entry_points=False)
    parts = Components.create(settings, manager.registry, 1)
    parts.fingerprinter.fit(posts)
    parts.block_index.learn(posts)
    prints = [parts.fingerprinter.fingerprint(texts).bits for texts in (posts, copies)]
    keys = map(parts.block_index.keys, (posts, copies), prints)
    shared = np.array([count_shared(*pair) > 0 for pair in zip(*keys, strict=True)])
    distances = np.bitwise_count(prints[0] ^ prints[1]).sum(axis=1)
    median, limit = np.percentile(distances, (50, 99), method="higher").astype(int).tolist()
    return EditedPairs(float(shared.mean()), median, limit, float((distances <= limit).mean()))


def han_post(rng: np.random.Generator) -> str:
    """Return a post of Chinese characters with Zipfian frequencies."""
    return "".join(chr(0x4E00 + rank) for rank in ranks(rng, N_WORDS, int(rng.integers(*LENGTHS))))


def latin_post(rng: np.random.Generator) -> str:
    """Return a post of Latin words with Zipfian frequencies."""
    words = map(spell, ranks(rng, N_WORDS, LENGTHS[1]))
    return " ".join(words)[: int(rng.integers(*LENGTHS))].strip()


@cache
def spell(rank: int) -> str:
    """Make up a word of Latin letters for a frequency rank; the same rank always gives the same word."""
    rng = np.random.default_rng(rank)
    return "".join(LETTERS[at] for at in ranks(rng, len(LETTERS), int(rng.integers(2, 10))))


def ranks(rng: np.random.Generator, n_ranks: int, n: int) -> list[int]:
    """Draw ``n`` ranks below ``n_ranks``, distributed by Zipf's law."""
    chances = 1 / np.arange(2, n_ranks + 2)
    return rng.choice(n_ranks, n, p=chances / chances.sum()).tolist()  # type: ignore[no-any-return]


def edited(rng: np.random.Generator, post: str, share: float) -> str:
    """Return a copy of a post with random edits: replacements, deletions and insertions.

    ``share`` is the share of the post's characters that are edited, 0.0 to 1.0; at least one character is edited.
    """
    characters = list(post)
    for place in rng.choice(len(post), max(round(share * len(post)), 1), replace=False):
        other = post[int(rng.integers(len(post)))]
        characters[place] = (other, "", characters[place] + other)[int(rng.integers(3))]
    return "".join(characters)
