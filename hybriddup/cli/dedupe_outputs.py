"""Outputs of `hybriddup dedupe`: where posts go by default, and what is checked of all names before posts are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hybriddup.errors import OutputError
from hybriddup.files.compression import split_compression
from hybriddup.files.inputs import TEXT_FORMATS, Inputs, output_endings
from hybriddup.files.output_names import CLUSTERS, PLAIN_TEXT, RECIPE, REMOVED, REPORT, SUMMARY, Kind, check_ending
from hybriddup.files.outputs import STANDARD_OUTPUT, Output, Outputs
from hybriddup.files.sources import STANDARD_INPUT
from hybriddup.files.tables import need_writer
from hybriddup.plugin.registry import Registry
from hybriddup.run.report.page import check_installed

KINDS = {
    "--removed": REMOVED,
    "--clusters": CLUSTERS,
    "--summary": SUMMARY,
    "--report": REPORT,
    "--save-recipe": RECIPE,
}
"""What the outputs are, by their options; those of posts have the format of the input."""


def plan_outputs(wanted: Mapping[str, str | None], outputs: Outputs, *, dry_run: bool) -> dict[str, Output]:
    """Return the outputs that were asked for, by option, checked before anything is read."""
    if wanted["--report"] is not None:
        check_installed()
    if dry_run:
        for option, kind in KINDS.items():
            if name := wanted[option]:
                check_ending(name, option, kind)
        summary, report = wanted["--summary"], wanted["--report"]
        if summary not in {None, STANDARD_OUTPUT}:
            raise OutputError(f"--summary {summary} is a file, but --dry-run writes none; use --summary - to print it.")
        if report is not None:
            raise OutputError(f"--report {report} is a file, but --dry-run writes none; leave one of the two out.")
        wanted = {"--summary": summary}
    for option in ("--removed", "--clusters"):
        if name := wanted.get(option):
            need_writer(name)
    return {
        option: outputs.add(target, option, KINDS.get(option))
        for option, target in wanted.items()
        if target is not None
    }


def default_output(name: str, what: str = "kept") -> str:
    """Return where posts go when nothing was said."""
    path = Path(name)
    if name == STANDARD_INPUT or (path.exists() and not path.is_file()):
        return STANDARD_OUTPUT
    plain, compression = split_compression(path.name)
    suffix = Path(plain).suffix
    ending = f".{what}{suffix}" + (f".{compression}" if compression else "")
    return str(path.with_name(plain.removesuffix(suffix) + ending))


def check_endings(names: Mapping[str, str | None], inputs: Inputs, registry: Registry) -> None:
    """Raise OutputError if an output of posts, by its option, is named as another format than that of the input."""
    endings = output_endings(inputs, registry)
    what = f"posts keep the format of the input, {inputs.format}, and are"
    for option, name in names.items():
        if name is not None and name != STANDARD_OUTPUT:
            of_text = PLAIN_TEXT if option == "--bad" and inputs.format in TEXT_FORMATS else ()
            check_ending(name, option, Kind(what, (*endings, *of_text)))
