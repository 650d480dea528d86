"""The steps of a run put together: counts that add up, progress, limits that are reported, and interrupting it."""

import json
import random
import signal
import subprocess
from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.config.load import open_session
from hybriddup.data.corpus import Corpus
from hybriddup.run.pipeline import run
from hybriddup.run.result import Result
from hybriddup.steps.verifiers import LeastInCommon
from hybriddup.steps.verifiers.judges import SingleJudge
from tests.posts import generated_posts, load_sample
from tests.processes import python

POSTS = generated_posts(1, 600)


def dedupe(config: Any = "weibo", posts: list[str] | None = None, **options: Any) -> Result:
    return hybriddup.dedupe(POSTS if posts is None else posts, config=config, **options)


def test_every_row_is_kept_or_removed_and_counted() -> None:
    result = dedupe()
    summary, removed = result.summary, [post.row for post in result.removed]
    assert sorted(result.kept + removed) == list(range(len(POSTS)))
    assert (result.kept, removed) == (sorted(result.kept), sorted(removed))
    counts = summary.n_read, summary.n_kept, summary.n_exact + summary.n_near
    assert counts == (len(POSTS), len(result.kept), len(removed))
    assert summary.n_exact == sum(post.reason == "exact" for post in result.removed) > 0
    assert 0 < summary.n_near <= summary.n_verified_pairs <= summary.n_candidate_pairs


def test_verified_pairs_are_rows_of_the_input() -> None:
    """As many as the summary says, and each near removal's pair of texts is among them."""
    result = dedupe()
    assert len(result.verified_rows) == result.summary.n_verified_pairs
    pairs = {frozenset((POSTS[a], POSTS[b])) for a, b in result.verified_rows.tolist()}
    near = {frozenset((POSTS[post.row], POSTS[post.keeper_row])) for post in result.removed if post.reason == "near"}
    assert len(near & pairs) >= 0.9 * len(near)


def test_summary_names_what_was_used() -> None:
    summary = dedupe("twitter", workers=2).summary
    assert (summary.config, summary.workers, len(summary.recipe_id)) == ("twitter", 2, 32)
    assert summary.blocks.shape.startswith("shingles: ")


def test_steps_are_timed_in_their_order() -> None:
    summary = dedupe().summary
    steps = "normalize, exact, fingerprint, block index, characters, verify, decide, audit"
    assert ", ".join(timing.step for timing in summary.timings) == steps
    assert {timing.n for timing in summary.timings if timing.step in ("normalize", "exact", "decide")} == {len(POSTS)}


class Listener:
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int | None]] = []
        self.done: dict[str, int] = {}
        self.n_finished = 0

    def start(self, step: str, total: int | None, unit: str) -> None:  # noqa: ARG002
        self.begun.append((step, total))

    def advance(self, n: int) -> None:
        step = self.begun[-1][0]
        self.done[step] = self.done.get(step, 0) + n

    def finish(self) -> None:
        self.n_finished += 1

    def note(self, message: str) -> None:
        raise AssertionError(f"compiled kernels are loaded already: {message}")


def test_progress_tells_each_step_to_its_end() -> None:
    dedupe()  # the kernels are compiled now
    settings, manager = open_session("weibo", entry_points=False)
    listener = Listener()
    rows = np.arange(len(POSTS), dtype=np.int64)
    run(Corpus(POSTS, list(rows), rows), settings, manager.registry, workers=1, progress=listener)
    totals = dict(listener.begun)
    assert listener.n_finished == len(listener.begun)
    assert listener.done == {step: totals[step] for step in ("fingerprint", "block index")}


def test_rows_of_bad_records_are_skipped() -> None:
    text = "你妈妈喊你回家吃饭哦，回家罗回家罗"
    texts = [text, text + "！", "完全不同的另一条", text]
    corpus = Corpus(texts, ["a", "b", "c", "d"], np.array([1, 4, 5, 9]), n_rows=12, n_bad_records=8)
    settings, manager = open_session("weibo", entry_points=False)
    result = run(corpus, settings, manager.registry, workers=1)
    assert result.kept == [1, 5]
    found = [(post.row, post.id, post.keeper_row, post.duplicate_of, post.reason) for post in result.removed]
    assert found == [(4, "b", 1, "a", "near"), (9, "d", 1, "a", "exact")]
    assert result.verified_rows.tolist() == [[1, 4]]
    assert (result.n_rows, result.summary.n_bad_lines) == (12, 8)


@pytest.mark.parametrize("use", ["scan", "shingles"])
def test_largest_bucket_and_comparisons_are_reported(use: str) -> None:
    report = dedupe({"blocks": {"use": use}}).summary.blocks
    assert 0 < report.largest_bucket <= report.n_comparisons
    assert report.n_look_ups > 0


def test_bucket_limit_that_is_hit_is_in_the_summary() -> None:
    posts = [f"今天天气真好，我们去公园走走吧，第{i}次" for i in range(60)]
    blocks = {"use": "shingles", "n_shingles": 2, "max_bucket_size": 5, "common_in": 1000}
    band = {"max_hamming_distance": 30, "verifier": {"use": "edit", "threshold": 1.0}}
    result = dedupe({"blocks": blocks, "lengths": [band]}, posts)
    report = result.summary.blocks
    assert report.limits_hit["max_bucket_size"] > 0
    assert not report.exact
    assert len(result.kept) + len(result.removed) == len(posts)


def test_limits_that_are_not_hit_are_not_reported() -> None:
    assert dedupe().summary.blocks.limits_hit == {}


@pytest.mark.parametrize("use", ["scan", "shingles"])
@pytest.mark.parametrize("name", ["jaccard", "cosine", "lcs", "hamming"])
def test_other_verifiers_run_through(use: str, name: str) -> None:
    band = {"max_hamming_distance": 30, "verifier": {"use": name, "threshold": 0.7}}
    result = dedupe({"blocks": {"use": use}, "lengths": [band]}, [post["text"] for post in load_sample("posts.jsonl")])
    near = [post for post in result.removed if post.reason == "near"]
    assert near
    assert {(post.verifier, post.threshold, post.length_band) for post in near} == {(name, 0.7, "0-")}
    assert all(0.7 <= post.score <= 1.0 for post in near)


ALL_OF = {"all": [{"use": "edit", "threshold": 0.7}, {"use": "jaccard", "threshold": 0.3}]}
ANY_OF = {"any": [{"use": "edit", "threshold": 0.9}, {"use": "lcs", "threshold": 0.8, "relative_to": "shorter"}]}


@pytest.mark.parametrize("use", ["scan", "shingles"])
@pytest.mark.parametrize(
    "verifier",
    [
        {"use": "edit", "threshold": 0.7},
        {"use": "edit", "threshold": 0.8, "distance": "levenshtein"},
        {"use": "lcs", "threshold": 0.75},
        {"use": "lcs", "threshold": 0.9, "relative_to": "shorter"},
        ALL_OF,
        ANY_OF,
        {"any": [{"all": [{"use": "edit", "threshold": 0.7}, ANY_OF]}, ALL_OF]},
    ],
    ids=str,
)
def test_pairs_ruled_out_by_their_characters_change_no_result(
    use: str, verifier: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bands = [
        {"up_to": 15, "max_hamming_distance": 50, "verifier": {"use": "edit", "threshold": 0.85}},
        {"max_hamming_distance": 50, "verifier": verifier},
    ]
    blocks = {"use": use} if use == "scan" else {"use": use, "max_bucket_size": 0, "max_candidates": 0}
    config = {"blocks": blocks, "lengths": bands}
    told = dedupe(config)
    monkeypatch.setattr(SingleJudge, "least_in_common", lambda _: LeastInCommon())
    untold = dedupe(config)
    assert (told.kept, told.removed) == (untold.kept, untold.removed)
    assert told.summary.n_candidate_pairs < untold.summary.n_candidate_pairs
    assert told.summary.estimated_stage1_recall == untold.summary.estimated_stage1_recall


def test_combinations_may_hold_combinations() -> None:
    short, long = {"use": "lcs", "threshold": 0.9}, {"use": "edit", "threshold": 0.9}
    edit, words = ALL_OF["all"]

    def removed(verifier: dict[str, Any]) -> list[tuple[int, int, str]]:
        result = dedupe({"blocks": {"use": "scan"}, "lengths": [{"max_hamming_distance": 50, "verifier": verifier}]})
        return [(post.row, post.keeper_row, post.reason) for post in result.removed]

    assert removed({"all": [edit, {"all": [words]}]}) == removed(ALL_OF)
    assert removed({"any": [short, {"any": [long]}]}) == removed({"any": [short, long]})
    distributed = {"any": [{"all": [short, edit]}, {"all": [short, words]}]}
    assert removed({"all": [short, {"any": [edit, words]}]}) == removed(distributed)
    assert removed(ALL_OF) != removed({"any": ALL_OF["all"]})


def test_posts_that_are_nearly_all_candidates_of_each_other_cost_bounded_work() -> None:
    draw = random.Random(1)  # noqa: S311  no secret
    posts = ["".join(draw.choices("天地山水风云", k=30)) for _ in range(3000)]
    verifier = {"use": "edit", "threshold": 0.9}
    summary = dedupe({"lengths": [{"max_hamming_distance": 40, "verifier": verifier}]}, posts).summary
    assert summary.blocks.limits_hit["max_candidates"] > 1500
    assert summary.blocks.limits_hit["max_bucket_size"] > 1500
    assert 16 * 1500 < summary.n_candidate_pairs <= 100 * len(posts)


CHILD = """
import json, os, signal, sys, threading, time
import hybriddup

class TimeIsUp(Exception):
    pass

def handle(number, frame):
    raise TimeIsUp

signal.signal(signal.SIGUSR1, handle)
posts = [f"the {i * 7919 % 9973} th post says {i} times that it rains on bridge {i % 977}" for i in range(10_000)]
few = hybriddup.dedupe(posts[:300]).kept
n_interrupted = 0
for delay in (0.01, 0.05, 0.1, 0.2, 0.3, 0.4):
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        hybriddup.dedupe(posts)
        timer.join()
    except TimeIsUp:
        n_interrupted += 1
    assert hybriddup.dedupe(posts[:300]).kept == few
print(json.dumps(n_interrupted))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the system has no signals that a handler could be for")
def test_a_run_is_interrupted_at_any_moment() -> None:
    done = subprocess.run([*python(), "-c", CHILD], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) >= 1
