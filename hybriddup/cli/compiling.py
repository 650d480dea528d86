"""Compiles kernels in a second process while the first run of a command compiles others.

numba compiles one kernel at a time, even with several threads. So another process begins with the kernels that the
command needs last. Both processes store their kernels in the same folder; if both need the same kernel, one waits for
the other.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from subprocess import DEVNULL

import numpy as np

from hybriddup.cli.stopping import on_stop
from hybriddup.config.load import load_settings
from hybriddup.data.records import NO_SKETCHES, CandidatePairs, Int64s, characters_between, text_lengths
from hybriddup.kernels.cache import FOLDER
from hybriddup.kernels.search.group_search import Queries
from hybriddup.kernels.search.pair_limits import text_columns
from hybriddup.kernels.search.rings import make_rings
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.run.components import Components
from hybriddup.run.progress import note_compiling
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import search_texts
from hybriddup.steps.parallel import available_workers

COMPILE = f"import sys; from {__name__} import compile_last_kernels; compile_last_kernels(sys.argv[1])"

N_POSTS = 1500
SEED = 0
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyzABCDEFG 0123456789.,!é",
    characters_between(0x4E00, 0x5200),
    "가나다라마바사아자차카",
)
LENGTHS = (3, 9, 18, 35, 70, 150, 600)
"""Lengths of the artificial posts in characters: some in every length band of the shipped configurations, and some
above 64, because such texts are compared by other kernels."""


@contextmanager
def compiling_together(config: str) -> Iterator[None]:
    """When the first kernel is compiled in the ``with`` block, start a process that compiles others at the same time.

    It compiles the kernels that a run with ``config`` calls last, and is killed at the end of the block. No process is
    started on a machine with one processor, or if kernels are not cached on disk.
    """
    if FOLDER is None or available_workers() == 1:
        yield
        return
    started: list[subprocess.Popen[bytes]] = []

    def start(_: str) -> None:
        command = [sys.executable, "-P", "-c", COMPILE, config]
        started.append(subprocess.Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL))  # noqa: S603  this program

    def stop(_: int = 0) -> None:
        for process in started:
            process.kill()
            process.wait()

    on_stop(stop)
    try:
        with note_compiling(start):
            yield
    finally:
        stop()


def compile_last_kernels(config: str) -> None:
    """Compile the kernels that a run with this configuration needs last: for guards, search and verification."""
    texts, manager = made_up_posts(), create_plugin_manager(entry_points=False)
    parts = Components.create(load_settings(config, manager), manager.registry, 1)
    later = np.arange(1, len(texts))
    parts.bands.guards.refuse(texts, later - 1, later, np.zeros(len(later), np.int32))
    search(parts, texts, later)
    context = parts.verifier_context(texts, texts, 1)
    parts.plan.prepare(context, is_learned=False)
    parts.bands.verify(CandidatePairs(later - 1, later, np.zeros(len(later), np.int32)), context)


def search(parts: Components, texts: Sequence[str], rows: Int64s) -> None:
    """Compile the kernels of the search, by looking up the texts at the indices ``rows`` in an empty ring buffer."""
    bits = np.zeros((len(texts), parts.settings.fingerprint.bits // 64), np.uint64)
    limits, kinds = parts.bands.limits_by_length(text_lengths(texts))
    columns = text_columns(bits, limits, NO_SKETCHES, kinds)
    rings, starts = make_rings(np.ones(1, np.uint32), len(texts))
    probes = np.repeat(starts[:1], len(rows))[:, None]
    search_texts(columns, Queries(rows, probes, np.zeros((0, 0), np.int32)), rings, 1, BlockReport())


def made_up_posts() -> list[str]:
    """Return artificial posts in several scripts and lengths, some with emoji; every third is an edited copy."""
    random = Random(SEED)  # noqa: S311  texts, not secrets
    posts: list[str] = []
    for i in range(N_POSTS):
        alphabet = ALPHABETS[i % len(ALPHABETS)]
        if i % 3 == 2:
            original = random.choice(posts)
            posts.append(original[:-1] + random.choice(alphabet))
        else:
            posts.append("".join(random.choices(alphabet, k=random.choice(LENGTHS))))
    return [*posts, "#early 👍 @you", "#late 👍 @you"]  # little text: emoji and mentions take no part in keys
