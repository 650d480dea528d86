"""hybriddup and its peers on the same posts, by turns, a process each: a table, and the results as JSON.

python -m tests.benchmarks.peers POSTS.jsonl[.gz] [MORE ...] [--truth TRUTH.npz] [--rounds 3] [-o RESULTS.json]

Several files, or one file with several numbers of ``--rows``, show how rate and memory grow. In each round all tools
run one after another, so that the ratio of a tool's rate to that of ``rensa + rapidfuzz`` is one of neighbors in time;
the table gives the median over the rounds. Recall and precision are exhaustive where a truth is given, otherwise
sampled (see tests.benchmarks.sampled_recall).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.benchmarks.corpora import read_texts
from tests.benchmarks.measured import Measured, save_results
from tests.benchmarks.report import as_markdown
from tests.benchmarks.sampled_recall import SAMPLE, THRESHOLD, sampled_score
from tests.benchmarks.tools import TOOLS, Decided, Run, load_run
from tests.benchmarks.truth import load_truth, score

ROOT = Path(__file__).parents[2]
BASELINE = "rensa_rapidfuzz"
DIGITS = 5
DEFAULT_TOOLS = ("hybriddup", BASELINE, "rensa", "gaoya", "datasketch", "simhash3")


@dataclass(frozen=True)
class Corpus:
    """A file, or the beginning of one."""

    path: Path
    name: str
    rows: int | None
    truth: Path | None


@dataclass(frozen=True)
class Plan:
    """What is run."""

    corpora: list[Corpus]
    tools: Sequence[str]
    config: str
    n_rounds: int
    sample: int
    timeout: float


def measure(plan: Plan) -> list[Measured]:
    """Return what each tool did on each corpus."""
    return [measured for corpus in plan.corpora for measured in measure_corpus(corpus, plan)]


def measure_corpus(corpus: Corpus, plan: Plan) -> list[Measured]:
    """Return what each tool did on one corpus, all rounds together."""
    texts = read_texts(corpus.path, corpus.rows)
    rows = [Measured(tool, corpus.name, len(texts)) for tool in plan.tools]
    for number in range(plan.n_rounds):
        for row in rows:
            if row.failed is None:
                measure_round(row, corpus, plan, texts, is_first=number == 0)
    for row in rows:
        summarize(row, rows)
    return rows


def measure_round(row: Measured, corpus: Corpus, plan: Plan, texts: list[str], *, is_first: bool) -> None:
    """Run a tool once more, and note what it took; score what it removed the first time."""
    try:
        run = run_apart(row.tool, corpus, plan)
    except subprocess.TimeoutExpired:
        row.failed = f"over {plan.timeout:.0f} s"
    except subprocess.CalledProcessError as error:
        row.failed = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
    else:
        row.seconds.append(round(run.seconds, 3))
        row.peak_mb.append(round(run.peak_mb, 1))
        row.over_texts_mb.append(round(run.over_texts_mb, 1))
        if is_first:
            note_quality(row, texts, run.decided, corpus.truth, plan.sample)
    print(f"{corpus.name}: {row.tool}: {row.failed or f'{row.seconds[-1]:.1f} s'}", file=sys.stderr, flush=True)


def run_apart(tool: str, corpus: Corpus, plan: Plan) -> Run:
    """Return the run of a tool in a process of its own."""
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "run.npz"
        command = [sys.executable, "-m", "tests.benchmarks.tools", tool, str(corpus.path.resolve()), "-o", str(output)]
        command += ["--config", plan.config]
        command += ["--rows", str(corpus.rows)] if corpus.rows is not None else []
        subprocess.run(command, cwd=ROOT, check=True, timeout=plan.timeout, capture_output=True, text=True)
        return load_run(output)


def note_quality(row: Measured, texts: list[str], decided: Decided, truth: Path | None, sample: int) -> None:
    """Fill in recall and precision, by the truth or by samples."""
    if truth is not None:
        exact = score(load_truth(truth), decided.removed, THRESHOLD)
        note(row, exact.n_removed, exact.recall, exact.precision)
        return
    sampled = sampled_score(texts, decided, sample=sample)
    note(row, sampled.n_removed, sampled.recall.share, sampled.precision.share)
    row.recall_interval = (round(sampled.recall.low, DIGITS), round(sampled.recall.high, DIGITS))


def note(row: Measured, n_removed: int, recall: float, precision: float) -> None:
    """Fill in counts and shares."""
    row.n_removed, row.recall, row.precision = n_removed, round(recall, DIGITS), round(precision, DIGITS)


def summarize(row: Measured, rows: Sequence[Measured]) -> None:
    """Fill in rate and ratio."""
    if row.failed is not None or not row.seconds:
        return
    row.posts_per_s = round(median(row.n_posts / seconds for seconds in row.seconds), 1)
    baseline = next((other.seconds for other in rows if other.tool == BASELINE and other.failed is None), None)
    if baseline:
        row.ratios = [round(theirs / ours, 4) for ours, theirs in zip(row.seconds, baseline, strict=True)]
        row.ratio = round(median(row.ratios), 4)


def corpora_of(chosen: argparse.Namespace) -> list[Corpus]:
    """Return the corpora that the command line names."""
    names = chosen.names or [path.name.split(".jsonl")[0] for path in chosen.posts]
    truths = chosen.truth or [None] * len(chosen.posts)
    return [
        Corpus(path, name if rows is None else f"{name}, first {rows:,}", rows, truth)
        for path, name, truth in zip(chosen.posts, names, truths, strict=True)
        for rows in chosen.rows or [None]
    ]


def main(arguments: list[str] | None = None) -> None:
    """Measure, print a table, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts", type=Path, nargs="+", help="JSON Lines, plain or .gz; each is a corpus of its own")
    parser.add_argument(
        "--rows", type=int, nargs="+", help="only the first so many posts; several make several corpora"
    )
    parser.add_argument("--names", nargs="+", help="what to call the files in tables and plots, one name for each")
    parser.add_argument("--truth", type=Path, nargs="+", help="from tests.benchmarks.truth; one for each file")
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
    if chosen.truth and (chosen.rows or len(chosen.truth) != len(chosen.posts)):
        parser.error("--truth takes one truth for each file, and is for whole files: leave out --rows")
    if chosen.names and len(chosen.names) != len(chosen.posts):
        parser.error("--names takes one name for each file")
    results = measure(Plan(corpora_of(chosen), tools, chosen.config, chosen.rounds, chosen.sample, chosen.timeout))
    print(as_markdown(results))
    if chosen.output is not None:
        save_results(results, chosen.output)


if __name__ == "__main__":
    main()
