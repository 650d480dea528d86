"""Pilot pairs: edited copies of the corpus's own texts, the same for the same texts."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.components import Components
from hybriddup.config.load import open_session
from hybriddup.pilot import allowed_share, edit_shares, edit_text, make_pilot

TEXTS = [f"第{i}条：今天天气真好，我们去公园走走吧 number {i}" for i in range(40)]


def band(threshold: float, **up_to: int) -> dict[str, Any]:
    """A length band whose pairs are judged by their edits."""
    return {**up_to, "max_hamming_distance": 40, "verifier": {"use": "edit", "threshold": threshold}}


def make_components(config: Any = "weibo") -> Components:
    """The components of a run, fitted on the texts."""
    settings, manager = open_session(config, entry_points=False)
    components = Components.create(settings, manager.registry, workers=1)
    components.fingerprinter.fit(TEXTS)
    return components


def test_same_texts_give_the_same_pairs() -> None:
    """Or another run would plan other tables and find other pairs."""
    pilots = [make_pilot(TEXTS, make_components()) for _ in range(2)]
    for one, other in zip(*pilots, strict=True):
        assert one.bits.tolist() == other.bits.tolist()


def test_copies_are_near_their_originals() -> None:
    """Nearer than unrelated texts are, and most not equal."""
    originals, copies = make_pilot(TEXTS, make_components())
    distances = np.bitwise_count(originals.bits ^ copies.bits).sum(axis=1)
    assert np.median(distances) < 40
    assert np.count_nonzero(distances) > 30


def test_no_texts_give_no_pairs() -> None:
    """An empty corpus plans nothing."""
    originals, copies = make_pilot([], make_components())
    assert (len(originals), len(copies)) == (0, 0)


@given(st.text(max_size=30), st.floats(0, 1), st.integers(0, 100))
def test_edits_keep_the_length_and_stay_within_the_share(text: str, share: float, seed: int) -> None:
    """At least one character is drawn anew, at most the share of them."""
    copy = edit_text(text, share, ["xyz", ""], Random(seed))  # noqa: S311
    n_changed = sum(a != b for a, b in zip(text, copy, strict=True))
    assert n_changed <= max(1, round(share * len(text)))


@pytest.mark.parametrize("text", ["", "a"])
def test_texts_too_short_to_edit_are_no_error(text: str) -> None:
    """Empty ones have no place for an edit."""
    assert len(edit_text(text, 0.2, [""], Random(0))) == len(text)  # noqa: S311


def test_share_goes_by_the_threshold_of_the_length() -> None:
    """Equal texts only up to 6, .85 up to 20, .8 above."""
    components = make_components({"lengths": [{"up_to": 6, "exact_only": True}, band(0.85, up_to=20), band(0.8)]})
    shares = edit_shares(["x" * 6, "x" * 7, "x" * 21], components.settings, components.bands)
    assert shares == pytest.approx([0.0, 0.15, 0.2])


def test_share_of_combined_verifiers_is_that_of_the_most_lenient() -> None:
    """What one of several would accept ought to be found."""
    members = [{"use": "edit", "threshold": 0.9}, {"use": "jaccard", "threshold": 0.7}]
    config = {"lengths": [{"max_hamming_distance": 30, "verifier": {"any": members}}]}
    settings, _ = open_session(config, entry_points=False)
    assert allowed_share(settings.lengths[0]) == pytest.approx(0.3)
