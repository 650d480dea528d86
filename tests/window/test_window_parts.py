"""The parts of a window by themselves: kept posts, exact texts, edges, texts in memory, ids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import Int64s
from hybriddup.window import Window, hash_table, preparing
from hybriddup.window.derived.kept_posts import KeptPosts
from hybriddup.window.event_time import STEPS, Edges
from hybriddup.window.hash_table import HashTable
from hybriddup.window.preparing import EarlierTexts, exact_keys, hash_keys
from hybriddup.window.stores.ids import hash_ids
from tests.window.plugins import state_of
from tests.window.reference_window import CONFIG

steps_of_time = st.lists(st.floats(0, 5, width=16), max_size=40)


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.floats(0, 5, width=16), st.sampled_from([0.0, 0.5, 3.0, 40.0])), max_size=60
    ),
    st.sampled_from([2.0, 10.0, 100.0]),
)
def test_kept_posts_are_remembered_until_forgotten(posts: list[tuple[int, float, float]], horizon: float) -> None:
    """Those decided at a watermark after the edge, with their times, however far behind the watermark they came."""
    kept, position, watermark, all_kept = KeptPosts(), 0, 1e9, list[tuple[int, float, float]]()
    for gap, step, lag in posts:
        position, watermark = position + gap, watermark + step
        edge = watermark - horizon
        all_kept.append((position, watermark - lag, watermark))
        kept.add(*(np.array([column]) for column in all_kept[-1]))
        kept.forget_until(edge)
        held = [(at, time) for at, time, decided in all_kept if decided > edge]
        n_forgotten = len(all_kept) - len(held)
        assert len(kept) == len(held)
        numbers = np.arange(-1, len(all_kept))
        assert kept.positions_of(numbers).tolist() == [-1] * (1 + n_forgotten) + [at for at, _ in held]
        asked = np.arange(position + 7)
        assert kept.times_of(asked).tolist() == [dict(held).get(at, -np.inf) for at in asked.tolist()]
        assert kept.n_after(edge) == sum(time > edge for _, time in held)
        held_positions, held_times, _ = kept.columns()
        surely = held_positions >= kept.first_after(edge)
        assert (held_times[surely] > edge).all()
        assert surely.sum() >= sum(decided - 41 > edge for _, _, decided in all_kept)


def test_numbers_of_kept_posts_stay_when_columns_are_moved() -> None:
    kept = KeptPosts()
    for start in range(0, 20_000, 500):
        positions = 3 * np.arange(start, start + 500)
        kept.add(positions, positions.astype(float), positions.astype(float))
        kept.forget_before(int(positions[-1]) - 3 * 1200)
        numbers = np.arange(kept.first_number, start + 500)
        assert kept.positions_of(numbers).tolist() == (3 * numbers).tolist()
        assert len(numbers) == len(kept)


def test_texts_without_tokens_are_known_by_what_was_sent() -> None:
    """A text with tokens never equals one without, whatever they are."""
    says = np.array([False, False, False, True, True])
    texts = (["", "!", "!", "ab", "x"], ["x", "!!", "!!!", "AB", "X"], says, np.arange(7, 12))
    keys = exact_keys(*texts, "compare")
    assert keys[1] == keys[2]
    assert keys[3:] == [(True, "ab"), (True, "x")]
    assert len(set(hash_keys(keys).tolist())) == 4
    assert exact_keys(*texts, "keep")[1:] == keys[1:]
    assert exact_keys(*texts, "keep")[0] != keys[0]


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
            state_of(window).store._next = state_of(window).n_remembered = first
            decisions = [*window.add_many(texts[:2]), *window.add_many(texts[2:])]
            answers.append([each.evidence and (each.evidence.of_position - first) for each in decisions])
    assert answers[0] == answers[1] == [None, None, 0, 0, 1]


def earlier_texts() -> tuple[EarlierTexts, list[list[int]], list[list[str]]]:
    """Texts by position, the positions that were read, and the texts that were made ready."""
    read, made = list[list[int]](), list[list[str]]()

    def normalized_at(positions: Int64s) -> list[str]:
        read.append(positions.tolist())
        return [f"text {position}" for position in positions.tolist()]

    def compared(texts: Sequence[str]) -> list[str]:
        made.append(list(texts))
        return [text.upper() for text in texts]

    return EarlierTexts(normalized_at, compared), read, made


def both(*texts: str) -> tuple[list[str], list[str]]:
    """Texts, and what is made of them."""
    return list(texts), [text.upper() for text in texts]


def test_a_text_is_read_and_made_ready_once() -> None:
    texts, read, made = earlier_texts()
    assert texts.at(np.array([7, 3])) == both("text 7", "text 3")
    assert texts.at(np.array([3, 5, 7])) == both("text 3", "text 5", "text 7")
    assert texts.at(np.array([5, 7])) == both("text 5", "text 7")
    assert texts.at(np.zeros(0, np.int64)) == ([], [])
    assert (read, made) == ([[7, 3], [5]], [["text 7", "text 3"], ["text 5"]])


def test_texts_that_are_at_hand_are_not_read_until_they_are_deleted() -> None:
    texts, read, _ = earlier_texts()
    texts.hold([4, 5], *both("four", "five"))
    assert texts.at(np.array([5, 4])) == both("five", "four")
    assert read == []
    texts.forget(4)
    texts.forget(9)
    assert texts.at(np.array([4])) == both("text 4")


def test_no_more_than_so_many_characters_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "MOST_CHARACTERS", 30)
    texts, read, _ = earlier_texts()
    assert texts.at(np.array([1, 2, 3])) == both("text 1", "text 2", "text 3")
    for _ in range(2):
        assert texts.at(np.array([3])) == both("text 3")
    assert read == [[1, 2, 3], [3]]


@given(st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=8))
def test_positions_of_a_hash_are_found_in_all_segments(batches):
    hashes = range(32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hash_table, "SMALLEST_SEGMENT", 4)
        table = HashTable(5)
        for batch in batches:
            table.add(np.array(batch, np.uint64))
    added = list(enumerate(chain.from_iterable(batches), 5))
    expected = [[position for position, each in added if each == one] for one in hashes]
    assert [table.all(np.uint64(one)).tolist() for one in hashes] == expected
    assert table.latest(np.array(hashes, np.uint64)).tolist() == [([-1, *found])[-1] for found in expected]


def test_segments_are_given_back_when_their_positions_are_forgotten(monkeypatch):
    monkeypatch.setattr(hash_table, "SMALLEST_SEGMENT", 64)
    hashes = np.random.default_rng(3).integers(0, 2**64, 5000, np.uint64)
    table, largest = HashTable(0), []
    for first in range(0, 5000, 50):
        table.add(hashes[first : first + 50])
        table.forget_before(first + 50 - 1000)
        largest.append(table.n_bytes)
    assert max(largest[40:]) <= max(largest[:40])
    assert table.latest(hashes[4000:]).tolist() == list(range(4000, 5000))
    assert table.first <= 4000


def test_hashes_depend_on_the_key():
    first, again, other = (hash_ids(["a", 1], key) for key in (b"k" * 16, b"k" * 16, b"l" * 16))
    assert first.tolist() == again.tolist()
    assert not set(first.tolist()) & set(other.tolist())
