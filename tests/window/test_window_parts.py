"""The parts of a window by themselves: times, kept posts, exact texts, edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.errors import InputError
from hybriddup.window import Window
from hybriddup.window.derived import ExactTexts
from hybriddup.window.derived.kept_posts import KeptPosts
from hybriddup.window.derived.text_files import NOWHERE
from hybriddup.window.event_time import STEPS, Edges
from hybriddup.window.preparing import exact_keys, hash_keys
from hybriddup.window.records import as_post
from tests.window.reference_window import CONFIG

steps_of_time = st.lists(st.floats(0, 5, width=16), max_size=40)


@pytest.mark.parametrize("written", [10**400, pytest.param(10**5000, id="long"), float("nan"), "", "9" * 400, [1]])
def test_what_is_no_moment_is_refused(written: object) -> None:
    """However large the number is; the message does not repeat all of it."""
    with pytest.raises(InputError, match="post 3: 'created_at' must be seconds or milliseconds since 1970") as caught:
        as_post(3, {"text": "a", "created_at": written})
    assert len(str(caught.value)) < 250


def test_an_id_has_at_most_512_bytes() -> None:
    """As every answer about the post repeats it."""
    assert as_post(0, {"text": "a", "id": "é" * 256}).id == "é" * 256
    with pytest.raises(InputError, match="post 1: 'id' has 513 bytes, and 512 are the most") as caught:
        as_post(1, {"text": "a", "id": "é" * 256 + "e"})
    assert len(str(caught.value)) < 150


@given(st.lists(st.tuples(st.integers(1, 5), st.floats(0, 3, width=16)), max_size=60), st.floats(0, 200, width=16))
def test_kept_posts_are_remembered_until_forgotten(gaps: list[tuple[int, float]], edge: float) -> None:
    """Those decided at a watermark after the edge, with their times."""
    positions = np.cumsum([gap for gap, _ in gaps], dtype=np.int64)
    watermarks = np.cumsum([step for _, step in gaps])
    times = watermarks - 0.5
    kept = KeptPosts()
    for place in range(len(gaps)):
        where = slice(place, place + 1)
        kept.add(positions[where], times[where], watermarks[where], 7 * positions[where])
    n_forgotten = kept.forget_until(edge)
    assert n_forgotten == int((watermarks <= edge).sum())
    assert len(kept) == len(gaps) - n_forgotten
    expected = np.where(watermarks <= edge, -np.inf, times)
    assert kept.times_of(positions).tolist() == expected.tolist()
    assert kept.times_of(positions + 6).tolist() == [
        dict(zip(positions.tolist(), expected.tolist(), strict=True)).get(position, -np.inf)
        for position in (positions + 6).tolist()
    ]
    places = np.where(watermarks <= edge, NOWHERE, 7 * positions)
    assert kept.text_places_of(positions).tolist() == places.tolist()
    assert kept.n_after(edge) == int(((times > edge) & (watermarks > edge)).sum())


@given(
    st.lists(st.tuples(st.floats(0, 5, width=16), st.sampled_from([0.0, 0.5, 3.0, 40.0])), max_size=60),
    st.sampled_from([2.0, 10.0]),
)
def test_kept_posts_after_a_time_are_counted(posts: list[tuple[float, float]], horizon: float) -> None:
    """As by looking at each, however far behind the watermark posts came."""
    kept, watermark, held = KeptPosts(), 1e9, list[tuple[float, float]]()
    for position, (step, lag) in enumerate(posts):
        watermark += step
        kept.add(np.array([position]), np.array([watermark - lag]), np.array([watermark]), np.array([0]))
        held.append((watermark - lag, watermark))
        kept.forget_until(watermark - horizon)
        held = [(time, at) for time, at in held if at > watermark - horizon]
        assert kept.n_after(watermark - horizon) == sum(time > watermark - horizon for time, _ in held)
        positions, times, _ = kept.columns()
        surely = positions >= kept.first_after(watermark - horizon)
        assert (times[surely] > watermark - horizon).all()
        assert surely.sum() >= sum(at - 41 > watermark - horizon for _, at in held)


@given(st.lists(st.text(alphabet="ab", max_size=3), max_size=60))
def test_latest_post_with_a_text_is_found(texts: list[str]) -> None:
    """By the hash of the text; a text that was not added is not found."""
    exact, latest = ExactTexts(), {}
    for position, text in enumerate(texts):
        hashes = hash_keys([(True, text)])
        assert exact.find(hashes).tolist() == [latest.get(text, -1)]
        exact.add(hashes, np.array([position]), 0)
        latest[text] = position


def test_forgotten_texts_make_room() -> None:
    """The table grows with the texts that are remembered."""
    exact, sizes = ExactTexts(), []
    for start in range(0, 100_000, 500):
        hashes = hash_keys([(True, str(number)) for number in range(start, start + 500)])
        exact.add(hashes, np.arange(start, start + 500), max(start - 3000, 0))
        sizes.append(exact.n_bytes)
    assert max(sizes[30:]) == max(sizes[:30])
    assert exact.find(hash_keys([(True, str(number)) for number in range(97_000, 100_000)])).tolist() == list(
        range(97_000, 100_000)
    )


def test_texts_without_tokens_are_known_by_what_was_sent() -> None:
    """A text with tokens never equals one without, whatever they are."""
    texts = (["", "ab", "x"], ["x", "AB", "X"], np.array([False, True, True]), np.array([7, 8, 9]))
    keys = exact_keys(*texts, "compare")
    assert keys == [(False, "x"), (True, "ab"), (True, "x")]
    assert exact_keys(*texts, "keep")[0] == (False, "x\x007")
    assert len(set(hash_keys(keys).tolist())) == 3


@given(steps_of_time)
def test_edges_forget_only_what_is_older(steps: list[float]) -> None:
    """What is older and stays was decided within a thousandth of the horizon; packed and unpacked on the way."""
    horizon, watermark, edges, decided, forgotten = 10.0, 0.0, Edges(10.0), [], 0
    for position, step in enumerate(steps):
        if decided and edges.note(position, watermark):
            edges = Edges(horizon, edges.pack())
        watermark += step
        decided.append(watermark)
        forgotten = max(forgotten, edges.first_after(watermark - horizon))
        assert all(moment <= watermark - horizon for moment in decided[:forgotten])
        stale = [moment for moment in decided[forgotten:-1] if moment <= watermark - horizon]
        assert not stale or stale[-1] - stale[0] <= horizon / STEPS


def test_posts_are_decided_alike_at_any_position() -> None:
    """A window that runs for months comes to positions that 32 bits do not hold."""
    texts = ["abcdefg", "hijklmn", "abcdefx", "abcdefg", "hijklmx"]
    answers = []
    for first in (0, 2**33):
        with Window.open(None, CONFIG) as window:
            assert window._state is not None
            window._state.store._next = window._state.n_remembered = first  # type: ignore[attr-defined]
            decisions = [*window.add_many(texts[:2]), *window.add_many(texts[2:])]
            answers.append([each.evidence and (each.evidence.of_position - first) for each in decisions])
    assert answers[0] == answers[1] == [None, None, 0, 0, 1]
