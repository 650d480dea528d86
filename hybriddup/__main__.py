"""The command line: `hybriddup` and `python -m hybriddup`."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

from hybriddup.cli.options import EXIT_TERMINATED


def main() -> None:
    """Run the command line and exit with its code."""
    from hybriddup.cli.app import app

    signal.signal(signal.SIGTERM, _terminate)
    app(prog_name="hybriddup")


def _terminate(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001  the shape of a signal handler
    """End as an exception does, so that unfinished outputs are deleted on the way."""
    raise SystemExit(EXIT_TERMINATED)


if __name__ == "__main__":
    main()
