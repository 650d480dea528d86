"""hybriddup plugin: live windows in HBase, which several processes on several machines share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hybriddup

if TYPE_CHECKING:
    from hybriddup.plugin.registry import Registry


@hybriddup.hookimpl
def hybriddup_register(registry: Registry) -> None:
    """Register the opener of windows by import path, so that the client of HBase is imported only when it is used."""
    registry.add_window("hbase", "hybriddup_hbase.opening:HBaseWindows")
