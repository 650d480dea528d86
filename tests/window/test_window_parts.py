"""The parts of a window by themselves: kept posts, exact texts, edges, texts in memory, ids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import Int64s
from hybriddup.errors import InputError
from hybriddup.window import Window, hash_table, preparing
from hybriddup.window.derived.kept_posts import KeptPosts
from hybriddup.window.event_time import STEPS, Edges
from hybriddup.window.hash_table import HashTable
from hybriddup.window.preparing import EarlierTexts, exact_keys, hash_keys
from hybriddup.window.sent_posts import as_post
from hybriddup.window.stores.ids import hash_ids, id_bytes
from tests.window.plugins import state_of
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
    with pytest.raises(InputError, match="post 1: 'id' has 513 bytes, and 512 are allowed") as caught:
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
        kept.add(positions[where], times[where], watermarks[where])
    n_forgotten = kept.forget_until(edge)
    assert n_forgotten == int((watermarks <= edge).sum())
    assert len(kept) == len(gaps) - n_forgotten
    forgotten = watermarks <= edge
    assert kept.positions_of(np.arange(-1, len(gaps))).tolist() == [-1, *np.where(forgotten, -1, positions).tolist()]
    expected = np.where(forgotten, -np.inf, times)
    assert kept.times_of(positions).tolist() == expected.tolist()
    assert kept.times_of(positions + 6).tolist() == [
        dict(zip(positions.tolist(), expected.tolist(), strict=True)).get(position, -np.inf)
        for position in (positions + 6).tolist()
    ]
    assert kept.n_after(edge) == int(((times > edge) & (watermarks > edge)).sum())


def test_numbers_of_kept_posts_stay_when_columns_are_moved() -> None:
    """A post is found by how many were added before it, however many have been forgotten."""
    kept = KeptPosts()
    for start in range(0, 20_000, 500):
        positions = 3 * np.arange(start, start + 500)
        kept.add(positions, positions.astype(float), positions.astype(float))
        kept.forget_before(int(positions[-1]) - 3 * 1200)
        numbers = np.arange(kept.first_number, start + 500)
        assert kept.positions_of(numbers).tolist() == (3 * numbers).tolist()
        assert len(numbers) == len(kept)


@given(
    st.lists(st.tuples(st.floats(0, 5, width=16), st.sampled_from([0.0, 0.5, 3.0, 40.0])), max_size=60),
    st.sampled_from([2.0, 10.0]),
)
def test_kept_posts_after_a_time_are_counted(posts: list[tuple[float, float]], horizon: float) -> None:
    """As by looking at each, however far behind the watermark posts came."""
    kept, watermark, held = KeptPosts(), 1e9, list[tuple[float, float]]()
    for position, (step, lag) in enumerate(posts):
        watermark += step
        kept.add(np.array([position]), np.array([watermark - lag]), np.array([watermark]))
        held.append((watermark - lag, watermark))
        kept.forget_until(watermark - horizon)
        held = [(time, at) for time, at in held if at > watermark - horizon]
        assert kept.n_after(watermark - horizon) == sum(time > watermark - horizon for time, _ in held)
        positions, times, _ = kept.columns()
        surely = positions >= kept.first_after(watermark - horizon)
        assert (times[surely] > watermark - horizon).all()
        assert surely.sum() >= sum(at - 41 > watermark - horizon for _, at in held)


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


class Reader:
    """Reads texts by position, and notes which were read and made ready."""

    def __init__(self) -> None:
        self.read: list[list[int]] = []
        self.made: list[list[str]] = []

    def normalized_at(self, positions: Int64s) -> list[str]:
        self.read.append(positions.tolist())
        return [f"text {position}" for position in positions.tolist()]

    def compared(self, texts: Sequence[str]) -> list[str]:
        self.made.append(list(texts))
        return [text.upper() for text in texts]


def test_a_text_is_read_and_made_ready_once() -> None:
    """However often it is asked for, beside whichever others, and in the order asked."""
    reader = Reader()
    texts = EarlierTexts(reader.normalized_at, reader.compared)
    assert texts.at(np.array([7, 3])) == (["text 7", "text 3"], ["TEXT 7", "TEXT 3"])
    assert texts.at(np.array([3, 5, 7])) == (["text 3", "text 5", "text 7"], ["TEXT 3", "TEXT 5", "TEXT 7"])
    assert texts.at(np.array([5, 7])) == (["text 5", "text 7"], ["TEXT 5", "TEXT 7"])
    assert texts.at(np.zeros(0, np.int64)) == ([], [])
    assert reader.read == [[7, 3], [5]]
    assert reader.made == [["text 7", "text 3"], ["text 5"]]


def test_texts_that_are_at_hand_are_not_read_until_they_are_deleted() -> None:
    """Posts that were just kept are held as they were made ready; forgetting one that was never held does nothing."""
    reader = Reader()
    texts = EarlierTexts(reader.normalized_at, reader.compared)
    texts.hold([4, 5], ["four", "five"], ["FOUR", "FIVE"])
    assert texts.at(np.array([5, 4])) == (["five", "four"], ["FIVE", "FOUR"])
    assert reader.read == []
    texts.forget(4)
    texts.forget(9)
    assert texts.at(np.array([4])) == (["text 4"], ["TEXT 4"])


def test_no_more_than_so_many_characters_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a batch all texts are returned, however long; the next one reads those anew that it needs."""
    monkeypatch.setattr(preparing, "MOST_CHARACTERS", 30)
    reader = Reader()
    texts = EarlierTexts(reader.normalized_at, reader.compared)
    assert texts.at(np.array([1, 2, 3])) == (["text 1", "text 2", "text 3"], ["TEXT 1", "TEXT 2", "TEXT 3"])
    assert texts.at(np.array([3])) == (["text 3"], ["TEXT 3"])
    assert texts.at(np.array([3])) == (["text 3"], ["TEXT 3"])
    assert reader.read == [[1, 2, 3], [3]]


@given(st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=8))
def test_positions_of_a_hash_are_found_in_all_segments(batches):
    """The last one for the post that has an id now, and all of them for ids that clash."""
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
    """Five windows' worth takes no more memory than two, and what is not forgotten is found."""
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


def test_ids_that_differ_have_bytes_that_differ():
    """A number is no text of its digits, nor of any other."""
    ids = ["1", 1, "-1", -1, "", "\udcff", "\xff1", 2**70, str(2**70), "a", "a\0"]
    assert len({id_bytes(each) for each in ids}) == len(ids)


def test_hashes_depend_on_the_key():
    """Who does not know the key cannot have ids clash."""
    first, again, other = (hash_ids(["a", 1], key) for key in (b"k" * 16, b"k" * 16, b"l" * 16))
    assert first.tolist() == again.tolist()
    assert not set(first.tolist()) & set(other.tolist())
