"""The command line: `hybriddup` and `python -m hybriddup`."""

from __future__ import annotations

import gc
import signal
from types import FrameType
from typing import NoReturn

from hybriddup.cli.options import EXIT_TERMINATED

COLLECT_EVERY = 200_000
"""New objects until Python looks for cycles of dead ones; a few megabytes at most wait for it."""


def main() -> None:
    """Run the command line and exit with its code."""
    # A run makes objects by the million and hardly ever a cycle; Python looks for cycles after every 700. The process
    # is ours alone, so this can be set here; the library leaves it to its caller.
    gc.set_threshold(COLLECT_EVERY, 20, 100)
    from hybriddup.cli.app import app

    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(prog_name="hybriddup")
    finally:
        gc.freeze()  # otherwise the interpreter looks through everything once more while it ends


def _terminate(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001  the shape of a signal handler
    """End as an exception does, so that unfinished outputs are deleted on the way."""
    raise SystemExit(EXIT_TERMINATED)


if __name__ == "__main__":
    main()
