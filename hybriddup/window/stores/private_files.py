"""Files and directories that only their owner can read: posts are not for other users of a machine."""

import os
from pathlib import Path

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


def open_private(path: str | Path, flags: int) -> int:
    """Return a descriptor of a file, which is made where there is none; an ``opener`` of `open`."""
    return os.open(path, flags | os.O_CREAT, PRIVATE_FILE)
