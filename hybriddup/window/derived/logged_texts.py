"""The normalized texts of kept posts, in the files beside the records of the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.window.derived.file_series import AppendedFile, FilePair, FileSeries
from hybriddup.window.derived.text_files import NOWHERE, erase_text, pack_text, places_in, read_text

logger = logging.getLogger("hybriddup")


class LoggedTexts:
    """Texts by position and by where they begin in their file. No error reaches the caller: the store has them all.

    Parameters
    ----------
    seed
        A number of 64 bits that only this log has; checksums depend on it and on the position.
    """

    def __init__(self, series: FileSeries, seed: int) -> None:
        self._series = series
        self._seed = seed
        self._said: set[str] = set()
        """What went wrong, each of which is said once."""

    def append(self, files: FilePair | None, positions: Int64s, texts: Sequence[str]) -> Int64s:
        """Append the texts of posts to the last files; return int64[n]: where each begins, or `NOWHERE`."""
        if files is None:
            return np.full(len(positions), NOWHERE)
        seed = self._seed
        packed = [pack_text(text, seed + at) for at, text in zip(positions.tolist(), texts, strict=True)]
        try:
            begin = files.texts.append(b"".join(packed))
        except OSError as error:
            self._say("cannot be written, and are made anew of the store's when they are needed", error)
            return np.full(len(positions), NOWHERE)
        return places_in(begin, packed)

    def read(self, positions: Int64s, places: Int64s) -> list[str | None]:
        """Return texts, in the order asked; None for those that are not there as they were written.

        Parameters
        ----------
        places
            int64[n]: where they begin, as `append` or the records say.
        """
        try:
            texts = [
                None if file is None else read_text(file.opened, at, self._seed + position)
                for file, at, position in self._asked(positions, places)
            ]
        except OSError as error:
            self._say("cannot be read, and are made anew of the store's", error)
            return [None] * len(positions)
        if any(text is None and at != NOWHERE for text, at in zip(texts, places.tolist(), strict=True)):
            self._say("are damaged or missing here and there, and those are made anew of the store's")
        return texts

    def erase(self, positions: Int64s, places: Int64s) -> None:
        """Overwrite texts, so that nothing of them is left."""
        try:
            for file, at, _ in self._asked(positions, places):
                if file is not None:
                    erase_text(file.opened, at)
        except OSError as error:
            self._say("of deleted posts cannot be overwritten; the next opening tries again", error)

    def _asked(self, positions: Int64s, places: Int64s) -> Iterator[tuple[AppendedFile | None, int, int]]:
        """Yield the file, the place and the position of each text; None = it is in no file."""
        files = self._series.files_of(positions)
        for pair, at, position in zip(files, places.tolist(), positions.tolist(), strict=True):
            yield (None if pair is None or at == NOWHERE else pair.texts), at, position

    def _say(self, what: str, error: OSError | None = None) -> None:
        if what not in self._said:
            logger.warning("%s: texts %s%s", self._series.folder, what, "" if error is None else f": {error}")
        self._said.add(what)
