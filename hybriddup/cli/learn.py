"""`hybriddup learn`: learn a recipe from posts, and write it as a file for runs and windows to share."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_CODES, argument, option

EPILOG = f"""\b
Examples:
  hybriddup learn posts.jsonl -o recipe.npz
      learns from all posts of a file with the default configuration
  hybriddup learn mon.jsonl tue.jsonl -o recipe.npz --config twitter
      reads several files as one corpus

Then name the file in a configuration: `recipe: recipe.npz`. Runs and windows with the same recipe make the same
fingerprints and keys, and remove the same posts with the same keepers if the order is the same. Without a recipe, each
run learns from its own posts, and a window from its first 4,096.

{EXIT_CODES}"""


def learn(
    inputs: Annotated[
        list[str], argument("POSTS", "Files of posts, one corpus in this order; - for JSON Lines on standard input.")
    ],
    output: Annotated[str, option("RECIPE", "File for the recipe, .npz.", "--output -o", show_default=False)],
    force: options.Force = False,
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    text_field: options.TextField = "text",
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    workers: options.Workers = None,
) -> None:
    """Learn token weights, common shingles and similar data from posts, for runs and windows to share."""
    from hybriddup.cli.stopping import on_stop
    from hybriddup.cli.summary_view import print_bad_records
    from hybriddup.config import open_session
    from hybriddup.errors import ConfigError, InputError
    from hybriddup.files.inputs import listed
    from hybriddup.files.outputs import RECIPE, Outputs
    from hybriddup.run.file_inputs import files_of, read_files
    from hybriddup.run.pipeline import learn as learn_recipe
    from hybriddup.run.recipe import RECIPE_IS_GIVEN
    from hybriddup.run.terminal import show_progress

    reading = options.reading(format_name, max_line, encoding, delimiter)
    settings, manager = open_session(config, plugins or ())
    inputs = files_of(inputs, manager.registry, reading)
    if settings.recipe is not None:
        raise ConfigError(RECIPE_IS_GIVEN)
    with Outputs(inputs, force=force) as outputs:
        on_stop(outputs.abandon)
        target = outputs.add(output, "-o", RECIPE)
        with show_progress(quiet=False) as progress:
            corpus = read_files(inputs, manager.registry, reading, text_field, progress)
            if not corpus.texts:
                raise InputError(f"no posts in {listed(inputs)}; there is nothing to learn from.")
            recipe = learn_recipe(corpus, settings, manager.registry, workers, progress)
        with target.open() as stream:
            recipe.write(stream)
        outputs.commit()
    typer.echo(f"learned from {len(corpus.texts):,} posts with {config}: recipe {recipe.id} in {output}", err=True)
    options.exit_with(print_bad_records(corpus.bad_records, corpus.n_bad_records, "not learned from"))
