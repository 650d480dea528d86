"""Windows that several processes share through a common store, such as Redis or HBase.

A plugin provides the store, a `hybriddup.shared_windows.store.SharedStore`. This package decides posts with it, so that
exactly one of several matching posts is kept, whichever processes receive them. `hybriddup.shared_windows.protocol`
describes the protocol.
"""

from hybriddup.shared_windows.opening import open_shared
from hybriddup.shared_windows.store import (
    Block,
    Change,
    Entries,
    Holder,
    Keyed,
    Needs,
    PostRecord,
    SharedStore,
    State,
    Taken,
    entry_type,
)

__all__ = [
    "Block",
    "Change",
    "Entries",
    "Holder",
    "Keyed",
    "Needs",
    "PostRecord",
    "SharedStore",
    "State",
    "Taken",
    "entry_type",
    "open_shared",
]
