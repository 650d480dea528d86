"""The command line: `hybriddup` and `python -m hybriddup`."""

from __future__ import annotations

import gc
import os
import sys

from hybriddup.cli.stopping import ignore_signals, install_handlers

COLLECT_EVERY = 200_000
"""New objects until Python looks for cycles of dead ones; a few megabytes at most wait for it."""
SWITCH_AFTER = 0.0005
"""Seconds after which a thread hands over the interpreter to one that waits for it, such as one between two kernels of
half a millisecond; Python's 0.005 would let that wait ten times as long as it works."""


def main() -> None:
    """Run the command line and exit with its code."""
    install_handlers()
    open_closed_streams()
    # A run makes objects by the million and hardly ever a cycle; Python looks for cycles after every 700. The process
    # is ours alone, so this can be set here; the library leaves it to its caller.
    gc.set_threshold(COLLECT_EVERY, 20, 100)
    sys.setswitchinterval(SWITCH_AFTER)
    from hybriddup.cli.app import app
    from hybriddup.cli.commands import show
    from hybriddup.cli.options import EXIT_ERROR

    try:
        app(prog_name="hybriddup")
    except OSError as error:  # while help was printed; those of subcommands were shown
        show(error, debug=False)
        raise SystemExit(EXIT_ERROR) from None
    finally:
        ignore_signals()
        gc.freeze()  # otherwise the interpreter looks through everything once more while it ends


def open_closed_streams() -> None:
    """Take the places of standard streams that the caller has closed, as `>&-` does in a shell.

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


if __name__ == "__main__":
    main()
