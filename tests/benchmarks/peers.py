"""hybriddup and its peers on the same posts, by turns, a process each: a table, and the results as JSON.

python -m tests.benchmarks.peers POSTS.jsonl[.gz] [MORE ...] [--sample 3000] [--rounds 3] [-o RESULTS.json]

In each round all tools run one after another: the ratio of a tool's rate to that of ``rensa + rapidfuzz`` is one of
neighbors in time, and the table gives the median over the rounds. Recall and precision are sampled, and exact where
the sample is as large as the file (see tests.benchmarks.sampled_recall).
"""

import argparse
import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from tests.benchmarks.corpora import read_texts
from tests.benchmarks.sampled_recall import SAMPLE, sampled_score
from tests.benchmarks.setting import setting
from tests.benchmarks.tools import TOOLS, Decided, Run

ROOT = Path(__file__).parents[2]
BASELINE = "rensa_rapidfuzz"
DIGITS = 5
DEFAULT_TOOLS = ("hybriddup", BASELINE, "rensa", "gaoya", "datasketch", "simhash3")


NAMES = {
    "hybriddup": "hybriddup",
    "rensa_rapidfuzz": "rensa + rapidfuzz",
    "rensa": "rensa deduplicator",
    "gaoya": "gaoya MinHash",
    "datasketch": "datasketch MinHash LSH",
    "simhash3": "simhash, distance 3",
    "simhash6": "simhash, distance 6",
}


@dataclass
class Measured:
    """One tool on one file."""

    tool: str
    corpus: str
    n_posts: int
    seconds: list[float] = field(default_factory=list)
    """Of each round."""
    peak_mb: list[float] = field(default_factory=list)
    over_texts_mb: list[float] = field(default_factory=list)
    posts_per_s: float | None = None
    """Median over the rounds."""
    ratio: float | None = None
    """Median over the rounds of the rate over that of the baseline in the same round."""
    ratios: list[float] = field(default_factory=list)
    n_removed: int | None = None
    recall: float | None = None
    recall_interval: tuple[float, float] | None = None
    """95 %; None where all posts were looked at."""
    precision: float | None = None
    failed: str | None = None


def measure(posts: Path, name: str, tools: Sequence[str], asked: argparse.Namespace) -> list[Measured]:
    """Return what each tool did on one file, all rounds together."""
    texts = read_texts(posts)
    rows = [Measured(tool, name, len(texts)) for tool in tools]
    for number in range(asked.rounds):
        for row in rows:
            if row.failed is None and (run := run_apart(row, posts, asked)) is not None and number == 0:
                note_quality(row, texts, run.decided, asked.sample)
    for row in rows:
        summarize(row, rows)
    return rows


def run_apart(row: Measured, posts: Path, asked: argparse.Namespace) -> Run | None:
    """Run a tool once more in a process of its own, and note what it took, or why it failed."""
    run: Run | None = None
    command = [sys.executable, "-m", "tests.benchmarks.tools", row.tool, str(posts.resolve()), asked.config]
    try:
        said = subprocess.run(command, cwd=ROOT, check=True, timeout=asked.timeout, capture_output=True)
    except subprocess.TimeoutExpired:
        row.failed = f"over {asked.timeout:.0f} s"
    except subprocess.CalledProcessError as error:
        row.failed = (error.stderr.decode().strip().splitlines() or [f"exit code {error.returncode}"])[-1]
    else:
        run = pickle.loads(said.stdout)  # noqa: S301  our own process made it
        row.seconds.append(round(run.seconds, 3))
        row.peak_mb.append(round(run.peak_mb, 1))
        row.over_texts_mb.append(round(run.over_texts_mb, 1))
    print(f"{row.corpus}: {row.tool}: {row.failed or f'{row.seconds[-1]:.1f} s'}", file=sys.stderr, flush=True)
    return run


def note_quality(row: Measured, texts: list[str], decided: Decided, sample: int) -> None:
    """Fill in recall and precision."""
    found = sampled_score(texts, decided, sample=sample)
    row.n_removed, recall = found.n_removed, found.recall
    row.recall, row.precision = round(recall.share, DIGITS), round(found.precision.share, DIGITS)
    if recall.low < recall.high:
        row.recall_interval = (round(recall.low, DIGITS), round(recall.high, DIGITS))


def summarize(row: Measured, rows: Sequence[Measured]) -> None:
    """Fill in rate and ratio."""
    if row.failed is not None or not row.seconds:
        return
    row.posts_per_s = round(median(row.n_posts / seconds for seconds in row.seconds), 1)
    baseline = next((other.seconds for other in rows if other.tool == BASELINE and other.failed is None), None)
    if baseline:
        row.ratios = [round(theirs / ours, 4) for ours, theirs in zip(row.seconds, baseline, strict=True)]
        row.ratio = round(median(row.ratios), 4)


def as_markdown(rows: Sequence[Measured]) -> str:
    """Return the table of one file; the ratio is that of rates to ``rensa + rapidfuzz``."""
    columns = ["", "recall", "precision", "posts/s", "ratio", "peak MB", "MB over texts"]
    lines = [f"{rows[0].corpus} ({rows[0].n_posts:,})", "", f"|{' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return "\n".join([*lines, *(f"| {NAMES[row.tool]} | {' | '.join(cells(row))} |" for row in rows)])


def cells(row: Measured) -> list[str]:
    """Return the cells of one tool."""
    if row.failed is not None:
        return [row.failed, *[""] * 5]
    recall, precision = ("" if share is None else f"{share:.4f}" for share in (row.recall, row.precision))
    if row.recall_interval is not None:
        recall += " ({:.4f} to {:.4f})".format(*row.recall_interval)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f} x ({min(row.ratios):.2f} to {max(row.ratios):.2f})"
    memory = (f"{median(row.peak_mb):,.0f}", f"{median(row.over_texts_mb):,.0f}")
    return [recall, precision, f"{row.posts_per_s:,.0f}", ratio, *memory]


def main(arguments: list[str] | None = None) -> None:
    """Measure, print a table for each file, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts", type=Path, nargs="+", help="JSON Lines, plain or .gz; each is a corpus of its own")
    parser.add_argument("--names", nargs="+", help="what to call the files in tables, one name for each")
    parser.add_argument("--tools", default=",".join(DEFAULT_TOOLS), help=f"of {','.join(TOOLS)}")
    parser.add_argument("--config", default="benchmark", help="of hybriddup")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--timeout", type=float, default=600, help="seconds after which a tool is given up")
    parser.add_argument("-o", "--output", type=Path, help="results as JSON")
    chosen = parser.parse_args(arguments)
    tools = chosen.tools.split(",")
    if unknown := set(tools) - set(TOOLS):
        parser.error(f"--tools has {', '.join(sorted(unknown))}; known are {', '.join(TOOLS)}")
    names = chosen.names or [path.name.split(".jsonl")[0] for path in chosen.posts]
    if len(names) != len(chosen.posts):
        parser.error("--names takes one for each file")
    tables = [measure(posts, name, tools, chosen) for posts, name in zip(chosen.posts, names, strict=True)]
    print("\n\n".join(map(as_markdown, tables)))
    if chosen.output is not None:
        results = {**setting(), "results": [asdict(row) for rows in tables for row in rows]}
        chosen.output.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
