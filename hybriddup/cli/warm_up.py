"""`hybriddup warm-up`: compile the kernels before the first run."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import argument

EPILOG = """\b
Examples:
  hybriddup warm-up
  hybriddup warm-up mine.yaml
  RUN pip install hybriddup && NUMBA_CACHE_DIR=/var/cache/numba hybriddup warm-up
      in a Dockerfile; set NUMBA_CACHE_DIR to the same directory when the image runs

Compiled kernels are for this processor and these versions of hybriddup, numba and Python. They are stored in the user's
cache folder (Linux: ~/.cache/hybriddup/kernels), which all environments share, or in the directory of the environment
variable NUMBA_CACHE_DIR. Nobody else should be able to write to that one: code is loaded from it."""


def warm_up(
    configs: Annotated[
        list[str] | None, argument("[NAME|FILE]...", "Configurations to compile for; default: all shipped ones.")
    ] = None,
    plugins: options.Plugins = None,
) -> None:
    """Compile the kernels, so that the first run does not have to."""
    from time import perf_counter

    from hybriddup.cli.warm_up_job import compile_kernels
    from hybriddup.config.read import shipped_names
    from hybriddup.kernels.cache import FOLDER, is_compiling
    from hybriddup.plugin.manager import create_plugin_manager

    began = perf_counter()
    for name in compile_kernels(configs or shipped_names(), create_plugin_manager(modules=plugins or ())):
        typer.echo(f"ready for {name} after {perf_counter() - began:.1f} s", err=True)
    no_cache = "no cache, which the line above explains" if is_compiling() else "no cache: NUMBA_DISABLE_JIT is set"
    typer.echo(f"compiled kernels are kept in {FOLDER or no_cache}", err=True)
