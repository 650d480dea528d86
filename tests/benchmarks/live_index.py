"""The index of a live window alone: how long a look-up takes with adding, how much memory, and what is found.

python -m tests.benchmarks.live_index exact|short [--posts 50000000] [--windows 1.0] [--workers 2]

``exact``: 64-bit fingerprints, four blocks of 16 bits, distance 3; pairs within 3 bits are planted. ``short``: 128-bit
fingerprints, the tables that are planned for pairs of which 14 % of the bits differ. Pairs are planted twice: of
realistic sums, where a bit differs the likelier the nearer its sum is to zero, and of flips at random. The window is
filled, kept full for so many windows' worth of posts, and then measured: posts one by one, and in batches of 256.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.config.settings import ComponentSettings
from hybriddup.parallel import available_workers
from hybriddup.records import Fingerprints, PairLimits
from hybriddup.steps.blocks import Expectation
from hybriddup.window.index import LiveIndex
from hybriddup.window.index.live_shapes import make_live_index
from hybriddup.window.index.modeled_pairs import bits_of, correlated, prints_of

ANY_LENGTH = 2**31 - 1
FILLED_AT_ONCE = 2**14
BATCH = 256
LENGTH = 40
SHARE = 0.14
"""Share of the bits that differ in a pair of ``short``."""
SHORT_LIMIT = 36


class Setting(NamedTuple):
    """What is measured."""

    bits: int
    limit: int
    blocks: ComponentSettings


SETTINGS = {
    "exact": Setting(64, 3, ComponentSettings(use="blocks", options={"n_blocks": 4})),
    "short": Setting(128, SHORT_LIMIT, ComponentSettings(use="tables", options={"target_recall": 0.95})),
}


class Latencies(NamedTuple):
    """Seconds a post."""

    mean: float
    p50: float
    p99: float

    def __str__(self) -> str:
        """Return microseconds for people."""
        return "  ".join(f"{name} {1e6 * value:8.1f} us" for name, value in self._asdict().items())


class Measured(NamedTuple):
    """What came out."""

    one_by_one: Latencies
    in_batches: Latencies
    """Of a batch, over its number of posts."""
    found: dict[str, float]
    """For each kind of planted pairs, the share that is found."""


class Sample:
    """Posts of the window that copies are made of."""

    def __init__(self, n: int, setting: Setting) -> None:
        self.rng = np.random.default_rng(1)
        self.setting = setting
        self.sums = self.rng.standard_normal((n, setting.bits))
        self.positions = np.zeros(n, np.int64)

    def prints(self, rows: NDArray[np.int64], kind: str) -> Fingerprints:
        """Return copies: of ``exact`` with up to 3 bits flipped; of ``short`` by their sums, or with 14 % flipped."""
        sums = self.sums[rows]
        if kind == "realistic sums":
            return prints_of(correlated(sums, np.full(len(rows), SHARE), self.rng), self.setting.limit)
        bits = self.setting.bits
        n_flips = round(SHARE * bits) if kind == "random flips" else self.setting.limit
        order = np.argsort(self.rng.random(sums.shape), axis=1)[:, :n_flips]
        flipped = sums.copy()
        np.put_along_axis(flipped, order, -np.take_along_axis(sums, order, axis=1), axis=1)
        return prints_of(flipped, self.setting.limit)


def expectation_of(setting: Setting, n_posts: int, workers: int) -> Expectation:
    """What the window knows beforehand: the pilot's pairs are as those that are measured, but others."""

    def pilot() -> tuple[Fingerprints, Fingerprints]:
        rng = np.random.default_rng(99)
        sums = rng.standard_normal((2048, setting.bits))
        copies = correlated(sums, np.full(len(sums), SHARE), rng)
        return prints_of(sums, setting.limit), prints_of(copies, setting.limit)

    return Expectation(n_posts, workers, setting.bits, setting.limit, pilot)


def random_prints(rng: np.random.Generator, first: int, n: int, setting: Setting) -> Fingerprints:
    """Return evenly spread fingerprints, to be added only."""
    bits = rng.integers(0, 2**64, (n, setting.bits // 64), np.uint64)
    limits = PairLimits(
        np.full(n, LENGTH, np.int32),
        np.full(n, setting.limit, np.int32),
        np.full(n, ANY_LENGTH, np.int32),
        np.zeros(n, np.float32),
        np.zeros(n, np.float32),
    )
    positions = np.arange(first, first + n, dtype=np.int64)
    return Fingerprints(positions, bits, np.zeros((n, 0), np.uint8), limits)


def fill(index: LiveIndex, n_posts: int, windows: float, sample: Sample) -> int:
    """Fill the window, keep it full for some windows' worth, and plant the sample; return the next position."""
    rng, position, total = np.random.default_rng(0), 0, int(n_posts * max(windows, 1.0))
    places = np.linspace(total - 0.9 * n_posts, total - 1, len(sample.sums)).astype(np.int64)
    planted = 0
    while position < total:
        prints = random_prints(rng, position, min(FILLED_AT_ONCE, total - position), sample.setting)
        stop = position + len(prints)
        while planted < len(places) and places[planted] < stop:
            prints.bits[places[planted] - position] = bits_of(sample.sums[planted : planted + 1])[0]
            sample.positions[planted] = places[planted]
            planted += 1
        index.add(prints)
        position = stop
        index.forget_before(position - n_posts)
    return position


def measure(index: LiveIndex, first: int, n_posts: int, sample: Sample, n_measured: int) -> Measured:
    """Look posts up and add them, one by one and in batches, half of them copies of earlier ones."""
    kinds = ["within 3 bits"] if sample.setting.bits == 64 else ["realistic sums", "random flips"]
    position, found = first, {}
    one_by_one: list[float] = []
    in_batches: list[float] = []
    for kind in kinds:
        hits: list[bool] = []
        for size, times, n in ((1, one_by_one, n_measured), (BATCH, in_batches, n_measured // 16)):
            for rows, prints in copies(sample, kind, position, size, n):
                start = time.perf_counter()
                pairs = index.candidates(prints)
                index.add(prints)
                index.forget_before(position + size - n_posts)
                times.append((time.perf_counter() - start) / size)
                position += size
                met = set(zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True))
                earlier = sample.positions[rows].tolist()
                hits += [pair in met for pair in zip(earlier, prints.positions.tolist(), strict=True)]
        found[kind] = float(np.mean(hits))
    return Measured(summarize(one_by_one), summarize(in_batches), found)


def copies(
    sample: Sample, kind: str, position: int, size: int, n: int
) -> Iterator[tuple[NDArray[np.int64], Fingerprints]]:
    """Yield batches of copies of the sample, and the rows of it that they are copies of."""
    for start in range(position, position + n * size, size):
        rows = sample.rng.integers(0, len(sample.sums), size)
        prints = sample.prints(rows, kind)
        places = np.arange(start, start + size, dtype=np.int64)
        yield rows, Fingerprints(places, prints.bits, prints.strengths, prints.limits)


def summarize(seconds: list[float]) -> Latencies:
    """Return mean, median and 99th percentile, without the first tenth, in which kernels are compiled."""
    kept = np.array(seconds[len(seconds) // 10 :])
    return Latencies(float(kept.mean()), float(np.quantile(kept, 0.5)), float(np.quantile(kept, 0.99)))


def resident_bytes() -> int:
    """Return the memory that the process has now, in bytes (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


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
    sample = Sample(min(4096, chosen.posts // 4), setting)
    before = resident_bytes()
    index = make_live_index(setting.blocks, expectation_of(setting, chosen.posts, chosen.workers))
    show(f"shape       {index.report().shape}")
    start = time.perf_counter()
    position = fill(index, chosen.posts, chosen.windows, sample)
    seconds = time.perf_counter() - start
    show(f"filled      {position:,} posts in {seconds:.1f} s, {1e9 * seconds / position:.0f} ns a post, made up here")
    measured = measure(index, position, chosen.posts, sample, chosen.measured)
    report = index.report()
    show(f"one by one  {measured.one_by_one}")
    show(f"batches     {measured.in_batches}  (a post of {BATCH})")
    for kind, share in measured.found.items():
        show(f"found       {share:.4f} of the pairs planted, {kind}")
    compared = report.n_comparisons / (chosen.measured + BATCH * (chosen.measured // 16)) / len(measured.found)
    show(f"compared    {compared:,.0f} a post; the largest bucket read {report.largest_bucket:,}; {report.limits_hit}")
    show(f"memory      {report.n_bytes / 1e9:.3f} GB of arrays, {(resident_bytes() - before) / 1e9:.3f} GB resident")
    show(f"texts       {report.n_texts:,}, exact: {report.exact}")


if __name__ == "__main__":
    main()
