"""The code blocks and tables of the documents, for the tests that run and check them."""

import re
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
FOLDERS = ("configs", "plugins", "hybriddup/cli", "hybriddup/window", "hybriddup/service")
REFERENCE = [ROOT / folder / "README.md" for folder in FOLDERS]
"""What README.md leaves to a document beside the thing itself."""
GUIDES = [README, *REFERENCE, ROOT / "tests" / "benchmarks" / "README.md"]
"""The documents for users."""

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    text: str
    path: Path
    line: int
    """One-based line of its opening fence."""
    output: str | None
    """The ``text`` block that follows it with nothing in between: what it prints."""


def read_blocks(path: Path) -> list[Block]:
    document = path.read_text("utf-8")
    found = list(FENCED.finditer(document))
    blocks = []
    for match, after in zip_longest(found, found[1:]):
        follows = after is not None and after[1] == "text" and not document[match.end() : after.start()].strip()
        line = document.count("\n", 0, match.start()) + 1
        blocks.append(Block(match[1], match[2], path, line, after[2] if after and follows else None))
    return blocks


def blocks_in(language: str, paths: Sequence[Path] = GUIDES) -> list[Block]:
    return [block for path in paths for block in read_blocks(path) if block.language == language]


def block_with(language: str, part: str) -> str:
    """Return the text of the first block of a language, in any guide, that holds a part."""
    found = [block.text for block in blocks_in(language) if part in block.text]
    assert found, f"no guide has a {language} block with {part!r}"
    return found[0]


def names_of(code: str, file: str = "example") -> dict[str, Any]:
    """What the code of a document defines."""
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, file, "exec"), names)  # noqa: S102  the document's own code
    return names


def table_under(header: str) -> list[list[str]]:
    """Return the rows of the table of a guide whose header line begins with ``header``, cells without back quotes."""
    lines = iter("\n".join(path.read_text("utf-8") for path in GUIDES).splitlines())
    assert any(line.startswith(header) for line in lines), f"no guide has a table that begins with {header!r}"
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells = re.split(r"(?<!\\)\|", line.strip("|"))
        rows.append([cell.strip().replace("`", "").replace("\\|", "|") for cell in cells])
    return rows
