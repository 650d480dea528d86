"""The index of a live window alone: how long a look-up takes with adding, how much memory, and what is found.

python -m tests.benchmarks.live_index exact|short [--posts 50000000] [--windows 1.0] [--workers 2]

``exact``: 64-bit fingerprints, four blocks of 16 bits in tables; pairs that differ in 3 bits are planted. ``short``:
128-bit fingerprints and posting lists of 12 shingles a post, drawn as they come in Weibo posts (`KeyModel`). Its pairs
share as many as posts of which 10 % of the characters were edited, and 14 % of their bits differ; they are planted
twice: of realistic sums, where a bit differs the likelier the nearer its sum is to zero, and of flips at random.

The window is filled, kept full for so many windows' worth of posts, and then measured with copies of what was planted:
one by one, and in batches of 256.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import NO_KEY, Float64s, Int64s, UInt64s
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks
from hybriddup.steps.blocks.shingles import Shingles
from hybriddup.steps.candidates import Batch
from hybriddup.steps.parallel import available_workers
from hybriddup.window.index import LiveIndex, WindowSize
from hybriddup.window.index.live_indexes import make_live_index
from tests.benchmarks.tools import memory_mb
from tests.builders import Fingerprints, make_batch, make_limits, with_keys

FILLED_AT_ONCE = 2**14
BATCH = 256
SHARE = 0.14
"""Share of the bits that differ in a pair of ``short``."""
N_KEYS = 12
TAIL, MOST_LIKELY = 0.74, 1.73e-5
"""There are C / p^(1 + TAIL) keys of a chance about p, up to the largest. Of 300,000 Weibo posts this has as many
different keys as there are, within 2 %, at each doubling from 9,375 posts on, without the common ones. It says 62
million of 50 million posts."""
COMMON_SHARE, N_COMMON = 0.084, 5000
"""Keys that 6,000 posts show to be common, and how many there are; they come after all others."""
SHARED = (44, 35, 55, 161, 416, 898, 1648, 2283, 2281, 1441, 561, 165, 15)
"""Of 10,000 Weibo posts of which 10 % of the characters were replaced, how many share no key, one, and so on."""
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class KeyModel:
    """Draws the shingles of texts: uint64[n, N_KEYS], rising, each once; `NO_KEY` where there are fewer."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def keys(self, n: int) -> UInt64s:
        """Return the keys of texts."""
        chances = MOST_LIKELY * np.maximum(self.rng.random((n, N_KEYS)), 1e-9) ** (1 / (1 - TAIL))
        scale = (1 - TAIL) / TAIL * MOST_LIKELY ** (TAIL - 1)
        ranks = np.minimum(scale * (chances**-TAIL - MOST_LIKELY**-TAIL), 2.0**62).astype(np.uint64)
        keys = spread(ranks)
        is_common = self.rng.random((n, N_KEYS)) < COMMON_SHARE
        commons = (N_COMMON ** self.rng.random(int(is_common.sum()))).astype(np.uint64)
        keys[is_common] = spread(commons) | np.uint64(1 << 31)
        return each_once(keys)

    def edited(self, keys: UInt64s) -> UInt64s:
        """Return the keys of edited copies: some of those given, and new ones."""
        shares = np.cumsum(SHARED) / sum(SHARED)
        n_shared = np.searchsorted(shares, self.rng.random(len(keys)))
        ranks = self.rng.random(keys.shape).argsort(axis=1).argsort(axis=1)
        new = self.rng.integers(0, 2**31, keys.shape, np.uint64)
        return each_once(np.where(ranks < n_shared[:, None], keys, new))


def spread(ranks: UInt64s) -> UInt64s:
    """Return 31 bits for each rank."""
    return ranks * SPREAD >> np.uint64(33)


def each_once(keys: UInt64s) -> UInt64s:
    """Return the keys rising, each once in its row."""
    keys = np.sort(keys, axis=1)
    keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = NO_KEY
    return keys


class Setting(NamedTuple):
    """What is measured."""

    bits: int
    limit: int
    kinds: tuple[str, ...]
    """How pairs are planted."""
    blocks: BlockIndex

    def texts(self, first: int, bits: UInt64s, keys: UInt64s) -> Batch:
        """Return texts at positions from ``first`` on; shingles are as given, other keys are of the fingerprints."""
        limits = make_limits(len(bits), lengths=40, max_hamming_distances=self.limit)
        prints = Fingerprints(np.arange(first, first + len(bits)), bits, limits)
        if not self.blocks.reads_texts:
            return with_keys(prints, None, self.blocks)
        more = (self.blocks.n_keys or N_KEYS) - keys.shape[1]
        keys = np.pad(keys, ((0, 0), (0, more)), constant_values=np.uint64(NO_KEY))
        return make_batch(prints, None, keys, keys)


SETTINGS = {
    "exact": Setting(64, 3, ("within 3 bits",), Blocks(Blocks.Options())),
    "short": Setting(128, 36, ("realistic sums", "random flips"), Shingles(Shingles.Options())),
}


class Sample:
    """Posts of the window that copies are made of."""

    def __init__(self, n: int, setting: Setting) -> None:
        self.rng, self.model = np.random.default_rng(1), KeyModel(2)
        self.setting = setting
        self.sums = self.rng.standard_normal((n, setting.bits))
        self.keys = self.model.keys(n)
        self.positions = np.zeros(n, np.int64)

    def copies(self, rows: Int64s, kind: str, first: int) -> Batch:
        """Return copies: of ``exact`` with 3 bits flipped; of ``short`` by their sums, or with 14 % flipped."""
        sums = self.sums[rows]
        if kind == "realistic sums":
            rho = np.cos(np.pi * SHARE)
            copied = rho * sums + np.sqrt(1 - rho**2) * self.rng.standard_normal(sums.shape)
        else:
            n_flips = round(SHARE * self.setting.bits) if kind == "random flips" else self.setting.limit
            order = np.argsort(self.rng.random(sums.shape), axis=1)[:, :n_flips]
            copied = sums.copy()
            np.put_along_axis(copied, order, -np.take_along_axis(sums, order, axis=1), axis=1)
        return self.setting.texts(first, bits_of(copied), self.model.edited(self.keys[rows]))


def bits_of(sums: Float64s) -> UInt64s:
    """Return uint64[n, words]: a bit is 1 where its sum is above zero."""
    return np.packbits(sums > 0, axis=1, bitorder="little").view(np.uint64)


def fill(index: LiveIndex, n_posts: int, windows: float, sample: Sample) -> tuple[int, float]:
    """Fill the window, keep it full for some windows' worth, and plant the sample.

    Returns the next position, and how many seconds adding took.
    """
    rng, setting, total, seconds = np.random.default_rng(0), sample.setting, int(n_posts * max(windows, 1.0)), 0.0
    sample.positions[:] = np.linspace(total - 0.9 * n_posts, total - 1, len(sample.sums))
    planted = bits_of(sample.sums)
    for first in range(0, total, FILLED_AT_ONCE):
        n = min(FILLED_AT_ONCE, total - first)
        bits = rng.integers(0, 2**64, (n, setting.bits // 64), np.uint64)
        keys = sample.model.keys(n) if setting.blocks.reads_texts else np.zeros((n, 0), np.uint64)
        rows = np.flatnonzero((sample.positions >= first) & (sample.positions < first + n))
        bits[sample.positions[rows] - first] = planted[rows]
        if setting.blocks.reads_texts:
            keys[sample.positions[rows] - first] = sample.keys[rows]
        texts = setting.texts(first, bits, keys)
        start = time.perf_counter()
        add(index, texts, n_posts)
        seconds += time.perf_counter() - start
    return total, seconds


def add(index: LiveIndex, texts: Batch, n_posts: int) -> None:
    """Add texts, all of them kept, and let as many of the oldest go as are more than a window's."""
    index.add(texts, np.ones(len(texts), np.bool_))
    index.forget_before(int(texts.positions[-1]) + 1 - n_posts)


def measure(
    index: LiveIndex, first: int, n_posts: int, sample: Sample, n_measured: int
) -> tuple[dict[int, list[float]], dict[str, float]]:
    """Look copies up and add them, one by one and in batches.

    Returns the seconds a post by the size of batches, and the share that is found of each kind of planted pairs.
    """
    position, found = first, {}
    seconds: dict[int, list[float]] = {1: [], BATCH: []}
    for kind in sample.setting.kinds:
        hits: list[bool] = []
        for size, n in ((1, n_measured), (BATCH, n_measured // 16)):
            for _ in range(n):
                rows = sample.rng.integers(0, len(sample.sums), size)
                texts = sample.copies(rows, kind, position)
                start = time.perf_counter()
                near = index.look_up(texts)
                add(index, texts, n_posts)
                seconds[size].append((time.perf_counter() - start) / size)
                position += size
                met = set(zip(near.earlier.tolist(), near.later.tolist(), strict=True))
                hits += [(earlier, later) in met for later, earlier in enumerate(sample.positions[rows].tolist())]
        found[kind] = float(np.mean(hits))
    return seconds, found


def latencies(seconds: list[float]) -> str:
    """Return mean, median, 99th percentile and the most, without the first tenth, in which kernels are compiled."""
    kept = np.array(seconds[len(seconds) // 10 :])
    values = zip(("mean", "p50", "p99", "most"), (kept.mean(), *np.quantile(kept, [0.5, 0.99, 1.0])), strict=True)
    return "  ".join(f"{name} {1e6 * value:8.1f} us" for name, value in values)


def main(arguments: list[str] | None = None, show: Callable[[str], None] = print) -> None:
    """Fill a window, measure it, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setting", choices=SETTINGS)
    parser.add_argument("--posts", type=int, default=50_000_000)
    parser.add_argument("--windows", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=available_workers())
    parser.add_argument("--measured", type=int, default=4000, help="posts that are measured one by one")
    chosen = parser.parse_args(arguments)
    setting = SETTINGS[chosen.setting]
    setting.blocks.prepare(setting.bits, setting.limit)
    sample = Sample(min(4096, chosen.posts // 4), setting)
    before = memory_mb("VmRSS")
    index = make_live_index(setting.blocks, WindowSize(chosen.posts, setting.bits, chosen.workers))
    show(f"shape       {index.report.shape}, held by {type(index).__name__}")
    position, seconds = fill(index, chosen.posts, chosen.windows, sample)
    show(f"filled      {position:,} posts, {1e9 * seconds / position:.0f} ns a post to add")
    measured, found = measure(index, position, chosen.posts, sample, chosen.measured)
    show(f"one by one  {latencies(measured[1])}")
    show(f"batches     {latencies(measured[BATCH])}  (a post of {BATCH})")
    for kind, share in found.items():
        show(f"found       {share:.4f} of the pairs planted, {kind}")
    show(f"limits hit  {index.report.limits_hit}")
    resident = (memory_mb("VmRSS") - before) * 2**20
    show(f"memory      {index.n_bytes / 1e9:.3f} GB of arrays, {resident / 1e9:.3f} GB resident")
    show(f"texts       {index.n_texts:,}")


if __name__ == "__main__":
    main()
