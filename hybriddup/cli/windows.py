"""Open the window of a long-running command, and prepare the process for it."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import typer

from hybriddup.run.progress import note_compiling
from hybriddup.window import AnyWindow, Window


def open_window(store: str | None, config: str, *, rewind: bool, **opening: Any) -> AnyWindow:
    """Open a window with `hybriddup.Window.open`; with ``rewind``, set its time back to the clock."""
    window = Window.open(store, config, **opening)
    if rewind:
        try:
            seconds = window.rewind()
        except BaseException:
            window.close()
            raise
        typer.echo(f"the window's time was set back by {seconds:,.0f} s", err=True)
    return window


def noting_compilation() -> AbstractContextManager[None]:
    """Return a context in which the first compilation of a kernel is noted on standard error."""
    return note_compiling(partial(typer.echo, err=True))


def settle() -> None:
    """Freeze all existing objects, so that the garbage collector skips them.

    A full collection would visit every object of every library, which blocks all answers for about 35 ms.
    """
    gc.collect()
    gc.freeze()
