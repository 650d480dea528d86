"""The outputs of a run: written to temporary files, which are renamed together at the end, or deleted if the run fails.

A temporary file is in the directory of its target. If a run is killed, the next run with the same output deletes the
temporary files left behind. A file that is being written is locked, so that other runs do not delete it.

Names are checked before a run: directories are rejected, and suffixes that do not match the contents.
"""

from __future__ import annotations

import io
import os
import re
import secrets
import shutil
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, cast

from hybriddup.data.locks import lock
from hybriddup.errors import OutputError
from hybriddup.files import table_outputs
from hybriddup.files.compression import BUFFER_BYTES, SUFFIXES, compressing, split_compression
from hybriddup.files.table_names import EXAMPLE, is_table, parse_name

STANDARD_OUTPUT = "-"
FILES = threading.RLock()
"""Lock held while output files are created, renamed or deleted.

`Outputs.abandon` keeps the lock after it has deleted the files, so that no new files are created.
"""


class Kind(NamedTuple):
    """A kind of output, and the file suffixes allowed for it; a name without a suffix is always allowed."""

    what: str
    """Subject and verb for error messages, such as ``the report is``."""
    endings: tuple[str, ...]
    may_be_compressed: bool = True
    may_be_table: bool = False
    """Whether the output can be a table of a database."""


JSON_LINES = (".jsonl", ".ndjson", ".jsonlines", ".json")
PLAIN_TEXT = (".txt", ".text")
TABLE_ENDINGS = (*JSON_LINES, ".csv", ".tsv", ".tab", ".parquet", ".pq")

ACCOUNTS = Kind("pairs of accounts are", TABLE_ENDINGS, may_be_table=True)
RECIPE = Kind("a recipe is", (".npz",), may_be_compressed=False)
CONFIGURATION = Kind("a configuration is", (".yaml", ".yml"), may_be_compressed=False)
WRONG_PAIRS = Kind("pairs are", JSON_LINES)
ANSWERS = Kind("answers are", JSON_LINES, may_be_compressed=False)
KINDS = {
    "--removed": Kind("removed posts are", TABLE_ENDINGS, may_be_table=True),
    "--clusters": Kind("clusters are", TABLE_ENDINGS, may_be_table=True),
    "--summary": Kind("the summary is", (".json",)),
    "--report": Kind("the report is", (".html", ".htm")),
    "--save-recipe": RECIPE,
}
"""Kinds of outputs of a run, by option. Outputs of posts are not listed: they have the format of the input."""

SPREADSHEETS = {".xlsx", ".xls", ".ods"}
READ_BY_PANDAS = {".csv": "read_csv({!r})", ".jsonl": "read_json({!r}, lines=True)", ".parquet": "read_parquet({!r})"}


class Output:
    """An output: a file or table, which appears only on `Outputs.commit`, or a stream, which is written directly."""

    def __init__(self, target: str, option: str) -> None:
        self.target = target
        self.option = option
        path = Path(target)
        is_device = path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir()
        self.is_stream = target == STANDARD_OUTPUT or is_device  # a device or pipe must not be replaced by a file
        self.name = parse_name(target)
        self.path = self.name.file.resolve()
        """Path of the file with symbolic links resolved, so that the target of a link is replaced and not the link."""
        self.temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.tmp")
        """Path of the temporary file for the contents of an output file, or for the rows of an output table."""
        self._lock: int | None = None
        """File descriptor of the temporary file, which is locked until the descriptor is closed."""

    def overlaps(self, other: Output) -> bool:
        """Return whether both outputs write to the same file or table, or one is a table in the file of the other."""
        return self.name.covers(other.name) or other.name.covers(self.name)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Yield a stream for writing the output; it compresses the data if the target has a compression suffix."""
        compression = split_compression(self.target)[1]
        reporting = self._failures_named
        with self._open_raw() as raw, io.BufferedWriter(_Reporting(raw, reporting), BUFFER_BYTES) as buffered:
            with compressing(cast("BinaryIO", buffered), compression) as plain:
                yield plain
            buffered.flush()
            if not self.is_stream:
                with self._failures_named():
                    os.fsync(raw.fileno())

    @contextmanager
    def _open_raw(self) -> Iterator[BinaryIO]:
        if self.target == STANDARD_OUTPUT:
            yield sys.stdout.buffer
            with self._failures_named():
                sys.stdout.buffer.flush()
            return
        with self._failures_named():
            raw = self.path.open("wb", 0) if self.is_stream else self._create()
        with raw:
            yield cast("BinaryIO", raw)

    def _create(self) -> io.FileIO:
        with FILES:
            raw = self.temporary.open("xb", 0)
            with suppress(OSError):  # a file system without locks; leftovers stay there
                lock(raw.fileno(), wait=True)
            if os.fstat(raw.fileno()).st_nlink == 0:  # another run took it for a leftover before it was locked
                raw.close()
                return self._create()
            self._lock = os.dup(raw.fileno())
        return raw

    @contextmanager
    def _failures_named(self) -> Iterator[None]:
        """Turn an OSError into an `OutputError` that names the output; BrokenPipeError passes unchanged."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self.failure(error) from None

    def put_in_place(self) -> None:
        """Rename the temporary file to its target; it gets the permissions of the file that it replaces."""
        if self.is_stream:
            return
        if sys.platform == "win32":  # where no open file can be renamed
            self._release()
        try:
            with suppress(FileNotFoundError):
                shutil.copymode(self.path, self.temporary)
            self.temporary.replace(self.path)
        except OSError as error:
            raise OutputError(f"{self.target} could not be put in place: {error.strerror or error}.") from None

    def discard(self) -> None:
        """Release the lock, and delete the temporary file unless it was put in place."""
        self._release()
        if not self.is_stream:
            self.temporary.unlink(missing_ok=True)

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def delete_leftovers(self) -> None:
        """Delete temporary files of this target that a killed run of the same user left behind."""
        pattern = re.compile(re.escape(f".{self.path.name}.") + r"[0-9a-f]{8}\.tmp(-journal)?")
        for path in self.path.parent.iterdir():
            if pattern.fullmatch(path.name):
                with suppress(OSError):
                    _delete_unused(path)

    def failure(self, error: OSError) -> OutputError:
        """Return the OutputError for a failed write; it states how many bytes were written and how many are free."""
        name = "standard output" if self.target == STANDARD_OUTPUT else self.target
        message = f"{name} could not be written: {error.strerror or error}."
        if self.is_stream:
            return OutputError(message)
        free = _free_bytes(self.path.parent)
        written = self.temporary.stat().st_size if self.temporary.exists() else 0
        return OutputError(
            f"{message} {written:,} bytes were written, {free:,} are free in {self.path.parent}. Nothing was put in "
            f"place or changed; free some space or choose another place with {self.option}."
        )


class Outputs(AbstractContextManager["Outputs"]):
    """Context manager for the outputs of one run; unless `commit` is called, no file or table is created or changed."""

    def __init__(self, inputs: Sequence[str], *, force: bool) -> None:
        self._inputs = [parse_name(name) for name in inputs if name != STANDARD_OUTPUT]
        self._force = force
        self._outputs: list[Output] = []
        self._are_in_place = False

    def add(self, target: str, option: str, kind: Kind | None = None) -> Output:
        """Add an output that an option names.

        Raises OutputError if the name is not allowed, if the output cannot be written, or if it exists and may not be
        replaced.
        """
        output = Output(target, option)
        if is_table(target) and not output.name.table:
            raise OutputError(f"{option} {target} names no table; write it as in {EXAMPLE}.")
        if not output.is_stream:
            check_is_file_name(str(output.name.file) if output.name.table else target, option)
        for other in self._outputs:
            if target == other.target or (not output.is_stream and output.overlaps(other)):
                raise OutputError(f"{other.option} and {option} both write to {target}; give each its own file.")
        if not output.is_stream:
            self._check_file(output)
            if kind is not None:
                check_ending(target, option, kind)
            output.delete_leftovers()
        self._outputs.append(output)
        return output

    def commit(self) -> None:
        """Put every file and table in place; a concurrent call of `abandon` waits until that is done."""
        with FILES:
            tables = [output for output in self._outputs if output.name.table]
            for path in dict.fromkeys(output.path for output in tables):
                rows = {one.name.table: one.temporary for one in tables if one.path == path}
                table_outputs.put_in_place(path, rows, " and ".join(one.target for one in tables if one.path == path))
            for output in self._outputs:
                if not output.name.table:
                    output.put_in_place()
            self._are_in_place = True

    def abandon(self, number: int) -> bool:  # noqa: ARG002  the same for every signal
        """Delete all temporary files, because signal ``number`` ends the process.

        Return whether the outputs are in place already; if so, nothing is deleted.
        """
        FILES.acquire()
        if self._are_in_place:
            FILES.release()
        else:
            self._discard()
        return self._are_in_place

    def __exit__(self, *_: object) -> None:
        with FILES:
            self._discard()

    def _discard(self) -> None:
        for output in self._outputs:
            output.discard()

    def _check_file(self, output: Output) -> None:
        path, target, option = output.path, output.target, output.option
        if any(map(output.name.covers, self._inputs)):
            raise OutputError(f"{option} {target} is also an input; the input is never overwritten, name another file.")
        if path.exists() and not self._force and not output.name.table:
            raise OutputError(f"{target} exists already; replace it with --force, or name another file with {option}.")
        if not path.parent.is_dir():
            raise OutputError(f"{target} cannot be created: there is no directory {path.parent}.")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise OutputError(
                f"{target} cannot be created: no permission to write in {path.parent}; name another with {option}."
            )
        if output.name.table:
            table_outputs.check_table(path, output.name.table, target, force=self._force)


class _Reporting(io.RawIOBase):
    """A raw stream that runs each write in a context manager, which names the output in errors."""

    def __init__(self, raw: BinaryIO, context: Callable[[], AbstractContextManager[None]]) -> None:
        self._raw = raw
        self._context = context

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with self._context():
            return self._raw.write(data)


def save_whole(path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """Write or replace a file atomically; raise OutputError if writing fails.

    ``write`` is called with the stream to write to.
    """
    check_is_file_name(str(path), "path")
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            write(file)
        unfinished.replace(target)
    except OSError as error:
        raise OutputError(f"{target} could not be written: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def _free_bytes(directory: Path) -> int:
    try:
        return shutil.disk_usage(directory).free
    except OSError:
        return 0


def _delete_unused(path: Path) -> None:
    """Delete a file if it belongs to this user; raise OSError if a running process has locked it."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return
    if sys.platform == "win32":  # where no open file can be deleted
        path.unlink()
        return
    if status.st_uid != os.geteuid():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        lock(descriptor, wait=False)
        path.unlink()
    finally:
        os.close(descriptor)


def check_is_file_name(target: str, option: str) -> None:
    """Raise OutputError if the name of an output is empty or names a directory, such as ``results/``."""
    if not target:
        raise OutputError(f"{option} is empty text; name a file. Perhaps a variable of the shell is not set.")
    if os.path.isdir(target) or os.path.basename(target) in {"", os.curdir, os.pardir}:  # noqa: PTH112, PTH119  Path drops the last /
        example = str(PurePath(target) / "FILE")
        raise OutputError(f"{option} {target} names a directory; name a file in it, such as {example}.")


def check_ending(target: str, option: str, kind: Kind) -> None:
    """Raise OutputError if the suffix of an output does not match the format in which it will be written."""
    if is_table(target):
        if kind.may_be_table:
            return
        raise OutputError(f"{option} {target}: {kind.what} not written to a table; name a file.")
    plain, compression = split_compression(target)
    name = PurePath(plain).name.lower()
    if compression and not kind.may_be_compressed:
        raise OutputError(
            f"{option} {target}: {kind.what} not compressed; leave out .{compression}, as in {PurePath(plain)}."
        )
    suffix = PurePath(name).suffix
    if name.endswith(kind.endings) or not any(map(str.isalpha, suffix)):  # kept.2026-11-27 has no suffix
        return
    packed = f", each also with {', '.join(SUFFIXES)}," if kind.may_be_compressed else ""
    raise OutputError(
        f"{option} {target}: {kind.what} not written as {suffix}; name a file that ends in {', '.join(kind.endings)}"
        f"{packed} or has no suffix.{_way_to_spreadsheet(plain, suffix, kind)}"
    )


def from_spreadsheet(path: PurePath) -> str:
    """Return the command that converts a spreadsheet to CSV."""
    table = str(path.with_suffix(".csv"))
    return f'python -c "import pandas; pandas.read_excel({str(path)!r}).to_csv({table!r}, index=False)"'


def _way_to_spreadsheet(plain: str, suffix: str, kind: Kind) -> str:
    """If ``suffix`` is for a spreadsheet, return a hint with a command that converts the output; else an empty text."""
    ending = next((one for one in READ_BY_PANDAS if one in kind.endings), None)
    if suffix not in SPREADSHEETS or ending is None:
        return ""
    path = PurePath(plain)
    read = READ_BY_PANDAS[ending].format(str(path.with_suffix(ending)))
    return f' Then convert it: python -c "import pandas; pandas.{read}.to_excel({str(path)!r}, index=False)"'
