"""Standard streams that the caller has closed, as `>&-` does in a shell."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Take the places of closed standard streams.

    Otherwise the next file that is opened would get one of them, and what is meant for the terminal. Reading from and
    writing to a stream that was closed fails; what is said on standard error goes nowhere.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest number that is free, which is this one
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  stays open
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
