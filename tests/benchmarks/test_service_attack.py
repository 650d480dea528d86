"""The attackers' posts are what they are said to be: near one another, and kept."""

from __future__ import annotations

import json
from itertools import islice
from random import Random

import numpy as np
import pytest

import hybriddup
from hybriddup.window import Window
from tests.benchmarks.service_attack import ATTACKS, main

ONE_KIND = ["--lengths", "20", "--kinds", "common"]


@pytest.mark.parametrize("kind", ATTACKS)
def test_attackers_posts_are_candidates_and_many_are_kept(kind: str) -> None:
    """Their fingerprints differ in far fewer bits than those of unlike texts, which is half of 128."""
    texts = list(islice(ATTACKS[kind](Random(1), 30), 200))  # noqa: S311  texts, not secrets
    with Window.open(None, "weibo", workers=1) as window:
        assert sum(decision.kept for decision in window.add_many(texts)) > 80
    prints = hybriddup.fingerprint(texts)
    distances = np.bitwise_count(prints[:, None] ^ prints[None, :]).sum(axis=2)
    assert np.median(distances) < 55


@pytest.mark.slow
def test_an_attack_is_measured_without_errors(capfd: pytest.CaptureFixture[str]) -> None:
    """By itself and beside ordinary clients; on a small window and for a moment."""
    main(["--window", "300", "--seconds", "0.5", "--connections", "4", "--batch", "8", *ONE_KIND])

    *_, attack, both = map(json.loads, capfd.readouterr().out.splitlines())
    parts = [attack, both["attack"], both["ordinary"]]
    assert [part["errors"] for part in parts] == [0] * 3
    assert min(part["posts_per_second"] for part in parts) > 0
