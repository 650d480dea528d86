"""Which live index holds the keys of a window's block index."""

from __future__ import annotations

from hybriddup.errors import ConfigError
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing, Scan
from hybriddup.window.index import LiveIndex
from hybriddup.window.index.live_lists import LiveLists
from hybriddup.window.index.live_scan import LiveScan
from hybriddup.window.index.live_tables import MOST_KEY_BITS, LiveTables
from hybriddup.window.index.ring_index import WindowSize

WIDTHS = (64, 128)
FEWEST_TEXTS = 2**20
"""A window is laid out for so many texts at least; memory that is never written to is not taken."""


def make_live_index(index: BlockIndex, size: WindowSize) -> LiveIndex:
    """Return an empty live index for a window.

    Parameters
    ----------
    index
        A prepared block index. Posting lists hold the keys of any; all texts of few exact keys stand closer in tables.

    Raises
    ------
    ConfigError
        A window cannot have fingerprints of this width.
    """
    if size.bits not in WIDTHS:
        raise ConfigError(f"fingerprint.bits must be 64 or 128 for a live window; got {size.bits}.")
    if isinstance(index, Scan):
        return LiveScan(size)
    if (
        isinstance(index, (Blocks, Probing))
        and not index.max_bucket_size
        and max(map(len, index.chosen)) <= MOST_KEY_BITS
    ):
        return LiveTables(size, index.chosen, index.radii, index.describe())
    return LiveLists(size, index)
