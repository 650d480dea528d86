"""Compiling ahead: the kernels are compiled where they run first and kept in numba's cache.

What numba compiles is for one processor and one version of the source, so a package cannot bring it along. It is
compiled at first use, which tells the user so, or beforehand by `hybriddup warm-up`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import numpy as np

from hybriddup.config.load import load_settings
from hybriddup.config.settings import Settings
from hybriddup.corpus import Corpus
from hybriddup.pipeline import run
from hybriddup.plugin.manager import PluginManager

N_POSTS = 1500
SEED = 0
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyzABCDEFG 0123456789.,!é",
    "".join(map(chr, range(0x4E00, 0x5200))),
    "가나다라마바사아자차카",
)
LENGTHS = (3, 9, 18, 35, 70, 150, 600)
"""Characters of the posts: in every length band of the shipped configurations, and past the 64 bits of a word."""
TABLES = {"use": "tables", "key_bits": 8}
"""Tables of a fixed shape, because only corpora too large for a warm-up get them by themselves."""


def compile_kernels(names: Iterable[str], manager: PluginManager) -> Iterator[str]:
    """Compile all that runs with some configurations need, and yield the name of each when that is done.

    Posts made up here are deduplicated, once as a small corpus and once with the block index of a large one. Kernels
    are compiled for the types that they are called with, so calling them as a run does is the sure way.
    """
    texts = made_up_posts()
    corpus = Corpus(texts, range(len(texts)), np.arange(len(texts)), n_rows=len(texts))
    for name in names:
        for settings in variants(load_settings(name, manager), manager):
            run(corpus, settings, manager.registry, config_name=name)
        yield name


def variants(settings: Settings, manager: PluginManager) -> list[Settings]:
    """Return settings as they are, and with tables where only the size of the corpus keeps them from being used."""
    if settings.blocks.use != TABLES["use"]:
        return [settings]
    return [settings, load_settings({**settings.to_dict(), "blocks": TABLES}, manager)]


def made_up_posts() -> list[str]:
    """Return posts in several scripts and of many lengths, each third an edited copy of an earlier one."""
    random = Random(SEED)  # noqa: S311  texts, not secrets
    posts: list[str] = []
    for i in range(N_POSTS):
        alphabet = ALPHABETS[i % len(ALPHABETS)]
        if i % 3 == 2:
            original = random.choice(posts)
            posts.append(original[:-1] + random.choice(alphabet))
        else:
            posts.append("".join(random.choices(alphabet, k=random.choice(LENGTHS))))
    return posts
