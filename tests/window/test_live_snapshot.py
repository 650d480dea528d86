"""A snapshot is whole and of the right recipe, or it is not believed."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybriddup.config.settings import ComponentSettings
from hybriddup.steps.blocks import Expectation
from hybriddup.window.index import LiveIndex
from hybriddup.window.index import snapshot as snapshots
from hybriddup.window.index.live_shapes import make_live_index
from hybriddup.window.index.snapshot import load, save
from tests.builders import as_triples, clustered_numbers, make_limits, make_prints
from tests.steps.block_runs import no_pilot


def index_with(n: int, bits: int = 128, *, sketched: bool = False) -> LiveIndex:
    """An index with some texts, of which the first ten are forgotten."""
    rng = np.random.default_rng(n)
    index = make_live_index(
        ComponentSettings(use="blocks"), Expectation(max(n, 1), 1, bits, 3, no_pilot), sketched=sketched
    )
    limits = make_limits(n, lengths=rng.integers(1, 300, n).tolist(), common_of_shorter=0.25, max_partner_lengths=300)
    prints = make_prints(clustered_numbers(rng, n, bits, 5), bits, limits=limits)
    index.add(prints, rng.integers(0, 2**64, (n, 2), np.uint64) if sketched else None)
    index.forget_before(10)
    return index


@pytest.mark.parametrize("n", [0, 1, 11, 1000, 70_000])
@pytest.mark.parametrize("sketched", [False, True])
def test_texts_come_back_as_they_were(tmp_path: Path, n: int, sketched: bool) -> None:
    """Positions, bits, limits and sketches, in several batches where there are many."""
    index = index_with(n, sketched=sketched)
    save(tmp_path / "index", index, recipe_id="abc", position=n)
    snapshot = load(tmp_path / "index", "abc")

    assert snapshot is not None
    assert (snapshot.position, snapshot.n_texts, snapshot.sketched) == (n, max(n - 10, 0), sketched)
    for texts, again in zip(index.texts(), snapshot.texts(), strict=True):
        assert np.array_equal(texts.prints.positions, again.prints.positions)
        assert np.array_equal(texts.prints.bits, again.prints.bits)
        for column, loaded in zip(texts.prints.limits, again.prints.limits, strict=True):
            assert np.array_equal(column, loaded)
            assert column.dtype == loaded.dtype
        assert (texts.sketches is None) == (again.sketches is None) == (not sketched)
        assert np.array_equal(np.array(texts.sketches), np.array(again.sketches))


def test_restored_index_answers_the_same(tmp_path: Path) -> None:
    """Also where it is of another kind than the one that was saved."""
    index = index_with(1000)
    save(tmp_path / "index", index, recipe_id="abc", position=1000)
    snapshot = load(tmp_path / "index", "abc")
    restored = make_live_index(ComponentSettings(use="scan"), Expectation(10, 1, 128, 3, no_pilot))
    assert snapshot is not None
    snapshot.restore(restored)
    texts = next(index.texts()).prints
    later = replace(texts, positions=texts.positions + 1000)

    assert as_triples(restored.candidates(later)) == as_triples(index.candidates(later))
    assert as_triples(index.candidates(later))


def test_damaged_snapshots_are_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever byte is wrong or missing, and whatever is appended."""
    path, rng = tmp_path / "index", np.random.default_rng(0)
    save(path, index_with(40), recipe_id="abc", position=40)
    whole = path.read_bytes()
    assert load(path, "abc") is not None
    places = {*range(60), *range(len(whole) - 12, len(whole)), *rng.integers(0, len(whole), 200).tolist()}
    for place in sorted(places):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        assert load(path, "abc") is None, place
    for length in [*range(50), *rng.integers(0, len(whole), 50).tolist(), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert load(path, "abc") is None, length
    path.write_bytes(whole + b"\0")
    assert load(path, "abc") is None
    assert "rebuilt from the store" in caplog.text


@pytest.mark.parametrize(
    ("recipe_id", "version", "reason"),
    [("other", snapshots.VERSION, "recipe id is abc"), ("abc", snapshots.VERSION + 1, "of version")],
)
def test_foreign_snapshots_are_refused(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    recipe_id: str,
    version: int,
    reason: str,
) -> None:
    """The log says why."""
    save(tmp_path / "index", index_with(40), recipe_id="abc", position=40)
    monkeypatch.setattr(snapshots, "VERSION", version)

    assert load(tmp_path / "index", recipe_id) is None
    assert reason in caplog.text


def test_no_snapshot_is_nothing_to_warn_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A window that is opened for the first time has none."""
    with caplog.at_level(logging.DEBUG):
        assert load(tmp_path / "index", "abc") is None
    assert caplog.text == ""


def test_failed_save_leaves_the_old_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no unfinished file."""
    save(tmp_path / "index", index_with(40), recipe_id="abc", position=40)

    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path / "index", index_with(50), recipe_id="abc", position=50)
    snapshot = load(tmp_path / "index", "abc")
    assert snapshot is not None
    assert snapshot.position == 40
    assert [file.name for file in tmp_path.iterdir()] == ["index"]
