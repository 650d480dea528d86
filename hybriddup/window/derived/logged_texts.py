"""The normalized texts of kept posts, in the files beside the records of the log."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.window.derived.file_series import FilePair, FileSeries
from hybriddup.window.derived.text_files import NOWHERE, TextPlaces, pack_text, read_texts

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

    def append(self, pair: FilePair | None, positions: Int64s, texts: Sequence[str]) -> TextPlaces:
        """Append the texts of posts to the last pair of files, and return where they are."""
        if pair is None:
            return TextPlaces.nowhere(len(positions))
        seed = self._seed
        packed = [pack_text(text, seed + at) for at, text in zip(positions.tolist(), texts, strict=True)]
        try:
            begin = pair.texts.append(b"".join(packed))
        except OSError as error:
            self._say("cannot be written, and are made anew of the store's when they are needed", error)
            return TextPlaces.nowhere(len(positions))
        return TextPlaces.of(begin, packed)

    def read(self, positions: Int64s, places: Int64s) -> list[str | None]:
        """Return texts, in the order asked; None for those that are not there as they were written.

        Parameters
        ----------
        places
            int64[n]: where they begin, as `append` or the records say; `NOWHERE` where that is not known.
        """
        texts: list[str | None] = [None] * len(positions)
        there = np.flatnonzero(places != NOWHERE) if self._series.pairs else np.zeros(0, np.int64)
        try:
            found = self._read(positions[there], places[there])
        except OSError as error:
            self._say("cannot be read, and are made anew of the store's", error)
            return texts
        if None in found:
            self._say("are damaged or missing here and there, and those are made anew of the store's")
        for row, text in zip(there.tolist(), found, strict=True):
            texts[row] = text
        return texts

    def _read(self, positions: Int64s, places: Int64s) -> list[str | None]:
        """Read texts that begin somewhere; see `read`."""
        files = (pair.texts.opened for pair in self._series.pairs_of(positions))
        return read_texts(files, places.tolist(), (self._seed + position for position in positions.tolist()))

    def _say(self, what: str, error: OSError | None = None) -> None:
        if what not in self._said:
            logger.warning("%s: texts %s%s", self._series.folder, what, "" if error is None else f": {error}")
        self._said.add(what)
