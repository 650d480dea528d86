"""Finds the input files of a run, determines their common format, and opens them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePath
from typing import NamedTuple

from hybriddup.errors import InputError
from hybriddup.files.compression import SUFFIXES, split_compression
from hybriddup.files.delimited import found_delimiter
from hybriddup.files.encodings import AUTO, common_encoding
from hybriddup.files.formats import Reader, Writer
from hybriddup.files.json_array import is_array
from hybriddup.files.outputs import SPREADSHEETS, from_spreadsheet
from hybriddup.files.sources import MAX_LINE_BYTES, STANDARD_INPUT, UTF_8, Source, open_source
from hybriddup.files.sqlite import open_table
from hybriddup.files.table_names import EXAMPLE, FORMAT, is_table
from hybriddup.files.unpacking import as_json_lines, as_utf8
from hybriddup.plugin.registry import Registry

DEFAULT_FORMAT = "jsonl"
"""Format of standard input, which has no file name."""

TEXT_FORMATS = {"jsonl", "csv", "tsv", "lines"}
"""Formats that may have an encoding other than UTF-8."""

TABLES = {"csv": ",", "tsv": "\t"}
"""Maps each format of tables to its usual delimiter."""
JSON = {"json", "jsonl"}
"""The two JSON formats, which are distinguished by the first bytes of a file instead of its name."""

OUTPUT_PARTS = {"kept", "removed", "bad", "summary"}
"""Parts of file names that suggest an output of an earlier run, as in ``posts.kept.jsonl``."""

DATABASES = {".db", ".sqlite", ".sqlite3"}
"""Usual file name endings of SQLite databases."""

SHOWN_FILES = 10


class ReadOptions(NamedTuple):
    """Options for reading input files."""

    format: str | None = None
    """Name of a format; None = inferred from the file names."""
    max_line_bytes: int = MAX_LINE_BYTES
    """Maximum length of a line in a text format, in bytes; longer lines are bad rows."""
    encoding: str = UTF_8
    """Python's name of the encoding; ``auto`` = detect it."""
    delimiter: str | None = None
    """Field separator of a table; None = the default of its format."""


AS_NAMED = ReadOptions()


@dataclass(frozen=True)
class Inputs:
    """The sources of a run, in the order given, with the reader and writer of their common format."""

    sources: tuple[Source, ...]
    format: str
    reader: Reader
    writer: Writer

    def check_unchanged(self) -> None:
        """Raise InputError if a source changed since it was opened."""
        for source in self.sources:
            source.check_unchanged()


@contextmanager
def open_inputs(names: Sequence[str], registry: Registry, options: ReadOptions = AS_NAMED) -> Iterator[Inputs]:
    """Open the inputs as one corpus.

    Raises InputError if an input is unreadable, or if the inputs cannot be combined in one output.
    """
    if list(names).count(STANDARD_INPUT) > 1:
        raise InputError("standard input can be read once only, but '-' is given more than once.")
    sources: list[Source] = []
    try:
        sources.extend(open_table(one) if is_table(one) else open_source(one, options.max_line_bytes) for one in names)
        chosen = _format(names, registry, options.format)
        for i, source in enumerate(sources):  # one by one, so that each copy on disk is closed
            source = as_utf8(source) if chosen in {*TEXT_FORMATS, *JSON} else source
            sources[i] = as_json_lines(source) if chosen in JSON else source
        chosen = _by_content(chosen, sources)
        sources[:] = _as_text(sources, chosen, options)
        reader = registry.create_by_name("reader", chosen)
        writer = registry.create_by_name("writer", chosen)
        writer.check(sources)
        yield Inputs(tuple(sources), chosen, reader, writer)
    finally:
        for source in sources:
            source.close()


def find_format(name: str, registry: Registry) -> str:
    """Infer the format of a file from its name, ignoring a compression suffix; raise InputError if it is unknown."""
    if name == STANDARD_INPUT:
        return DEFAULT_FORMAT
    if is_table(name):
        return FORMAT
    endings = _endings(registry, registry.names("reader"))
    found = _format_of(name, endings)
    if found is None:
        plain = PurePath(split_compression(name)[0])
        convert = f" Or convert it: {from_spreadsheet(plain)}" if plain.suffix.lower() in SPREADSHEETS else ""
        if plain.suffix.lower() in DATABASES:
            convert = f" For a table of SQLite, name the file and the table, as in {EXAMPLE}."
        raise InputError(
            f"{name}: cannot infer the format from the file name (known: {_known(endings)}, each also with "
            f"{', '.join(SUFFIXES)}); name it with --format, one of {', '.join(endings)}.{convert}"
        )
    return found


def output_endings(inputs: Inputs, registry: Registry) -> tuple[str, ...]:
    """Return the file name endings that suit an output of records in the inputs' format."""
    names = dict.fromkeys([inputs.format, find_format(inputs.sources[0].name, registry)])
    return tuple(chain.from_iterable(_endings(registry, list(names)).values()))


def find_files(
    names: Sequence[str], registry: Registry, format_name: str | None, notify: Callable[[str], object]
) -> list[str]:
    """Replace each directory among the inputs with its files of posts, and call ``notify`` with a line that lists them.

    The files in a directory are sorted by name. Included are files with an ending of the format ``format_name``, or of
    any format if it is None. Subdirectories and likely outputs of an earlier run, such as ``posts.kept.jsonl``, are
    ignored.
    """
    endings = _endings(registry, [format_name] if format_name else registry.names("reader"))
    files: list[str] = []
    for name in names:
        if not name:  # Path("") would be the current directory
            raise InputError("an input is empty text; name a file. Perhaps a variable of the shell is not set.")
        if is_table(name):
            open_table(name).close()
        if name == STANDARD_INPUT or not Path(name).is_dir():
            files.append(name)
            continue
        found, written = _files_in(name, endings)
        if not found:
            only = f" but {listed(written)}, which an earlier run seems to have written" if written else ""
            raise InputError(f"{name} holds no file of posts{only} (known: {_known(endings)}).")
        files += [str(Path(name) / one) for one in found]
        left_out = f"; left out {listed(written)}, which an earlier run seems to have written" if written else ""
        notify(f"{name}: {listed(found)}{left_out}")
    return files


def _files_in(directory: str, endings: Mapping[str, tuple[str, ...]]) -> tuple[list[str], list[str]]:
    """Return the names of the files of posts in a directory, and of the likely outputs of an earlier run."""
    try:
        names = sorted(path.name for path in Path(directory).iterdir() if path.is_file())
    except OSError as error:
        raise InputError(f"{directory} cannot be listed: {error.strerror or error}.") from None
    posts = [name for name in names if not name.startswith(".") and _format_of(name, endings)]
    written = [name for name in posts if not OUTPUT_PARTS.isdisjoint(name.split(".")[:-1])]
    return [name for name in posts if name not in written], written


def listed(names: Sequence[str]) -> str:
    """Return a list of file names for a message: at most ten, and how many more there are."""
    more = f" and {len(names) - SHOWN_FILES:,} more" if len(names) > SHOWN_FILES else ""
    return ", ".join("standard input" if name == STANDARD_INPUT else name for name in names[:SHOWN_FILES]) + more


def _endings(registry: Registry, readers: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {name: registry.create_by_name("reader", name).extensions for name in readers}


def _known(endings: Mapping[str, tuple[str, ...]]) -> str:
    return ", ".join(chain.from_iterable(endings.values()))


def _format_of(name: str, endings: Mapping[str, tuple[str, ...]]) -> str | None:
    plain = split_compression(name)[0].lower()
    return next((reader for reader, some in endings.items() if plain.endswith(some)), None)


def _by_content(chosen: str, sources: Sequence[Source]) -> str:
    """Return the format ``chosen``; for JSON, decide between array and lines by the first bytes of the sources."""
    if chosen not in JSON or not sources:
        return chosen
    arrays = [is_array(source) for source in sources]
    if any(arrays) and not all(arrays):
        listed = ", ".join(
            f"{source.name} ({'array' if one else 'lines'})" for source, one in zip(sources, arrays, strict=True)
        )
        raise InputError(
            f"several inputs must all be JSON arrays or all JSON Lines, because the kept records go to one output; got "
            f"{listed}. Run the inputs of each kind by themselves."
        )
    return "json" if all(arrays) else "jsonl"


def _as_text(sources: Sequence[Source], chosen: str, options: ReadOptions) -> list[Source]:
    """Return the sources with their encoding and delimiter; raise InputError if an option does not suit the format."""
    if options.delimiter is not None and chosen not in TABLES:
        raise InputError(
            f"--delimiter is for csv and tsv, but the inputs are {chosen}. Leave it out, or give --format csv."
        )
    if chosen not in TEXT_FORMATS and options.encoding not in {UTF_8, AUTO}:
        readable = ", ".join(sorted(TEXT_FORMATS))
        raise InputError(f"--encoding is for {readable}, but the inputs are {chosen}. Convert them to UTF-8 first.")
    converted = next((source for source in sources if source.remark), None)
    if converted is not None and options.encoding not in {UTF_8, AUTO}:
        raise InputError(f"{converted.name} {converted.remark}; leave out --encoding {options.encoding}.")
    encoding = common_encoding(sources, options.encoding) if chosen in TEXT_FORMATS else UTF_8
    given, usual = options.delimiter, TABLES.get(chosen)
    return [
        replace(source, encoding=encoding, delimiter=given or (usual and found_delimiter(source, usual, encoding)))
        for source in sources
    ]


def _format(names: Sequence[str], registry: Registry, given: str | None) -> str:
    """Return the format that the user named, or else the format that all file names have in common."""
    table = next(filter(is_table, names), None)
    if table is not None and given not in {None, FORMAT}:
        raise InputError(f"{table} is a table of a database, not {given}; leave out --format.")
    if given:
        return given
    formats = {name: find_format(name, registry) for name in names}
    if len({"json" if found in JSON else found for found in formats.values()}) > 1:
        listed = ", ".join(f"{name} ({found})" for name, found in formats.items())
        raise InputError(
            f"several inputs must have the same format, because the kept records go to one output; got {listed}. "
            f"Run each format by itself, or name one with --format."
        )
    return next(iter(formats.values()))
