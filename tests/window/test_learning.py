"""What a window learns for its weights, keys and verifiers is learned once, and kept with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from hybriddup.errors import StoreError, WindowError
from hybriddup.steps.verifiers.cosine import Cosine
from hybriddup.window import Decision, Window
from hybriddup.window.derived import DerivedState
from hybriddup.window.derived.kept_posts import KeptColumns
from hybriddup.window.stores import LEARNED, RECIPE
from hybriddup.window.stores.sqlite import SqliteStore
from tests.window.plugins import LEARN_AT, plugin, state_of
from tests.window.reference_window import CONFIG
from tests.window.stores import WITHOUT_RECORDS, change

pytestmark = pytest.mark.usefixtures("learns_early")
WORDS = ["rain", "paper", "winter", "concert", "bridge", "summer", "price", "closed", "number", "open"]
PROBE = "rain paper rain bridge price"


def comparing_by(use: str, **options: Any) -> dict[str, Any]:
    """A configuration with a verifier, whose weights need no learning."""
    verifier = {"use": use, "threshold": 0.99, **options}
    return CONFIG | {"tokenizer": {"use": "words"}, "lengths": [{"max_hamming_distance": 63, "verifier": verifier}]}


COSINE = comparing_by("cosine")
FITTED = COSINE | {"weighter": {"use": "tfidf"}, "blocks": {"use": "shingles"}}


def texts(n: int) -> list[str]:
    """Texts of which the first words of the list are in most, and the last in few."""
    random = Random(3)  # noqa: S311
    return [" ".join(WORDS[min(int(random.expovariate(0.4)), 9)] for _ in range(6)) + f" {i}" for i in range(n)]


def scores(window: Window) -> dict[str | int, float]:
    return {match.id: match.score for match in window.match(PROBE, limit=500)}


def learned(folder: Path) -> dict[str, bytes]:
    store = SqliteStore.open(folder)
    names = (LEARNED, RECIPE)
    packed = {name: store.meta(name) for name in names}
    store.close()
    return {name: value for name, value in packed.items() if value is not None}


def test_a_pair_has_the_same_score_at_every_opening(tmp_path: Path) -> None:
    with Window.open(tmp_path, COSINE) as window:
        window.add_many(texts(LEARN_AT))
        learned = scores(window)
        window.add_many([f"{text} bridge price" for text in texts(LEARN_AT)])
        later = scores(window)
    assert len(set(learned.values())) > 5
    with Window.open(tmp_path, COSINE) as window:
        assert scores(window) == later
    assert {post: later[post] for post in learned} == learned


def test_weights_and_keys_are_learned_from_what_they_are_made_of_later(tmp_path: Path) -> None:
    """Mentions within a sentence, which take no part in fingerprints and keys, change nothing."""
    for name, mention in (("with", "@bo "), ("without", "")):
        with Window.open(tmp_path / name, "posts") as window:
            window.add_many([f"{text} {mention}and {text}" for text in texts(LEARN_AT)])
    assert learned(tmp_path / "with")
    assert learned(tmp_path / "with") == learned(tmp_path / "without")


def test_scores_are_by_how_rare_words_are_once_enough_posts_came() -> None:
    with Window.open(None, COSINE) as window, Window.open(None, comparing_by("cosine", idf=False)) as plain:
        for each in (window, plain):
            each.add_many(texts(LEARN_AT - 1))
        assert scores(window) == scores(plain)
        window.add("one more")
        assert scores(window) != scores(plain)


@pytest.mark.parametrize("config", [COSINE, FITTED], ids=["verifier", "weights"])
@pytest.mark.parametrize("batch", [pytest.param(1, marks=pytest.mark.slow), 7, LEARN_AT + 20])
def test_windows_learn_after_the_same_post_however_posts_are_sent(
    config: dict[str, Any], batch: int, tmp_path: Path
) -> None:
    posts, decisions = texts(LEARN_AT + 20), list[Decision]()
    with Window.open(tmp_path / "at once", config) as window:
        expected = window.add_many(posts)
    for start in range(0, len(posts), batch):
        with Window.open(tmp_path / "in parts", config) as window:
            decisions += window.add_many(posts[start : start + batch])
    assert decisions == expected
    assert learned(tmp_path / "at once") == learned(tmp_path / "in parts") != {}


def test_a_verifier_that_is_new_to_a_window_learns_when_it_is_opened(tmp_path: Path) -> None:
    with Window.open(tmp_path, comparing_by("cosine", features="char_ngrams")) as window:
        window.add_many(texts(LEARN_AT + 20))
    with Window.open(tmp_path, COSINE) as window:
        learned = scores(window)
        window.add_many(["price price", "number number"])
    with Window.open(tmp_path, COSINE) as window:
        assert learned.items() <= scores(window).items()


@pytest.mark.parametrize("config", [COSINE, FITTED], ids=["verifier", "weights"])
@pytest.mark.parametrize("goes_on", [False, True], ids=["opened again", "goes on"])
def test_learning_that_could_not_be_written_fails_no_batch(
    config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, goes_on: bool
) -> None:
    posts, more = texts(LEARN_AT), ["paper bridge 17", "rain rain rain paper 5"]
    with Window.open(tmp_path / "whole", config) as window:
        answers = window.add_many(posts)
        later = window.add_many(more)
    with Window.open(tmp_path / "cut", config) as window, monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "set_meta", Mock(side_effect=StoreError("the disk is full")))
        assert window.add_many(posts) == answers
        assert window.add_many(more) == later if goes_on else True
    if not goes_on:
        with Window.open(tmp_path / "cut", config) as window:
            assert window.add_many(more) == later
    with Window.open(tmp_path / "cut", config) as window, Window.open(tmp_path / "whole", config) as whole:
        assert scores(window) == scores(whole)
    assert learned(tmp_path / "cut") == learned(tmp_path / "whole") != {}


def test_a_verifier_that_cannot_learn_fails_no_batch(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = comparing_by("own")
    with Window.open(tmp_path, config, plugins=[plugin(FailsToLearn, "verifier")]) as window:
        decisions = window.add_many(texts(LEARN_AT + 20))
        assert len(decisions) == LEARN_AT + 20
        window.add_many(["price price", "number number"])
    said = [record.getMessage() for record in caplog.records if "could not learn" in record.getMessage()]
    assert len(said) == 1
    assert "nothing to learn here" in said[0]


def test_weights_that_were_learned_hold_though_a_verifier_cannot_learn(tmp_path: Path) -> None:
    """What was kept before has the fingerprints of the new weights, now and when the window is opened again."""
    config = FITTED | {"lengths": comparing_by("own")["lengths"]}
    posts, plugins = texts(LEARN_AT + 20), [plugin(FailsToLearn, "verifier")]
    probes = [text + " bridge" for text in posts[:20]]
    with Window.open(tmp_path, config, plugins=plugins) as window:
        window.add_many(posts)
        found = [window.match(probe, limit=500) for probe in probes]
    with Window.open(tmp_path, config, plugins=plugins) as window:
        assert [window.match(probe, limit=500) for probe in probes] == found
    assert any(found)


class FailsToLearn(Cosine):
    """Learns from nothing only."""

    def prepare(self, context: Any) -> None:
        if context.texts:
            raise ValueError("nothing to learn here")
        super().prepare(context)


class CannotKeep(Cosine):
    """Learns, and cannot tell what."""

    learned = None  # type: ignore[assignment]


class OfAnotherVersion(Cosine):
    """Asks for what was not kept."""

    def use_learned(self, learned: Any) -> None:
        self._frequencies = learned["something else"]


def test_a_verifier_whose_learning_cannot_be_kept_learns_at_each_opening(tmp_path: Path) -> None:
    with Window.open(tmp_path, comparing_by("own"), plugins=[plugin(CannotKeep, "verifier")]) as window:
        window.add_many(texts(LEARN_AT // 2))
        unlearned = scores(window)
    with Window.open(tmp_path, comparing_by("own"), plugins=[plugin(CannotKeep, "verifier")]) as window:
        assert scores(window) != unlearned


def test_what_a_verifier_cannot_use_is_an_error_that_names_it(tmp_path: Path) -> None:
    with Window.open(tmp_path, comparing_by("own"), plugins=[plugin(Cosine, "verifier")]) as window:
        window.add_many(texts(LEARN_AT))
        learned = scores(window)
    with pytest.raises(WindowError, match="the learned data of verifier own cannot be used: KeyError"):
        Window.open(tmp_path, comparing_by("own"), plugins=[plugin(OfAnotherVersion, "verifier")])
    with Window.open(tmp_path, comparing_by("own"), plugins=[plugin(Cosine, "verifier")]) as window:
        assert scores(window) == learned


def greetings(n: int) -> list[str]:
    random = Random(5)  # noqa: S311
    return [
        "每天早上都要说一遍的话" + "".join(chr(random.randrange(0x4E00, 0x9000)) for _ in range(40)) for _ in range(n)
    ]


def common_in(window: Window) -> Mapping[str, list[int]]:
    return {name: array.tolist() for name, array in state_of(window).steps.components.block_index.learned().items()}


def test_common_shingles_are_learned_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = greetings(LEARN_AT + 60)
    with Window.open(tmp_path, "weibo") as window:
        window.add_many(posts[: LEARN_AT - 1])
        assert not any(any(words) for words in common_in(window).values())
        window.add_many(posts[LEARN_AT - 1 : LEARN_AT + 30])
        common = common_in(window)
        assert any(any(words) for words in common.values())
        window.add_many(posts[LEARN_AT + 30 :])
        assert common_in(window) == common
        state = state_of(window)
        stored = state.store.posts(np.arange(state.store.next_position))
        kept = state.steps.normalize([post.text for post in stored if post.kept])
    held, add = list[list[int]](), DerivedState.add

    def noted(derived: DerivedState, columns: KeptColumns, *looked_up: Any) -> None:
        held.extend(columns.texts.keys.tolist())
        add(derived, columns, *looked_up)

    monkeypatch.setattr(DerivedState, "add", noted)
    for has_records in (True, False):
        if not has_records:
            change(tmp_path, WITHOUT_RECORDS)
        held.clear()
        with Window.open(tmp_path, "weibo") as window:
            assert common_in(window) == common
            index = state_of(window).steps.components.block_index
            assert held == index.keys(kept, None).tolist()
            assert not any(window.add(text).kept for text in posts[::20])


def test_limits_hit_are_counted_on_when_the_index_is_made_anew() -> None:
    """What an index counted that is given up is not forgotten with it."""
    posts = greetings(LEARN_AT)
    with Window.open(None, {"blocks": {"use": "shingles", "max_bucket_size": 5}}) as window:
        window.add_many(posts[:-1])
        before, index = window.stats().limits_hit["max_bucket_size"], state_of(window).derived.index
        window.add(posts[-1])
        assert state_of(window).derived.index is not index
        assert window.stats().limits_hit["max_bucket_size"] >= before > 0
