"""The command line: `hybriddup` and `python -m hybriddup`."""

from __future__ import annotations

import gc

from hybriddup.cli.stopping import ignore_signals, install_handlers
from hybriddup.cli.streams import open_closed_streams

COLLECT_EVERY = 200_000
"""New objects until Python looks for cycles of dead ones; a few megabytes at most wait for it."""


def main() -> None:
    """Run the command line and exit with its code."""
    install_handlers()
    open_closed_streams()
    # A run makes objects by the million and hardly ever a cycle; Python looks for cycles after every 700. The process
    # is ours alone, so this can be set here; the library leaves it to its caller.
    gc.set_threshold(COLLECT_EVERY, 20, 100)
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


if __name__ == "__main__":
    main()
