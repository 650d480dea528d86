"""Live indexes that find texts by their shingles: what is planned, what is found, and how an index becomes another."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from hybriddup.config.settings import ComponentSettings
from hybriddup.errors import WindowError
from hybriddup.kernels.chain_look_ups import FULL_BUCKETS
from hybriddup.kernels.shingles import NO_SHINGLE
from hybriddup.records import Fingerprints, UInt32s
from hybriddup.steps.blocks import Expectation
from hybriddup.testing import check_live_index
from hybriddup.testing.live_indexes import shingles_like
from hybriddup.window import Window
from hybriddup.window.index import LiveIndex, fill
from hybriddup.window.index.live_scan import LiveScan
from hybriddup.window.index.live_shapes import FEW_TEXTS, MOST_WITH_SHINGLE, make_live_index
from hybriddup.window.index.live_tables import LiveTables
from hybriddup.window.index.modeled_pairs import model_pairs
from hybriddup.window.index.shingles import MOST_SHINGLES, CountedShingles, Shingler, count_shingles, n_needed
from hybriddup.window.learning import COMMON_IN
from hybriddup.window.memory.kept_log import FOLDER
from tests.builders import as_triples, make_prints
from tests.window.reference_window import CONFIG

TABLES = ComponentSettings(use="tables")


def same_shingles() -> tuple[UInt32s, UInt32s]:
    """Pilot texts that share their second shingle and no other."""
    n = len(model_pairs(64, 3)[0])
    earlier = np.arange(n * MOST_SHINGLES, dtype=np.uint32).reshape(n, MOST_SHINGLES)
    later = earlier + np.uint32(n * MOST_SHINGLES)
    later[:, 1] = earlier[:, 1]
    return earlier, later


def no_shared_shingles() -> tuple[UInt32s, UInt32s]:
    """Pilot texts that share none."""
    earlier, later = same_shingles()
    return earlier, later + np.uint32(2**20)


def index_for(n_texts: int, pilot_shingles: object = same_shingles, bits: int = 64) -> LiveIndex:
    """An index of `tables` for so many texts."""
    expectation = Expectation(n_texts, 1, bits, 3, lambda: model_pairs(bits, 3))
    return make_live_index(TABLES, expectation, pilot_shingles=pilot_shingles, memory=10**9)  # type: ignore[arg-type]


def prints_at(first: int, n: int) -> Fingerprints:
    """Fingerprints that differ in many bits, at positions from ``first`` on."""
    rng = np.random.default_rng(first)
    return make_prints([int(word) for word in rng.integers(0, 2**64, n, np.uint64)], positions=range(first, first + n))


def test_live_indexes_of_shingles_keep_their_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """The conformance suite, with an index of shingles."""
    monkeypatch.setattr("hybriddup.window.index.live_shapes.FEW_TEXTS", 0)

    def make(expectation: Expectation) -> LiveIndex:
        planned = replace(expectation, pilot=lambda: model_pairs(expectation.bits, 3))
        index = make_live_index(TABLES, planned, pilot_shingles=same_shingles, memory=10**9)
        assert index.n_shingles > 0
        return index

    check_live_index(make)


def test_shingles_are_taken_where_they_find_enough() -> None:
    """They are so where all pilot pairs share one; otherwise bits of the fingerprints are sampled."""
    by_shingles, by_bits = index_for(FEW_TEXTS + 1), index_for(FEW_TEXTS + 1, no_shared_shingles)

    assert by_shingles.report().shape.startswith("shingles: 12 of each text")
    assert by_bits.report().shape.startswith("tables: ")
    assert not by_shingles.report().exact


def test_a_fixed_shape_is_kept_to() -> None:
    """Options that fix tables of sampled bits are heeded."""
    blocks = ComponentSettings(use="tables", options={"n_tables": 2, "key_bits": 8})
    expectation = Expectation(FEW_TEXTS + 1, 1, 64, 3, lambda: model_pairs(64, 3))
    index = make_live_index(blocks, expectation, pilot_shingles=same_shingles)

    assert index.n_shingles == 0


def test_texts_are_found_by_one_shingle_in_common() -> None:
    """Whatever bits differ, as long as no more do than the limit says."""
    index = index_for(FEW_TEXTS + 1)
    prints = make_prints([0b000, 0b001, 0b111], positions=range(3))
    shingles = np.arange(3 * MOST_SHINGLES, dtype=np.uint32).reshape(3, MOST_SHINGLES) << np.uint32(24)
    shingles[2, 5] = shingles[0, 3]
    index.add(prints.take(slice(0, 2)), None, shingles[:2])

    assert as_triples(index.candidates(prints.take(slice(2, 3)), None, shingles[2:])) == [(0, 2, 3)]


def test_texts_without_shingles_find_nothing() -> None:
    """The sign for no shingle is none that two texts could have in common."""
    index = index_for(FEW_TEXTS + 1)
    prints = make_prints([5, 5])
    none = np.full((2, MOST_SHINGLES), NO_SHINGLE, np.uint32)
    index.add(prints.take(slice(0, 1)), None, none[:1])

    assert as_triples(index.candidates(prints.take(slice(1, 2)), None, none[1:])) == []


def test_missing_shingles_are_an_error() -> None:
    """An index that goes by shingles says so, instead of finding nothing."""
    with pytest.raises(ValueError, match="shingles"):
        index_for(FEW_TEXTS + 1).add(make_prints([5]))
    with pytest.raises(ValueError, match="12 shingles"):
        index_for(FEW_TEXTS + 1).add(make_prints([5]), None, np.zeros((1, 11), np.uint32))


def test_a_scan_keeps_shingles_for_the_index_after_it() -> None:
    """When the window outgrows it, the next index is filled from it."""
    scan, prints = index_for(10), prints_at(0, 50)
    assert isinstance(scan, LiveScan)
    scan.add(prints, None, shingles_like(prints, MOST_SHINGLES))
    index = index_for(FEW_TEXTS + 1)
    fill(index, scan.texts())
    later = Fingerprints(prints.positions + 50, prints.bits, prints.strengths, prints.limits)

    assert isinstance(index, LiveTables)
    found = as_triples(index.candidates(later, None, shingles_like(later, MOST_SHINGLES)))
    assert found == [(place, 50 + place, 0) for place in range(50)]


@pytest.mark.parametrize(
    ("earlier", "later", "needed"),
    [([1, 2, 3], [1, 5, 6], 1), ([1, 2, 3], [2, 3, 4], 2), ([1, 2, 3], [4, 5, 3], 3), ([1, 2], [3, 4], 17)],
)
def test_how_many_shingles_a_pair_needs(earlier: list[int], later: list[int], needed: int) -> None:
    """The smallest number of first ones among which there is one in common."""
    assert n_needed(np.array([earlier], np.uint32), np.array([later], np.uint32)).tolist() == [needed]


def test_pairs_need_a_shingle_that_there_is() -> None:
    """That both texts have too few is nothing in common."""
    none = np.full((1, 4), NO_SHINGLE, np.uint32)
    assert n_needed(none, none).tolist() == [MOST_SHINGLES + 1]


def test_a_window_by_shingles_finds_what_a_scan_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions about texts and edited copies of them, with so large a window that texts go by shingles."""
    monkeypatch.setattr("hybriddup.window.index.live_shapes.FEW_TEXTS", 100)
    random = Random(4)  # noqa: S311
    letters = [chr(0x4E00 + number) for number in range(3000)]
    texts = ["".join(random.choices(letters, k=random.randint(12, 60))) for _ in range(1500)]
    copies = [text[:5] + random.choice(letters) + text[6:] for text in texts]
    with (
        Window.open(None, "weibo") as window,
        Window.open(None, {"blocks": {"use": "scan"}}) as truth,
    ):
        posts = [text for pair in zip(texts, copies, strict=True) for text in pair]
        found = [window.add_many(posts[first : first + 100]) for first in range(0, len(posts), 100)]
        expected = [truth.add_many(posts[first : first + 100]) for first in range(0, len(posts), 100)]
        assert window.stats().index.startswith("shingles: ")
    assert found == expected
    assert sum(not decision.kept for batch in found for decision in batch) > 1000


def test_limits_hit_are_counted_on_when_the_index_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an index counted that was outgrown is not forgotten with it."""
    monkeypatch.setattr("hybriddup.window.index.live_shapes.FEW_TEXTS", 100)
    monkeypatch.setattr("hybriddup.window.index.live_scan.MOST_NEAR", 5)
    alike = [f"{'天气预报说今天有小雨' * 3}{chr(0x4E00 + 40 * number) * 12}" for number in range(190)]
    with Window.open(None, "weibo") as window:
        window.add_many(alike[:100])
        window.add_many(alike[100:])
        before = window.stats()
        window.add_many([chr(0x5E00 + number) * 9 + chr(0x7000 + number) * 9 for number in range(300)])
        after = window.stats()

    assert before.index.startswith("scan")
    assert after.index.startswith("shingles")
    assert after.limits_hit["most_near"] >= before.limits_hit["most_near"] > 0


def test_what_is_common_comes_last() -> None:
    """Once it was learned; what was learned can be used by another."""
    greeting, rest = "早上好各位朋友", "今天的天气很特别啊真的是第一次见到"
    shingler, other = Shingler(), Shingler()
    before = set(shingler.shingles([greeting + rest])[0, :10].tolist())
    shingler.learn(count_shingles([greeting + chr(0x4E00 + 9 * i) * 3 for i in range(3)]), 3)
    after = shingler.shingles([greeting + rest])

    of_greeting = shingler.shingles([greeting])[0]
    in_all_texts = of_greeting[of_greeting >= 2**31][:-1]
    assert len(in_all_texts) >= 4
    assert not set(after[0, :10].tolist()) & set(in_all_texts.tolist())
    assert set(after[0, :10].tolist()) != before
    other.use(shingler.learned())
    assert other.shingles([greeting + rest]).tolist() == after.tolist()


def test_common_shingles_are_those_of_several_texts() -> None:
    """A shingle that one text repeats is none."""
    shingler = Shingler()
    shingler.learn(count_shingles(["哈哈哈哈哈哈哈哈哈哈哈哈", "你好世界啊"] * 2), 3)
    assert not np.frombuffer(shingler.learned(), "<u4").any()


def test_what_another_version_learned_is_refused() -> None:
    """The error says what to do."""
    with pytest.raises(WindowError, match="begin a new store"):
        Shingler().use(b"123")


def test_common_shingles_are_learned_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that is opened again makes the shingles that it made, from the log as from the posts."""
    for module in ("state", "learning"):
        monkeypatch.setattr(f"hybriddup.window.{module}.FIT_AT", 200)
    random = Random(5)  # noqa: S311
    texts = [
        "每天早上都要说一遍的话" + "".join(chr(random.randrange(0x4E00, 0x9000)) for _ in range(40)) for _ in range(260)
    ]
    with Window.open(tmp_path, "weibo") as window:
        window.add_many(texts[:199])
        assert not any(shingler_of(window).learned())
        window.add_many(texts[199:230])
        learned = shingler_of(window).learned()
        assert any(learned)
        window.add_many(texts[230:])
        assert shingler_of(window).learned() == learned
        kept = [post.compared_text for posts in window._state.store.kept_since(0) for post in posts]  # type: ignore[union-attr]
    for has_log in (True, False):
        if not has_log:
            shutil.rmtree(tmp_path / FOLDER)
        with Window.open(tmp_path, "weibo") as window:
            assert shingler_of(window).learned() == learned
            assert held_shingles(window) == shingler_of(window).shingles(kept).tolist()


def test_no_more_shingles_are_common_than_go_with_finding_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where copies would share too few of the others, fewer are common, at last none."""
    wanted: list[int] = []
    learn = Shingler.learn

    def noted(self: Shingler, counted: CountedShingles, common_in: int) -> None:
        wanted.append(common_in)
        learn(self, counted, common_in)

    monkeypatch.setattr(Shingler, "learn", noted)
    monkeypatch.setattr("hybriddup.window.learning.FEWEST_SHINGLES", 0)
    with Window.open() as window:
        window.add_many([chr(0x4E00 + 5 * i) * 3 + "今天的天气很特别啊" for i in range(20)])
        assert window._state is not None
        window._state.learn()
        assert not any(shingler_of(window).learned())
    assert wanted == [*COMMON_IN, 1]


def test_tables_that_are_given_learn_nothing() -> None:
    """Nobody asks for shingles where options say which bits are sampled."""
    config = CONFIG | {"blocks": {"use": "tables", "n_tables": 4, "key_bits": 10}}
    with Window.open(config=config) as window:
        window.add_many(["早上好各位朋友", "今天的天气很特别啊"])
        assert window._state is not None
        assert not window._state.shingles_learn
        assert window._state.memory.index.n_shingles == 0


def shingler_of(window: Window) -> Shingler:
    """What makes the shingles of a window."""
    assert window._state is not None
    return window._state.steps.shingler


def held_shingles(window: Window) -> list[list[int]]:
    """The shingles that the live index of a window holds, in order."""
    assert window._state is not None
    return [row for some in window._state.memory.index.texts() for row in some.shingles.tolist()]  # type: ignore[union-attr]


def test_of_very_many_near_texts_some_of_each_bucket_are_enough() -> None:
    """Thousands of texts made to be near one text are not all looked at, and the limit is counted."""
    index = index_for(FEW_TEXTS + 1)
    n_in_bucket = MOST_WITH_SHINGLE
    own = np.arange(1, 13, dtype=np.uint32) << np.uint32(20)
    shingles = np.arange(12 * n_in_bucket * MOST_SHINGLES, dtype=np.uint32).reshape(-1, MOST_SHINGLES) + np.uint32(
        2**30
    )
    shingles[:, 0] = np.repeat(own, n_in_bucket)
    index.add(make_prints([5] * len(shingles)), None, shingles)
    later = np.full((1, MOST_SHINGLES), NO_SHINGLE, np.uint32)
    later[0, :12] = own
    found = index.candidates(make_prints([5], positions=[len(shingles)]), None, later)

    assert FULL_BUCKETS * n_in_bucket < len(found) < 2 * FULL_BUCKETS * n_in_bucket
    assert set(np.unique(found.earlier // n_in_bucket).tolist()) == set(range(12))
    assert index.report().limits_hit["max_bucket_size"] == 12
