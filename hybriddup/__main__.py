"""Entry point of the command line: `hybriddup` and `python -m hybriddup`."""

from __future__ import annotations

import gc
import os
import sys

from hybriddup.cli.stopping import ignore_signals, install_handlers

COLLECT_EVERY = 200_000
"""Number of new objects that starts a garbage collection; few enough that unreachable cycles take little memory."""
SWITCH_AFTER = 0.0005
"""Seconds after which a running thread hands the interpreter to a waiting one. With Python's default of 0.005, a thread
that calls kernels of half a millisecond each would wait for 5 ms after each kernel, so that the thread that decides
posts would make hardly any progress while the event loop of the service is busy, for example refusing requests."""


def main() -> None:
    """Run the command line and exit with its code."""
    install_handlers()
    open_closed_streams()
    # A run creates millions of objects and hardly any cycles, but by default Python looks for cycles after every 700
    # objects. The process is ours alone, so this can be changed here; the library leaves it to its caller.
    gc.set_threshold(COLLECT_EVERY, 20, 100)
    sys.setswitchinterval(SWITCH_AFTER)
    from hybriddup.cli.app import app
    from hybriddup.cli.commands import show
    from hybriddup.cli.options import EXIT_ERROR

    try:
        app(prog_name="hybriddup")
    except OSError as error:  # raised while printing help; subcommands have shown their own errors
        show(error, debug=False)
        raise SystemExit(EXIT_ERROR) from None
    finally:
        ignore_signals()
        gc.freeze()  # otherwise the interpreter looks for cycles among all objects once more while it exits


def open_closed_streams() -> None:
    """Reopen the standard streams that the caller closed, as with `>&-` in a shell.

    Otherwise the next file that is opened would get the number of a closed stream, and receive text for the terminal.
    Reading from or writing to a reopened stream fails, except that text for standard error is discarded.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free number, which is this one
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  stays open
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    main()
