"""Opening the window of a command, and settling down: a process that answers for days."""

from __future__ import annotations

import gc
from typing import Any

import typer

from hybriddup.window import AnyWindow, Window


def open_window(store: str | None, config: str, *, rewind: bool, **opening: Any) -> AnyWindow:
    """Return a window, opened as `hybriddup.Window.open` does; to rewind it, its time is put back to the clock's."""
    window = Window.open(store, config, **opening)
    if rewind:
        try:
            seconds = window.rewind()
        except BaseException:
            window.close()
            raise
        typer.echo(f"the window's time was put back by {seconds:,.0f} s", err=True)
    return window


def settle() -> None:
    """Let the garbage collector pass over all objects that there are by now.

    A full collection would look at every object of every library: some 35 ms in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
