"""Every built-in component keeps the contract of its role, as plugins are asked to."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.roles import ROLES
from hybriddup.testing import (
    check_block_index,
    check_hasher,
    check_normalizer,
    check_reader,
    check_tokenizer,
    check_verifier,
    check_weighter,
    check_window,
    check_writer,
)
from hybriddup.window import Window

TEXTS = ["早上好", "good morning, all", "早上好！", "42"]


def parquet_file() -> bytes:
    """A table with the texts in one column, in two row groups."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    target = BytesIO()
    parquet.write_table(pyarrow.table({"id": [1, 2, 3, 4], "text": TEXTS}), target, row_group_size=3)
    return target.getvalue()


SAMPLES: dict[str, Callable[[], bytes]] = {
    "lines": lambda: "".join(f"{text}\n" for text in TEXTS).encode(),
    "json": lambda: json.dumps([{"text": text, "id": 1} for text in TEXTS], indent=1).encode(),
    "jsonl": lambda: "".join(f'{{"text": "{text}", "id": 1}}\n' for text in TEXTS).encode(),
    "csv": lambda: ("id,text\n" + "".join(f'1,"{text}"\n' for text in TEXTS)).encode(),
    "tsv": lambda: ("id\ttext\n" + "".join(f"1\t{text}\n" for text in TEXTS)).encode(),
    "parquet": parquet_file,
}

OPTIONS: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("normalizer", "microblog"): [
        {},
        {
            "urls": "mask",
            "mentions": "mask",
            "reposts": "drop_trail",
            "hashtags": "drop",
            "emoji": "mask",
            "residue": "drop",
        },
        {"unicode": "none", "case": "keep", "traditional": "keep", "white_space": "keep", "digits": "mask"},
    ],
    ("normalizer", "chat"): [{}, {"words": {"brb": "be right back", "早": ""}}],
    ("tokenizer", "char_ngrams"): [{}, {"cjk": [2, 3], "other": [4, 5]}],
    ("tokenizer", "jieba"): [{"hmm": False}],
    ("weighter", "tfidf"): [{}, {"clip": [0.5, 9], "other": None}],
    ("block_index", "blocks"): [{}, {"n_blocks": 5, "n_key_blocks": 2}, {"n_blocks": 7, "max_hamming_distance": 6}],
    ("block_index", "probing"): [{}, {"n_blocks": 4, "max_hamming_distance": 9}],
    ("block_index", "shingles"): [{}, {"n_shingles": 1}, {"n_shingles": 32, "common_in": 1}],
    ("block_index", "scan"): [{}, {"max_hamming_distance": 40}],
    ("verifier", "edit"): [{}, {"distance": "levenshtein"}],
    ("verifier", "cosine"): [{}, {"idf": False}, {"features": "char_ngrams"}],
    ("verifier", "jaccard"): [{}, {"features": "char_ngrams", "size": 3}],
    ("verifier", "lcs"): [{}, {"relative_to": "shorter"}],
    ("verifier", "post"): [
        {},
        {"model": "twitter"},
        {"model": {"intercept": -1.0, "similar": [[0.5, 0], [1, 3]]}},
    ],
}
"""Options worth checking besides the defaults, and for block indexes the distance to check at."""


def built_ins(role: str) -> list[Any]:
    """Import path and options of each built-in of a role."""
    registered = [one for one in create_plugin_manager(entry_points=False).registry.registered() if one.role == role]
    return [
        pytest.param(one.component, options, id="-".join([one.name, *map(str, options.values())]))
        for one in registered
        for options in OPTIONS.get((role, one.name), [{}])
    ]


def formats() -> list[Any]:
    """Import paths of the reader and writer of each built-in format, with a sample."""
    registry = create_plugin_manager(entry_points=False).registry
    names = registry.names("reader")
    pairs = [(registry.find("reader", name).component, registry.find("writer", name).component) for name in names]
    return [pytest.param(*pair, SAMPLES[name], id=name) for name, pair in zip(names, pairs, strict=True)]


@pytest.mark.parametrize(("component", "options"), built_ins("normalizer"))
def test_normalizer_keeps_its_contract(component: str, options: dict[str, Any]) -> None:
    """The shared check passes."""
    check_normalizer(component, **options)


@pytest.mark.parametrize(("component", "options"), built_ins("tokenizer"))
def test_tokenizer_keeps_its_contract(component: str, options: dict[str, Any]) -> None:
    """The shared check passes."""
    check_tokenizer(component, **options)


@pytest.mark.parametrize(("component", "options"), built_ins("weighter"))
def test_weighter_keeps_its_contract(component: str, options: dict[str, Any]) -> None:
    """The shared check passes."""
    check_weighter(component, **options)


@pytest.mark.parametrize(("component", "options"), built_ins("hasher"))
def test_hasher_keeps_its_contract(component: str, options: dict[str, Any]) -> None:
    """The shared check passes."""
    check_hasher(component, **options)


@pytest.mark.parametrize(("component", "options"), built_ins("block_index"))
def test_block_index_keeps_its_contract(component: str, options: dict[str, Any]) -> None:
    """The shared check passes at 64 and 128 bits."""
    check_block_index(component, **options)


@pytest.mark.parametrize(("component", "options"), built_ins("verifier"))
def test_verifier_keeps_its_contract(component: str, options: dict[str, Any]) -> None:
    """The shared check passes."""
    check_verifier(component, **options)


@pytest.mark.parametrize(("reader", "writer", "sample"), formats())
def test_reader_keeps_its_contract(reader: str, writer: str, sample: Callable[[], bytes]) -> None:
    """The shared check passes on a small file of the format."""
    check_reader(reader, content=sample(), texts=TEXTS)


@pytest.mark.parametrize(("reader", "writer", "sample"), formats())
def test_writer_keeps_its_contract(reader: str, writer: str, sample: Callable[[], bytes]) -> None:
    """The shared check passes on a small file of the format."""
    check_writer(writer, reader=reader, content=sample())


@pytest.mark.parametrize("scheme", create_plugin_manager(entry_points=False).registry.names("window"))
def test_window_keeps_its_contract(scheme: str, tmp_path: Path) -> None:
    """What lies in files lasts."""
    lasts = scheme == "file"

    def open_window(name: str, **options: Any) -> Window:
        return Window.open((tmp_path / name).as_uri() if lasts else f"{scheme}://", **options)

    check_window(open_window, lasts=lasts)


def test_every_role_has_built_ins_that_are_checked() -> None:
    """No role is left out of this file."""
    registry: Registry = create_plugin_manager(entry_points=False).registry

    assert all(registry.names(role.name) for role in ROLES.values())
    assert {f"test_{role}_keeps_its_contract" for role in ROLES} <= set(globals())
