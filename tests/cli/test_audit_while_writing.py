"""The recall is estimated while results are written: the same numbers, and no output if one of the two fails."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import hybriddup
from hybriddup.config.load import open_session
from hybriddup.data.frames import corpus_from_posts
from hybriddup.errors import PluginError
from hybriddup.run import pipeline
from hybriddup.run.audit import Audit
from hybriddup.run.result import Result
from tests.cli.support import Run, failed, write_posts
from tests.posts import generated_posts

POSTS = generated_posts(1, 300)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_estimate_is_that_of_a_run_that_writes_nothing(workers: int) -> None:
    settings, manager = open_session("weibo", ())
    corpus, seen = corpus_from_posts(POSTS, "text", "id", settings.order_fields), list[Result]()

    def look(result: Result) -> None:
        assert threading.current_thread() is threading.main_thread()
        seen.append(result)

    result = pipeline.run(corpus, settings, manager.registry, workers=workers, while_auditing=look)
    expected = hybriddup.dedupe(POSTS, config="weibo", workers=workers)
    assert seen == [result]
    assert result.kept == expected.kept
    estimates = [(one.summary.estimated_stage1_recall, one.summary.estimated_stage1_recall_margin)
                 for one in (result, expected)]  # fmt: skip
    assert estimates[0] == estimates[1] != (None, None)
    assert "audit" in [timing.step for timing in result.summary.timings]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_summary_has_the_estimate(run: Run, tmp_path: Path, workers: int) -> None:
    source = write_posts(tmp_path / "posts.jsonl", *POSTS)
    for options in (["-o", "kept.jsonl"], ["-o", "-"]):
        run("dedupe", source, *options, "--summary", "summary.json", "--workers", str(workers), "--force")
        assert json.loads((tmp_path / "summary.json").read_bytes())["estimated_stage1_recall"] is not None


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("output", ["kept.jsonl", "-"])
def test_a_failed_audit_leaves_no_output(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: str, output: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise PluginError("the verifier of the audit is broken")

    monkeypatch.setattr(Audit, "estimate", fail)
    source = write_posts(tmp_path / "posts.jsonl", *POSTS)
    message = failed(run, "dedupe", source, "-o", output, "--removed", "removed.jsonl", "--workers", workers)
    assert "the verifier of the audit is broken" in message
