"""A window explains a pair as it decides it: with its own weights, its own verifiers, its own index."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybriddup.errors import InputError
from hybriddup.window import Decision, Window
from hybriddup.window.learning import FIT_AT
from hybriddup.window.records import evidence_values
from tests.window.reference_window import CONFIG

FIRST = "你妈妈喊你回家吃饭哦，回家罗回家罗"
SECOND = "你妈妈叫你回家吃饭啦，回家罗回家罗"
COSINE = {"use": "cosine", "threshold": 0.55}
BAND = {"max_hamming_distance": 36, "verifier": COSINE}


def sentences(n: int) -> list[str]:
    """Texts of which some are near repeats; characters differ in how common they are."""
    random = Random(3)  # noqa: S311
    weights = [1 / rank for rank in range(10, 510)]
    alphabet = [chr(0x4E00 + 7 * rank) for rank in range(500)]
    stems = ["".join(random.choices(alphabet, weights, k=30)) for _ in range(n)]
    return [
        stem if random.random() < 0.7 else random.choice(stems[: place + 1])[:-2] + "很好" + stem[:1]
        for place, stem in enumerate(stems)
    ]


def check(window: Window, decision: Decision, text: str) -> None:
    """Fail unless the explanation of a near repeat says what the decision said."""
    evidence = decision.evidence
    explained = window.explain(text, evidence.duplicate_of)
    told = (explained.hamming_distance, explained.verifier, explained.score, explained.threshold, explained.length_band)
    assert told == evidence_values(evidence)[3:]
    assert (explained.reason, explained.matches) == ("near", True)
    assert (explained.b.text, explained.block_index) == (text, window.stats().index)


FITTED = {"weibo", "fitted weights and cosine"}
"""Configurations that are also tried after the weights are fitted, in the quick run."""
CONFIGS: list[Any] = [
    pytest.param("weibo", id="weibo"),
    pytest.param({"weighter": {"use": "tf"}, "lengths": [BAND]}, id="cosine"),
    pytest.param({"lengths": [BAND]}, id="fitted weights and cosine"),
    pytest.param({"blocks": {"use": "shingles", "n_shingles": 8}}, id="shingles"),
    pytest.param({"blocks": {"use": "scan"}}, id="scan"),
    pytest.param(
        {"lengths": [{"max_hamming_distance": 36, "verifier": {"any": [COSINE, {"use": "edit", "threshold": 0.8}]}}]},
        id="one of two verifiers",
    ),
]


@pytest.mark.parametrize(
    ("config", "n_before"),
    [
        pytest.param(*one.values, n, id=f"{one.id}-{n}", marks=pytest.mark.slow if n and one.id not in FITTED else ())
        for one in CONFIGS
        for n in (0, FIT_AT)
    ],
)
def test_near_repeats_are_explained_as_they_were_decided(config: Any, n_before: int) -> None:
    texts = sentences(n_before + 400)
    with Window.open(None, config, workers=1) as window:
        window.add_many(texts[:n_before])
        decisions = window.add_many(texts[n_before:])
        near = [decision for decision in decisions if decision.evidence and decision.evidence.reason == "near"]
        assert len(near) > 5
        for decision in near[:20]:
            check(window, decision, texts[decision.position])


def test_explaining_changes_no_answer(tmp_path: Path) -> None:
    texts = sentences(FIT_AT + 100)
    decisions = []
    for explains in (False, True):
        with Window.open(tmp_path / str(explains), {"lengths": [BAND]}, workers=1) as window:
            window.add_many(texts[:FIT_AT])
            for text in texts[FIT_AT:]:
                decisions.append(window.add(text).to_dict())
                if explains:
                    window.explain("这是别的一句话，说的是别的事情", "#0")
    assert decisions[:100] == decisions[100:]


def test_block_keys_are_those_of_the_index_of_the_window() -> None:
    for blocks, n_keys in (({"use": "shingles", "n_shingles": 5}, 5), ({"use": "scan"}, 1)):
        with Window.open(None, {"blocks": blocks}, workers=1) as window:
            window.add(FIRST)
            assert window.explain(FIRST, "#0").keys_in_common == n_keys
            assert window.explain(SECOND, "#0").n_keys == n_keys


def test_verdict_on_distance_is_cautious_until_weights_are_fitted() -> None:
    texts = sentences(FIT_AT)
    other = "完全是另外一句话，说的是别的事情而已"
    with Window.open(None, "weibo", workers=1) as window:
        window.add(FIRST)
        assert "until 4,096 posts have come" in window.explain(other, "#0").verdict
        window.add_many(texts)
        assert window.explain(other, "#0").verdict.endswith("so the texts are not looked at.")


def test_any_post_that_was_decided_is_explained_and_no_other() -> None:
    with Window.open(None, CONFIG) as window:
        window.add_many([{"text": FIRST, "id": 1}, {"text": SECOND, "id": "1"}, {"text": FIRST, "id": 17}])
        assert (window.explain(SECOND, 1).reason, window.explain(SECOND, "1").reason) == ("near", "exact")
        with pytest.raises(InputError, match="no post with the id '17' was decided within the horizon"):
            window.explain(SECOND, "17")
        with pytest.raises(InputError, match="must be a text"):
            window.explain(None, 17)  # type: ignore[arg-type]
