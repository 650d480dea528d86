"""Corpora of any size for measuring, made from a base of posts; the same seed gives the same bytes.

python -m tests.benchmarks.corpora SHAPE --posts N [--base FILE] -o OUT.jsonl[.gz]

Each line of the output is ``{"id": ..., "text": ...}``. README.md describes the shapes: copies, templates and stream.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import ceil
from pathlib import Path
from random import Random
from typing import IO, Any, NamedTuple

import orjson

SAMPLE_POSTS = Path(__file__).parents[1] / "samples" / "posts.jsonl"
UNRELATED_SHARE = 0.1
MIN_PASSES = 3
N_TEMPLATES = 10
MIN_UNRELATED_LENGTH = 12
"""Shorter texts put together at random would match some post by accident."""
STREAM_REPEATS = 0.26
STREAM_EQUAL = 0.3
"""Share of the repeats in a ``stream`` that are not edited."""
STREAM_REMEMBERED = 500_000
"""Posts back that a post of a ``stream`` may repeat."""
MAX_EDITED_SHARE = 0.2
MOVED_SHARE = 0.05
"""Share of the edited copies in which the edits are one passage moved to another place."""
RANK_WINDOW = 64
"""How many letters of about the same frequency change places among each other."""
LINKS = re.compile(r"(https?://\S+)")
CLAUSES = re.compile(r"[^，。！？；：、,!?;\s]*[，。！？；：、,!?;\s]*")
"""A clause with the marks after it."""


@dataclass(frozen=True)
class Base:
    """The texts that a corpus is made from, and the random numbers by which it is made."""

    texts: list[str]
    random: Random

    @cached_property
    def pool(self) -> str:
        """All texts, one after another: where characters and phrases are drawn from, each as often as it occurs."""
        return "".join(self.texts)

    @cached_property
    def lengths(self) -> list[int]:
        """Code points of each text."""
        return list(map(len, self.texts))

    def phrase(self, length: int) -> str:
        """Return ``length`` characters that stand together in the base."""
        start = int(self.random.random() * (len(self.pool) - length + 1))
        return self.pool[start : start + length]

    def unrelated(self, length: int) -> str:
        """Return a text of phrases of 2 to 4 characters from anywhere; two such texts have little in common."""
        phrases: list[str] = []
        missing = length
        while missing > 0:
            phrases.append(self.phrase(min(missing, 2 + int(self.random.random() * 3))))
            missing -= len(phrases[-1])
        return "".join(phrases)

    @cached_property
    def clauses(self) -> list[str]:
        """All clauses of all texts, each as often as it occurs."""
        return [clause for text in self.texts for clause in CLAUSES.findall(text) if clause]

    def spliced(self, length: int) -> str:
        """Return a text of clauses from anywhere, each at most half of it; the last may be the end of one.

        So two such texts that share a clause are still far from being copies.
        """
        draw, clauses = self.random.random, self.clauses
        longest = (length + 1) // 2
        parts: list[str] = []
        missing = length
        while missing > 0:
            parts.append(clauses[int(draw() * len(clauses))][-min(longest, missing) :])
            missing -= len(parts[-1])
        return "".join(parts)

    def edited(self, text: str) -> str:
        """Return a copy of which 0 to 20 % of the characters are replaced, inserted, deleted, or moved elsewhere."""
        draw = self.random.random
        n_edits = int(draw() * MAX_EDITED_SHARE * len(text))
        if n_edits > 1 and draw() < MOVED_SHARE:
            return self.moved(text, n_edits)
        characters, pool = list(text), self.pool
        for _ in range(n_edits):
            place, kind = int(draw() * len(characters)), draw()
            if kind < 0.25:
                del characters[place]
            else:
                # an insertion is a replacement of no characters
                characters[place : place + (kind < 0.75)] = pool[int(draw() * len(pool))]
        return "".join(characters)

    def moved(self, text: str, length: int) -> str:
        """Return the text with one passage of ``length`` characters at another place."""
        start = self.random.randrange(len(text) - length + 1)
        passage, rest = text[start : start + length], text[:start] + text[start + length :]
        place = self.random.randrange(len(rest) + 1)
        return rest[:place] + passage + rest[place:]

    def relettered(self) -> Base:
        """Return other posts that repeat each other exactly as these do: letters are exchanged for others, one for one.

        Letters change places with letters about as frequent, so that common ones stay common; links stay as they are.
        """
        ranked = [letter for letter, _ in Counter(self.pool).most_common() if letter.isalpha()]
        table: dict[int, str] = {}
        for group in ([c for c in ranked if c.isascii()], [c for c in ranked if not c.isascii()]):
            for start in range(0, len(group), RANK_WINDOW):
                window = group[start : start + RANK_WINDOW]
                table |= zip(map(ord, window), self.random.sample(window, len(window)), strict=True)
        return Base([exchange_letters(text, table) for text in self.texts], self.random)


def exchange_letters(text: str, table: dict[int, str]) -> str:
    """Return the text with its letters exchanged, but for those of links."""
    if "http" not in text:
        return text.translate(table)
    parts = LINKS.split(text)
    return "".join(part if place % 2 else part.translate(table) for place, part in enumerate(parts))


class Post(NamedTuple):
    """One line of a corpus."""

    id: str
    text: str


def copies(base: Base, n: int, *, passes: int | None = None, shuffled: bool = True) -> Iterable[Post]:
    """Return a base corpus several times over, with edits, and unrelated posts.

    Parameters
    ----------
    passes
        How often the base is gone through. Where it has too few posts for that, it is made longer by further
        versions of itself in which letters are exchanged, so that the share of repeats is the same at every size.
        None: as often as needed, and at least three times, for which only the first posts of the base are taken
        where they are enough.
    """
    n_unrelated = int(n * UNRELATED_SHARE)
    n_related = n - n_unrelated
    n_rows = ceil(n_related / (passes or MIN_PASSES)) or 1
    if passes is None:
        n_rows = min(n_rows, len(base.texts))
    posts = list(islice(passes_over(base, rows_of(base, n_rows)), n_related))
    lengths = base.random.choices(base.lengths, k=n_unrelated)
    posts += (
        Post(f"unrelated-{row}", base.unrelated(max(length, MIN_UNRELATED_LENGTH)))
        for row, length in enumerate(lengths)
    )
    if shuffled:
        base.random.shuffle(posts)
    return posts


def rows_of(base: Base, n: int) -> list[str]:
    """Return the first ``n`` texts of the base, and of versions of it with other letters where it has fewer."""
    texts = base.texts[:n]
    while len(texts) < n:
        base = base.relettered()
        texts += base.texts[: n - len(texts)]
    return texts


def passes_over(base: Base, texts: list[str]) -> Iterator[Post]:
    """Yield the texts as they are, and then edited copies of them, again and again."""
    yield from (Post(f"original-{row}", text) for row, text in enumerate(texts))
    number = 0
    while True:
        number += 1
        yield from (Post(f"copy-{number}-{row}", base.edited(text)) for row, text in enumerate(texts))


def templates(base: Base, n: int, *, passes: int | None = None, shuffled: bool = True) -> Iterable[Post]:
    """Return a corpus of which one half is edits of ten templates; the other half is as in `copies`."""
    n_edits = n // 2
    chosen = base.random.sample(long_texts(base), N_TEMPLATES)
    posts = [
        Post(f"template-{row % N_TEMPLATES}-{row}", base.edited(chosen[row % N_TEMPLATES])) for row in range(n_edits)
    ]
    posts += copies(base, n - n_edits, passes=passes, shuffled=shuffled)
    if shuffled:
        base.random.shuffle(posts)
    return posts


def long_texts(base: Base) -> list[str]:
    """Return the different texts of 40 to 140 characters."""
    return list(dict.fromkeys(text for text in base.texts if 40 <= len(text) <= 140))


def stream(base: Base, n: int, **_: Any) -> Iterator[Post]:
    """Yield posts as a feed has them; a quarter repeat one of the 500,000 before, where that is a repeat its original.

    So what was repeated is the likelier to be repeated again, and edits do not add up.
    """
    recent: list[str] = []
    draw = base.random.random
    for row in range(n):
        if recent and draw() < STREAM_REPEATS:
            original = recent[int(draw() * len(recent))]
            text = original if draw() < STREAM_EQUAL else base.edited(original)
        else:
            original = text = base.spliced(base.lengths[int(draw() * len(base.lengths))])
        if row < STREAM_REMEMBERED:
            recent.append(original)
        else:
            recent[row % STREAM_REMEMBERED] = original
        yield Post(f"stream-{row}", text)


Shape = Callable[..., Iterable[Post]]
SHAPES: dict[str, Shape] = {shape.__name__: shape for shape in (copies, templates, stream)}


def generate(
    shape: str, n: int, texts: list[str], *, seed: int = 0, passes: int | None = None, shuffled: bool = True
) -> Iterable[Post]:
    """Return the ``n`` posts of a shape, made from ``texts``."""
    return SHAPES[shape](Base(texts, Random(seed)), n, passes=passes, shuffled=shuffled)  # noqa: S311


def records_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a JSON Lines file, plain or ``.gz``, without holding them."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
        yield from map(orjson.loads, lines)


def read_texts(path: Path = SAMPLE_POSTS, n: int | None = None) -> list[str]:
    """Return the texts of the first ``n`` records of a file; of all where n is None."""
    return [record["text"] for record in islice(records_of(path), n)]


def write_posts(posts: Iterable[Post], path: Path) -> int:
    """Write posts as JSON Lines, compressed where the name ends in ``.gz``; return how many."""
    n = 0
    with path.open("wb") as file, compressed(file, path) as stream:
        for post in posts:
            stream.write(json.dumps(post._asdict(), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
            n += 1
    return n


def compressed(file: IO[bytes], path: Path) -> Any:
    """Return a stream into the file: as it is, or gzip without a time stamp, so that equal posts give equal bytes."""
    if path.suffix != ".gz":
        return nullcontext(file)
    return gzip.GzipFile(filename="", mode="wb", compresslevel=3, fileobj=file, mtime=0)


def main(arguments: list[str] | None = None) -> None:
    """Write a corpus as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--posts", type=int, required=True, help="how many posts, exactly")
    parser.add_argument("--base", type=Path, default=SAMPLE_POSTS, help="JSON Lines with a text a line, plain or .gz")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--passes", type=int, help="how often the base is gone through, at every size alike")
    parser.add_argument("--in-order", action="store_true", help="originals first, then the copies; default: shuffled")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    texts = read_texts(chosen.base)
    if (n_long := len(long_texts(Base(texts, Random())))) < N_TEMPLATES:  # noqa: S311  nothing is drawn
        needed = f"at least {N_TEMPLATES} different texts of 40 to 140 characters"
        parser.error(f"--base {chosen.base} needs {needed}; it has {n_long}")
    posts = generate(
        chosen.shape, chosen.posts, texts, seed=chosen.seed, passes=chosen.passes, shuffled=not chosen.in_order
    )
    print(f"{write_posts(posts, chosen.output):,} posts in {chosen.output}")


if __name__ == "__main__":
    main()
