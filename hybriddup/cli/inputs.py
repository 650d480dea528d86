"""Inputs of a command: files, and directories of files."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from hybriddup.files.inputs import ReadOptions, find_files
from hybriddup.plugin.registry import Registry


def files_of(inputs: Sequence[str], registry: Registry, reading: ReadOptions, *, quiet: bool = False) -> list[str]:
    """Return the inputs with the files of each directory in its place, and tell which they are."""
    return find_files(inputs, registry, reading.format, lambda note: None if quiet else typer.echo(note, err=True))
