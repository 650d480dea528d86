"""Windows that several processes share through a common store, such as Redis or HBase.

A plugin provides the store, a `hybriddup.shared_windows.store.SharedStore`. This package decides posts with it, so that
exactly one of several matching posts is kept, whichever processes receive them. `hybriddup.shared_windows.protocol`
describes the protocol.
"""

from hybriddup.shared_windows.opening import open_shared as open_shared
from hybriddup.shared_windows.store import Block as Block
from hybriddup.shared_windows.store import Change as Change
from hybriddup.shared_windows.store import Entries as Entries
from hybriddup.shared_windows.store import Holder as Holder
from hybriddup.shared_windows.store import Keyed as Keyed
from hybriddup.shared_windows.store import Needs as Needs
from hybriddup.shared_windows.store import PostRecord as PostRecord
from hybriddup.shared_windows.store import SharedStore as SharedStore
from hybriddup.shared_windows.store import State as State
from hybriddup.shared_windows.store import Taken as Taken
from hybriddup.shared_windows.store import entry_type as entry_type
