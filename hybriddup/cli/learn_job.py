"""What `hybriddup learn` does: read posts, learn from them, write what was learned."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from hybriddup.cli.inputs import files_of, read_posts
from hybriddup.cli.stopping import on_stop
from hybriddup.cli.summary_view import print_bad_records
from hybriddup.config import open_session
from hybriddup.errors import ConfigError, InputError
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import ReadOptions, listed, open_inputs
from hybriddup.files.output_names import RECIPE
from hybriddup.files.outputs import Outputs
from hybriddup.run.components import Components
from hybriddup.run.pipeline import Run
from hybriddup.run.progress import Clock
from hybriddup.run.recipe import RECIPE_IS_GIVEN
from hybriddup.run.terminal import show_progress
from hybriddup.steps.parallel import available_workers


def perform(
    inputs: Sequence[str],
    output: str,
    *,
    config: str,
    plugins: Sequence[str],
    text_field: str,
    reading: ReadOptions,
    workers: int | None,
    force: bool,
) -> int:
    """Learn from files of posts and write the recipe; return the exit code."""
    settings, manager = open_session(config, plugins)
    inputs = files_of(inputs, manager.registry, reading)
    if settings.recipe is not None:
        raise ConfigError(RECIPE_IS_GIVEN)
    n_workers = workers or available_workers()
    with Outputs(inputs, force=force) as outputs:
        on_stop(outputs.abandon)
        target = outputs.add(output, "-o", RECIPE)
        with (
            open_inputs(inputs, manager.registry, reading) as opened,
            show_progress(quiet=False) as progress,
        ):
            corpus, _ = read_posts(opened, Fields(text_field), progress)
            if not corpus.texts:
                raise InputError(f"no posts in {listed(inputs)}; there is nothing to learn from.")
            components = Components.create(settings, manager.registry, n_workers)
            recipe = Run(components, n_workers, Clock(progress)).learn(corpus)
        with target.open() as stream:
            recipe.write(stream)
        outputs.commit()
    typer.echo(f"learned from {len(corpus.texts):,} posts with {config}: recipe {recipe.id} in {output}", err=True)
    return print_bad_records(corpus.bad_records, corpus.n_bad_records, "not learned from")
