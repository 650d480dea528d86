"""Windows that several processes share: the kept posts lie in a store that all of them reach, such as Redis or HBase.

A plugin brings a `hybriddup.shared_windows.store.SharedStore`; what is here decides by it, so that of posts that match
each other, whoever sends them, exactly one is kept. `hybriddup.shared_windows.protocol` says how.
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
