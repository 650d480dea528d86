"""Reads the inputs of a run over files: files, directories of files, and the files of `--against`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hybriddup.data.corpus import Corpus, put_before
from hybriddup.errors import InputError
from hybriddup.files.encodings import encoding_of_other
from hybriddup.files.formats import TEXT_FIELD_ADVICE, Fields
from hybriddup.files.inputs import TEXT_FORMATS, Inputs, ReadOptions, find_files, find_format, open_inputs
from hybriddup.files.reading import read_corpus
from hybriddup.files.sources import STANDARD_INPUT, UTF_8, open_source
from hybriddup.files.table_names import parse_name
from hybriddup.files.unpacking import as_utf8
from hybriddup.plugin.registry import Registry
from hybriddup.run.progress import Progress
from hybriddup.run.terminal import say

AGAINST_FIELD_ADVICE = "Name the field with the posts of this file with --against-text-field."


def files_of(
    inputs: Sequence[str], registry: Registry, reading: ReadOptions, notify: Callable[[str], object] = say
) -> list[str]:
    """Return the inputs, with each directory replaced by its files; call ``notify`` with a line on each directory."""
    return find_files(inputs, registry, reading.format, notify)


def read_posts(inputs: Inputs, fields: Fields, progress: Progress, **options: Any) -> tuple[Corpus, list[str]]:
    """Read the posts of the inputs, reporting progress; return the corpus, and remarks for the user.

    ``options`` are passed to `read_corpus`.
    """
    progress.start("read", None, "posts")
    read = read_corpus(inputs, fields, advance=progress.advance, **options)
    progress.finish()
    return read


def read_files(
    names: Sequence[str], registry: Registry, reading: ReadOptions, text_field: str, progress: Progress
) -> Corpus:
    """Read the posts of the named files, reporting progress."""
    with open_inputs(names, registry, reading) as opened:
        return read_posts(opened, Fields(text_field), progress)[0]


def check_against(inputs: Sequence[str], against: Sequence[str]) -> None:
    """Raise InputError if a file of ``against`` is also an input: each of its posts would repeat itself."""
    for name in against:
        if name in inputs or any(parse_name(name).covers(parse_name(other)) for other in inputs):
            raise InputError(f"--against {name} is also an input, so that all its posts would repeat themselves.")


def read_against(
    corpus: Corpus,
    against: Sequence[str],
    registry: Registry,
    reading: ReadOptions,
    read: Callable[[Inputs], tuple[Corpus, list[str]]],
) -> tuple[Corpus, list[str]]:
    """Return the corpus with the posts of the `--against` files put first, and remarks on these files.

    Format, encoding and delimiter are detected for each file. If no format is detected, the format of the inputs is
    used. For files that are not UTF-8, the encoding of the inputs is used if the user named one. ``read`` returns the
    posts of a file.
    """
    others: list[tuple[str, Corpus]] = []
    for name in against:
        with open_inputs([name], registry, _reading_of(name, registry, reading)) as opened:
            try:
                others.append((name, read(opened)[0]))
            except InputError as error:
                raise InputError(str(error).replace(TEXT_FIELD_ADVICE, AGAINST_FIELD_ADVICE)) from None
    return put_before(corpus, others), [remark for name, other in others if (remark := _remark(name, other))]


def _reading_of(name: str, registry: Registry, reading: ReadOptions) -> ReadOptions:
    try:
        format_name: str | None = find_format(name, registry)
    except InputError:  # without --format, opening the file reports the error
        format_name = reading.format
    if name == STANDARD_INPUT or format_name not in TEXT_FORMATS:
        return reading._replace(format=format_name, encoding=UTF_8, delimiter=None)
    source = as_utf8(open_source(name, reading.max_line_bytes))
    try:
        encoding = UTF_8 if source.remark else encoding_of_other(source, reading.encoding)
    finally:
        source.close()
    return reading._replace(format=format_name, encoding=encoding, delimiter=None)


def _remark(name: str, corpus: Corpus) -> str:
    """Return a remark if an `--against` file is empty or has bad lines; otherwise an empty string."""
    if not corpus.n_rows:
        return f"--against {name} has no posts, so nothing was compared with it."
    if not (n := corpus.n_bad_records):
        return ""
    first = corpus.bad_records[0]
    lines = "1 bad line" if n == 1 else f"{n:,} bad lines"
    return f"{name} has {lines}, skipped in the comparison; the first is {first.line}: {first.reason}."
