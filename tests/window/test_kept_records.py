"""Records of kept posts say what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.config.load import Config, open_session
from hybriddup.data.records import NO_KEY, SKETCH_WORDS, UInt64s
from hybriddup.run.components import Components
from hybriddup.window.derived import kept_records
from hybriddup.window.derived.kept_posts import KeptColumns
from hybriddup.window.derived.kept_records import RecordForm
from hybriddup.window.preparing import Steps
from tests.builders import Fingerprints, make_batch
from tests.window.reference_window import CONFIG

BEFORE = 5


def form_of(config: Config, learn_from: Sequence[str] = ()) -> RecordForm:
    settings, manager = open_session(config, ())
    components = Components.create(settings, manager.registry, 1)
    components.fingerprinter.fit([])
    if learn_from:
        components.block_index.learn(learn_from)
    form = RecordForm.of(Steps(components, workers=1))
    assert form is not None
    return form


EDIT = {"use": "edit", "threshold": 0.8}
PLAIN, WEIBO = form_of(CONFIG), form_of("weibo")
ODD = form_of({"blocks": {"use": "shingles", "n_shingles": 5}})
BITS = form_of({"blocks": {"use": "probing"}, "lengths": [{"max_hamming_distance": 9, "verifier": EDIT}]})
FORMS = [PLAIN, WEIBO, ODD, BITS]
"""Without keys; with them, an even and an odd number; and with such as the fingerprints tell."""


def some_columns(seed: int, n: int, form: RecordForm) -> KeptColumns:
    """Columns of posts after `BEFORE`, of which about half could have near repeats."""
    rng = np.random.default_rng(seed)
    positions = BEFORE + np.cumsum(rng.integers(1, 9, n))
    found = np.flatnonzero(rng.random(n) < 0.5)
    words = form.dtype["bits"].shape[0]
    lengths = rng.integers(0, 300, len(found)).astype(np.int32)
    bits = rng.integers(0, 2**64, (len(found), words), np.uint64)
    prints = Fingerprints(positions[found], bits, form.bands.limits_of(lengths))
    sketches = rng.integers(0, 2**64, (len(found), SKETCH_WORDS), np.uint64) if form.dtype["sketch"].itemsize else None
    keys = some_keys(rng, bits, form)
    probes = form.index.probes(keys, bits) if form.index.probes_others else keys
    times = rng.random(n) * 1e9
    hashes = rng.integers(1, 2**64, n, np.uint64)
    return KeptColumns(
        positions, times, np.maximum.accumulate(times), hashes, make_batch(prints, sketches, keys, probes)
    )


def some_keys(rng: np.random.Generator, bits: UInt64s, form: RecordForm) -> UInt64s:
    """Keys such as the form's index makes, some of them missing."""
    if not form.index.reads_texts:
        return form.index.keys([""] * len(bits), bits)
    keys = rng.integers(0, 2**32 - 1, (len(bits), form.index.n_keys or 0), np.uint64)
    keys[rng.random(keys.shape) < 0.2] = NO_KEY
    return keys


def arrays_of(columns: KeptColumns) -> list[object]:
    texts, of = columns.texts, columns.texts.columns
    limits = of.limits[of.facts["kind"]]
    return [*columns[:4], texts.positions, of.bits, of.lengths, limits, of.sketches, texts.keys, texts.probes]


def same(a: object, b: object) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(np.asarray(a), np.asarray(b)) and np.asarray(a).dtype == np.asarray(b).dtype


@given(st.integers(0, 99), st.integers(0, 40), st.sampled_from(FORMS))
def test_records_say_what_was_written(seed: int, n: int, form: RecordForm) -> None:
    columns = some_columns(seed, n, form)
    read = form.columns(form.records(columns).tobytes())
    assert all(map(same, arrays_of(columns), arrays_of(read)))


@given(st.integers(0, 99), st.integers(0, 40), st.integers(1, 60))
def test_a_batch_is_packed_in_parts(seed: int, n: int, size: int) -> None:
    columns = some_columns(seed, n, WEIBO)
    end = int(columns.positions.max(initial=BEFORE)) + 5
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kept_records, "POSTS_PER_PART", size)
        parts = WEIBO.derived(columns, BEFORE, end).parts
    ends = [part_end for part_end, _ in parts]
    assert np.diff([BEFORE, *ends]).max() <= size
    assert ends[-1] == end
    for first, (part_end, packed) in zip([BEFORE, *ends], parts, strict=False):
        positions = WEIBO.columns(packed).positions
        assert ((first <= positions) & (positions < part_end)).all()
    assert b"".join(packed for _, packed in parts) == WEIBO.records(columns).tobytes()


def test_what_records_depend_on_is_told_apart() -> None:
    other_lengths = CONFIG | {"lengths": [{"max_hamming_distance": 5, "verifier": {"use": "edit", "threshold": 0.7}}]}
    other_recipe = CONFIG | {"normalizer": {"use": "microblog"}}
    other_keys = CONFIG | {"blocks": {"use": "shingles"}}
    learned = form_of(other_keys, learn_from=[f"{one}早上好各位朋友{one}" for one in "一二三四五六七八九十百千"])
    forms = [PLAIN, *map(form_of, (other_lengths, other_recipe, other_keys)), learned, WEIBO]
    assert len({form.made_with for form in forms}) == len(forms)
    assert form_of(CONFIG).made_with == PLAIN.made_with


def test_fewer_keys_than_there_may_be_are_filled_up() -> None:
    """With such as stand for none, not with a key that texts could share."""
    columns = some_columns(5, 40, WEIBO)
    texts = columns.texts
    few = columns._replace(texts=replace(texts, keys=texts.keys[:, :3], probes=texts.keys[:, :3]))
    read = WEIBO.columns(WEIBO.records(few).tobytes()).texts.keys
    assert read[:, :3].tolist() == texts.keys[:, :3].tolist()
    assert (read[:, 3:] == np.uint64(NO_KEY)).all()
