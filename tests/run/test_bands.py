"""Length bands: which one judges a pair, what its limits are, and who can be near at all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.config.load import open_session
from hybriddup.data.records import PairLimits
from hybriddup.run.bands import Bands
from hybriddup.run.components import Components
from hybriddup.steps.verifiers import VerifierContext
from tests.builders import make_pairs


def make_bands(config: Any) -> tuple[Bands, Components]:
    settings, manager = open_session(config, entry_points=False)
    components = Components.create(settings, manager.registry, workers=1)
    return components.bands, components


def edit_band(threshold: float, distance: int, **up_to: int) -> dict[str, Any]:
    return {**up_to, "max_hamming_distance": distance, "verifier": {"use": "edit", "threshold": threshold}}


THREE_BANDS = {"lengths": [{"up_to": 6, "exact_only": True}, edit_band(0.9, 44, up_to=20), edit_band(0.8, 30)]}


def lengths_of(*lengths: int) -> np.ndarray:
    return np.array(lengths, np.int32)


def test_bands_end_where_they_say_inclusive_and_are_named_by_it() -> None:
    bands, _ = make_bands(THREE_BANDS)
    assert bands.of_lengths(lengths_of(0, 6, 7, 20, 21, 10**6)).tolist() == [0, 0, 1, 1, 2, 2]
    assert bands.names == ("0-6", "7-20", "21-")
    assert make_bands({"lengths": [edit_band(0.8, 30)]})[0].of_lengths(lengths_of(0, 10**6)).tolist() == [0, 0]


def test_limits_are_those_of_the_band() -> None:
    limits = make_bands(THREE_BANDS)[0].limits_of(lengths_of(6, 9, 20, 40))
    assert limits.max_hamming_distances.tolist() == [-1, 44, 44, 30]
    assert limits.max_partner_lengths.tolist()[1:] == [11, 24, 60]
    for shares in (limits.common_of_shorter, limits.common_of_longer):
        assert shares.tolist() == pytest.approx([0.0, 0.45, 0.45, 0.4])
        assert shares.dtype == np.float32


@pytest.mark.parametrize(
    ("verifier", "shares"),
    [
        ({"use": "edit", "threshold": 0.9, "distance": "levenshtein"}, (0.0, 0.9)),
        ({"use": "lcs", "threshold": 0.6, "relative_to": "shorter"}, (0.6, 0.0)),
        ({"use": "cosine", "threshold": 0.6}, (0.0, 0.0)),
        ({"all": [{"use": "cosine", "threshold": 0.6}, {"use": "edit", "threshold": 0.8}]}, (0.4, 0.4)),
        ({"any": [{"use": "lcs", "threshold": 0.6}, {"use": "edit", "threshold": 0.8}]}, (0.0, 0.4)),
        ({"any": [{"use": "cosine", "threshold": 0.6}, {"use": "edit", "threshold": 0.8}]}, (0.0, 0.0)),
    ],
    ids=str,
)
def test_shares_in_common_are_those_of_the_verifiers(verifier: dict[str, Any], shares: tuple[float, float]) -> None:
    bands, _ = make_bands({"lengths": [{"max_hamming_distance": 30, "verifier": verifier}]})
    assert bands.least_in_common().T.tolist() == [pytest.approx(shares)]


def prepared(components: Components, texts: list[str], workers: int = 1) -> VerifierContext:
    context = VerifierContext(texts, components.fingerprinter.tokenizer, 128, workers)
    components.plan.prepare(context)
    return context


def verify(config: Any, texts: list[str]) -> list[tuple[int, int, float, int]]:
    """The accepted pairs of the texts, with threshold and band, when every pair is a candidate."""
    bands, components = make_bands(config)
    pairs = make_pairs([(a, b) for b in range(len(texts)) for a in range(b)])
    accepted, verified = bands.verify(pairs, prepared(components, texts))
    chosen = pairs.take(accepted)
    assert (verified.earlier.tolist(), verified.later.tolist()) == (chosen.earlier.tolist(), chosen.later.tolist())
    columns = (verified.earlier, verified.later, verified.thresholds, verified.length_bands)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    ("texts", "accepted"),
    [
        (["a" * 20, "a" * 20 + "bbbb"], [(0, 1, 0.9, 1)]),
        (["a" * 20 + "bbbb", "a" * 20], [(0, 1, 0.9, 1)]),
        (["a" * 20, "a" * 20 + "bbbbb"], []),
        (["aaaaaa", "aaaaaa", "aaaaaaa"], []),
        (["a" * 19 + "1", "a" * 19 + "2", "b" * 30, "b" * 30 + "c" * 12], [(2, 3, 0.8, 2)]),
    ],
    ids=["reached", "turned", "just under", "exact only", "after others with different numbers"],
)
def test_pair_is_judged_by_the_band_of_its_shorter_text(texts: list[str], accepted: list[Any]) -> None:
    """24 of 20 characters score .909, and 25 .889, which the band of the longer would accept."""
    assert verify({**THREE_BANDS, "must_agree": ["numbers"]}, texts) == accepted


def test_no_pairs_are_verified_to_none() -> None:
    bands, components = make_bands(THREE_BANDS)
    assert tuple(map(len, bands.verify(make_pairs([]), prepared(components, [])))) == (0, 0)


NEAR_THEN_EXACT = {"lengths": [edit_band(0.9, 44, up_to=20), {"exact_only": True}]}


@given(st.lists(st.integers(1, 40), max_size=12), st.sampled_from([THREE_BANDS, NEAR_THEN_EXACT]))
def test_who_may_be_near_is_found_for_every_partner(lengths: list[int], config: Any) -> None:
    bands, _ = make_bands(config)
    limits, near = bands.limits_of(lengths_of(*lengths)), bands.may_be_near(lengths_of(*lengths))
    for place, length in enumerate(lengths):
        if any(is_allowed(limits, length, other) for spot, other in enumerate(lengths) if spot != place):
            assert near[place]


def is_allowed(limits: PairLimits, length: int, other: int) -> bool:
    shorter = limits.lengths.tolist().index(min(length, other))
    return bool(
        limits.max_hamming_distances[shorter] >= 0 and max(length, other) <= limits.max_partner_lengths[shorter]
    )


def test_texts_that_may_only_be_exact_repeats_stay_out_of_stage_1() -> None:
    assert make_bands(THREE_BANDS)[0].may_be_near(lengths_of(1, 6, 7, 30)).tolist() == [False, False, True, True]


def test_text_above_a_near_band_may_be_near_a_shorter_one() -> None:
    bands, _ = make_bands(NEAR_THEN_EXACT)
    assert bands.may_be_near(lengths_of(20, 22, 40)).tolist() == [True, True, True]


@given(st.lists(st.integers(0, 60), max_size=20))
def test_limits_by_length_are_those_of_the_texts(lengths: list[int]) -> None:
    bands, _ = make_bands(THREE_BANDS)
    texts = np.array(lengths, np.int32)
    limits, ranks = bands.limits_by_length(texts)
    for looked_up, asked in zip((column[ranks] for column in limits), bands.limits_of(texts), strict=True):
        assert looked_up.tolist() == asked.tolist()


def test_guards_keep_the_same_pairs_apart_in_parts() -> None:
    texts = [f"the lift in house {number} is out of order again today" for number in range(90)]
    bands, components = make_bands({"lengths": [edit_band(0.8, 44)], "must_agree": ["numbers"]})
    pairs = make_pairs([(earlier, later) for later in range(90) for earlier in range(later)] + [(7, 7), (7, 8)])
    found = []
    for workers in (1, 2, 3):  # more than one worker: in parts of at least 1,024 pairs
        accepted, verified = bands.verify(pairs, prepared(components, texts, workers))
        found.append((accepted.tolist(), verified.scores.tolist(), verified.later.tolist()))
    assert found[0] == found[1] == found[2]
    assert found[0][2] == [7]
