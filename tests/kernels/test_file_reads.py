"""Reads of many places against the file's bytes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from hybriddup.kernels.file_reads import read_together

pytestmark = pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system has no posix_fadvise")


def test_every_place_is_read_as_far_as_its_file_goes(tmp_path: Path) -> None:
    """Whatever the order, and from several files."""
    contents = [bytes(range(256)) * 4, b"short"]
    paths = [tmp_path / "long", tmp_path / "short"]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    descriptors = [os.open(path, os.O_RDONLY) for path in paths]
    places = [(0, 1000), (1, 0), (0, 3), (1, 4), (1, 5), (0, 5000)]
    try:
        read, n_read = read_together(
            np.array([descriptors[file] for file, _ in places], np.int32), np.array([at for _, at in places]), 30
        )
    finally:
        for descriptor in descriptors:
            os.close(descriptor)

    for (file, at), row, n in zip(places, read, n_read.tolist(), strict=True):
        assert row[:n].tobytes() == contents[file][at : at + 30]
    assert n_read.tolist() == [24, 5, 30, 1, 0, 0]


def test_what_cannot_be_read_is_told() -> None:
    """A descriptor of no file, and no places at all."""
    _, n_read = read_together(np.array([10**6], np.int32), np.zeros(1, np.int64), 8)
    read, none = read_together(np.zeros(0, np.int32), np.zeros(0, np.int64), 8)

    assert n_read.tolist() == [-1]
    assert read.shape == (0, 8)
    assert none.tolist() == []
