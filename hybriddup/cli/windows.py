"""Opens the window of `hybriddup watch` or `hybriddup serve`, and prepares the process for a long run."""

from __future__ import annotations

import gc
from typing import Any

import typer

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


def settle() -> None:
    """Freeze all existing objects, so that the garbage collector skips them.

    Otherwise, each full collection would visit all objects of all libraries, and block answers for about 35 ms.
    """
    gc.collect()
    gc.freeze()
