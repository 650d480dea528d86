"""Same input, configuration and version give the same bytes: any workers, process, hash seed and repetition."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache, partial
from typing import Any

import pytest

import hybriddup
from hybriddup.data.records import Tokens
from hybriddup.run import pipeline
from hybriddup.run.decisions import decide_all
from hybriddup.run.result import Result
from hybriddup.steps.tokenizers import processes
from tests.posts import generated_posts
from tests.processes import run_python

POSTS = generated_posts(2, 4500)
"""More than one batch of deciding, and enough batches of tokenizing for several processes."""

CONFIGS: dict[str, dict[str, Any]] = {
    "shingles": {"blocks": {"use": "shingles", "n_shingles": 9, "max_bucket_size": 4, "max_candidates": 3}},
    "scan": {"blocks": {"use": "scan"}},
    "blocks": {
        "blocks": {"use": "blocks", "n_blocks": 6, "n_key_blocks": 2},
        "audit": {"sample": 50},
        "lengths": [{"max_hamming_distance": 4, "verifier": {"use": "jaccard", "threshold": 0.6}}],
    },
    "probing": {
        "blocks": {"use": "probing", "n_blocks": 8},
        "audit": {"sample": 50},
        "lengths": [{"max_hamming_distance": 15, "verifier": {"use": "cosine", "threshold": 0.8}}],
    },
    "words": {"tokenizer": {"use": "words"}, "weighter": {"use": "uniform"}},
    # the one that holds the interpreter, so that its work is shared with other processes
    "jieba": {"tokenizer": {"use": "jieba"}, "weighter": {"use": "uniform"}},
    "levenshtein": {
        "weighter": {"use": "levels"},
        "lengths": [
            {"max_hamming_distance": 36, "verifier": {"use": "edit", "threshold": 0.8, "distance": "levenshtein"}}
        ],
    },
}


def as_bytes(result: Result) -> bytes:
    """Everything that a run decides and counts, but for its times and the number of its workers."""
    summary = result.summary.to_dict()
    del summary["timings"], summary["workers"]
    decided = {
        "kept": result.kept,
        "removed": [asdict(post) for post in result.removed],
        "verified": result.verified_rows.tolist(),
        "summary": summary,
    }
    return json.dumps(decided, ensure_ascii=True).encode()


def start_processes_for_any_work(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have tokenizers that hold the interpreter share their work at once; return a list that tells with how many."""
    started: list[int] = []
    share = processes.share

    def count_and_share(pickled: bytes, pieces: Any, workers: int) -> Iterator[Tokens]:
        started.append(workers)
        yield from share(pickled, pieces, workers)

    monkeypatch.setattr(processes, "START_SECONDS", 0.0)
    monkeypatch.setattr(processes, "share", count_and_share)
    return started


def outcome(config: dict[str, Any], workers: int = 1) -> bytes:
    return as_bytes(hybriddup.dedupe(POSTS, config=config, workers=workers))


@cache
def alone(name: str) -> Result:
    """What one worker decides in this process, run once for all tests that compare with it."""
    return hybriddup.dedupe(POSTS, config=CONFIGS[name], workers=1)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "jieba" else ()) for name in CONFIGS]
)
@pytest.mark.parametrize("workers", [3, pytest.param(2, marks=pytest.mark.slow)])
def test_workers_do_not_change_a_byte(name: str, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started = start_processes_for_any_work(monkeypatch)
    assert as_bytes(alone(name)) == outcome(CONFIGS[name], workers)
    assert started == ([workers] if name == "jieba" else [])


ANSWER = """
import sys
from hybriddup.steps.tokenizers import processes
from tests.test_determinism import CONFIGS, outcome
processes.START_SECONDS = 0.0
for name in ("shingles", "words", "jieba"):
    sys.stdout.buffer.write(outcome(CONFIGS[name], workers=2) + b"\\n")
"""


@pytest.mark.slow
def test_hash_seed_and_process_do_not_change_a_byte() -> None:
    """Python's hash() of a text differs from process to process, and nothing may depend on it."""
    answer = run_python("-c", ANSWER, PYTHONHASHSEED="4711").stdout.encode()
    assert answer.splitlines() == [as_bytes(alone(name)) for name in ("shingles", "words", "jieba")]


@pytest.mark.parametrize("name", ["shingles", "blocks", "probing"])
def test_cutting_batches_otherwise_does_not_change_what_is_removed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = alone(name).removed
    monkeypatch.setattr(pipeline, "decide_all", partial(decide_all, texts_per_batch=333))
    assert hybriddup.dedupe(POSTS, config=CONFIGS[name]).removed == removed


@pytest.mark.parametrize("name", ["shingles", "scan"])
def test_posts_that_come_later_do_not_change_what_was_decided(name: str) -> None:
    config = {**CONFIGS[name], "weighter": {"use": "tf"}}
    if name == "shingles":
        config["blocks"] = {**config["blocks"], "common_in": len(POSTS)}
    half = hybriddup.dedupe(POSTS[:3000], config=config).removed
    assert [post for post in hybriddup.dedupe(POSTS, config=config).removed if post.row < 3000] == half
