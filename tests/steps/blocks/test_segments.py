"""Keys that contain their bits, for the classic tables of shared windows."""

import numpy as np
import pytest

from hybriddup.steps.blocks.pigeonhole import Blocks, Probing
from tests.plugin_support.classic import SHAPES, segments_of


def prepared(n_blocks: int, n_key_blocks: int, bits: int = 64) -> Blocks:
    index = Blocks(Blocks.Options(n_blocks=n_blocks, n_key_blocks=n_key_blocks))
    index.prepare(bits, n_blocks - n_key_blocks)
    return index


@pytest.mark.parametrize("shape", SHAPES)
def test_a_key_is_a_segment_above_its_number(shape: tuple[int, int]) -> None:
    index, words = prepared(*shape), np.random.default_rng(3).integers(0, 2**64, 200, np.uint64)
    assert tuple(index.use_segments()) == SHAPES[shape]
    keys = index.keys([], words[:, None])
    for row, word in zip(keys.tolist(), words.tolist(), strict=True):
        assert row == [segment << 8 | number for number, segment in enumerate(segments_of(word, *shape))]


@pytest.mark.parametrize(("n_blocks", "n_key_blocks", "bits"), [(4, 1, 128), (1, 1, 64), (4, 3, 64), (11, 4, 64)])
def test_keys_stay_hashes_if_there_is_no_room_for_segments(n_blocks: int, n_key_blocks: int, bits: int) -> None:
    index, words = prepared(n_blocks, n_key_blocks, bits), np.full((1, bits // 64), 5, np.uint64)
    before = index.keys([], words)
    assert index.use_segments() == ()
    assert (index.keys([], words) == before).all()


def test_other_indexes_have_no_segments() -> None:
    index = Probing(Probing.Options(n_blocks=4))
    index.prepare(64, 8)
    assert index.use_segments() == ()
