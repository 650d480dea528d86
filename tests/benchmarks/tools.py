"""hybriddup and its peers, each run once on one file: what it removes, how long it takes, how much memory it needs.

`tests.benchmarks.peers` runs this in a process for each tool: ``python -m tests.benchmarks.tools TOOL POSTS CONFIG``
writes a pickled `Run` to standard output. The peers need the extra ``bench``. Time is for deciding only: the texts are
in memory, and hybriddup has seen a few before, so that its kernels are compiled and loaded. All peers get the character
bigrams of a text, and keep their parameters from one measurement to the next.
"""

import pickle
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.corpora import read_texts

WARM_UP_POSTS = 2000
NO_KEEPER = -1


class Decided(NamedTuple):
    """What a tool decided about each post."""

    removed: NDArray[np.bool_]
    """bool[n]."""
    keepers: NDArray[np.int64] | None
    """int64[n]: the row of the kept post that a removed one repeats, -1 for kept posts; None where none is named."""


class Run(NamedTuple):
    """What a tool decided, and what it took."""

    decided: Decided
    seconds: float
    peak_mb: float
    """The most memory that the process has held, texts and interpreter among it."""
    over_texts_mb: float
    """The same, less what it held when the texts had been read and the tool was not yet imported."""


def hybriddup(texts: list[str], config: str) -> tuple[Decided, float]:
    """Two stages: simhash proposes, the texts confirm."""
    import hybriddup as package

    package.dedupe(texts[:WARM_UP_POSTS], config=config)
    start = time.perf_counter()
    result = package.dedupe(texts, config=config)
    seconds = time.perf_counter() - start
    keepers = np.full(len(texts), NO_KEEPER, np.int64)
    for post in result.removed:
        keepers[post.row] = post.keeper_row
    return Decided(keepers != NO_KEEPER, keepers), seconds


def rensa_rapidfuzz(texts: list[str], _: str) -> tuple[Decided, float]:
    """MinHash LSH of rensa proposes, rapidfuzz confirms: the strongest that can be put together by hand."""
    from rapidfuzz.distance import Indel
    from rensa import RMinHash, RMinHashLSH

    start = time.perf_counter()
    keepers = np.full(len(texts), NO_KEEPER, np.int64)
    index = RMinHashLSH(threshold=0.6, num_perm=128, num_bands=32)
    for row, text in enumerate(texts):
        sketch = RMinHash(num_perm=128, seed=42)
        sketch.update(bigrams(text))
        for other in index.query(sketch):
            # the cutoff stays under the threshold: rapidfuzz 3.14.6 gives 0 for pairs exactly at the cutoff
            if Indel.normalized_similarity(text, texts[other], score_cutoff=0.79) >= 0.8:
                keepers[row] = other
                break
        else:
            index.insert(row, sketch)
    return Decided(keepers != NO_KEEPER, keepers), time.perf_counter() - start


def rensa(texts: list[str], _: str) -> tuple[Decided, float]:
    """The deduplicator that rensa ships."""
    from rensa import RMinHash, RMinHashDeduplicator

    start = time.perf_counter()
    removed = np.zeros(len(texts), np.bool_)
    deduplicator = RMinHashDeduplicator(threshold=0.5, num_perm=128, use_lsh=True, num_bands=32)
    for row, text in enumerate(texts):
        sketch = RMinHash(num_perm=128, seed=42)
        sketch.update(bigrams(text))
        removed[row] = not deduplicator.add(str(row), sketch)
    return Decided(removed, None), time.perf_counter() - start


def gaoya(texts: list[str], _: str) -> tuple[Decided, float]:
    """MinHash LSH in Rust, on all cores; a post is removed when the index finds an earlier one."""
    from gaoya.minhash import MinHashStringIndex

    start = time.perf_counter()
    removed = np.zeros(len(texts), np.bool_)
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=0.6,
        num_bands=32,
        band_size=4,
        num_hashes=128,
        analyzer="char",
        lowercase=False,
        ngram_range=(2, 2),
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    for row, found in enumerate(index.par_bulk_query(texts)):
        removed[row] = min(found, default=row) < row
    return Decided(removed, None), time.perf_counter() - start


def datasketch(texts: list[str], _: str) -> tuple[Decided, float]:
    """MinHash LSH in Python; a post is removed when the index finds an earlier one."""
    from datasketch import MinHash, MinHashLSH

    start = time.perf_counter()
    removed = np.zeros(len(texts), np.bool_)
    index = MinHashLSH(threshold=0.6, num_perm=128)
    sets = ([gram.encode() for gram in set(bigrams(text))] for text in texts)
    for row, sketch in enumerate(MinHash.generator(sets, num_perm=128)):
        removed[row] = bool(index.query(sketch))
        index.insert(row, sketch, check_duplication=False)
    return Decided(removed, None), time.perf_counter() - start


def simhash3(texts: list[str], _: str) -> tuple[Decided, float]:
    """Simhash of 64 bits as for web pages: fingerprints that differ in up to 3 bits are repeats."""
    return simhash(texts, 3, 5)


def simhash6(texts: list[str], _: str) -> tuple[Decided, float]:
    """Simhash of 64 bits with a wider limit."""
    return simhash(texts, 6, 12)


def simhash(texts: list[str], distance: int, blocks: int) -> tuple[Decided, float]:
    """Return what simhash-pybind finds within a distance."""
    import simhash as package
    import xxhash

    start = time.perf_counter()
    removed = np.zeros(len(texts), np.bool_)
    prints = [package.compute([xxhash.xxh64_intdigest(gram.encode()) for gram in bigrams(text)]) for text in texts]
    first: dict[int, int] = {}
    for row, fingerprint in enumerate(prints):
        removed[row] = first.setdefault(fingerprint, row) != row
    for a, b in package.find_all(list(first), blocks, distance):
        removed[max(first[a], first[b])] = True
    return Decided(removed, None), time.perf_counter() - start


def bigrams(text: str) -> list[str]:
    """Return the character bigrams; a text of one character is its own."""
    return [text[start : start + 2] for start in range(len(text) - 1)] or [text]


TOOLS: dict[str, Callable[[list[str], str], tuple[Decided, float]]] = {
    tool.__name__: tool for tool in (hybriddup, rensa_rapidfuzz, rensa, gaoya, datasketch, simhash3, simhash6)
}


def run_tool(name: str, texts: list[str], config: str) -> Run:
    """Return what a tool decides about the texts, with time and memory of this process."""
    before = memory_mb("VmRSS")
    decided, seconds = TOOLS[name](texts, config)
    peak = memory_mb("VmHWM")
    # Linux counts both lazily, per thread: the peak may read some hundred kB less than what was held before it
    return Run(decided, seconds, peak, max(0.0, peak - before))


def memory_mb(field: str) -> float:
    """Return the memory that this process holds (``VmRSS``), or the most that it has held (``VmHWM``), in MB.

    Where there is no ``/proc`` both are the most that it has held.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
        return int(lines[field].split()[0]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


if __name__ == "__main__":
    from tests.benchmarks import tools  # a `Run` of this module, not of ``__main__``, can be unpickled elsewhere

    _, tool, posts, config = sys.argv
    sys.stdout.buffer.write(pickle.dumps(tools.run_tool(tool, read_texts(Path(posts)), config)))
