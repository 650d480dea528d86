"""The recall is estimated before results are written: the summary has it, and a failure leaves no output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hybriddup.errors import PluginError
from hybriddup.run.audit import Audit
from tests.cli.support import Run, failed, write_posts
from tests.posts import generated_posts

POSTS = generated_posts(1, 300)


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
