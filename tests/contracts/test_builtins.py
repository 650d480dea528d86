"""Every built-in component keeps the contract of its role, as plugins are asked to."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from hybriddup import testing
from hybriddup.files.table_names import FORMAT as TABLES
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.roles import ROLES
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

MASKING = {"urls": "mask", "mentions": "mask", "reposts": "drop_trail", "hashtags": "drop", "emoji": "mask"}
MASKING |= {"residue": "drop"}
OPTIONS: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("normalizer", "microblog"): [
        {},
        MASKING,
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
        {"model": {"intercept": -1.0, "letters_shared": [[0.5, 0], [1, 3]]}},
    ],
    **{("guard", name): [{}, {"strict": True}] for name in ("numbers", "links", "mentions", "emoji")},
    ("guard", "words"): [{}, {"words": ["Floor 3", "三", "😀"]}],
}
"""Options worth checking besides the defaults, and for block indexes the distance to check at."""


CHECKS = {
    role: getattr(testing, f"check_{role}")
    for role in ("normalizer", "tokenizer", "weighter", "hasher", "block_index", "verifier", "guard")
}
"""The check of each role whose components need nothing but their options."""


def built_ins() -> list[Any]:
    """Role, import path and options of each built-in of these roles."""
    return [
        pytest.param(one.role, one.component, options, id="-".join([one.role, one.name, *map(str, options.values())]))
        for one in create_plugin_manager(entry_points=False).registry.registered()
        if one.role in CHECKS
        for options in OPTIONS.get((one.role, one.name), [{}])
    ]


def formats() -> list[Any]:
    """Import paths of the reader and writer of each built-in format of files, with a sample."""
    registry = create_plugin_manager(entry_points=False).registry
    names = [name for name in registry.names("reader") if name != TABLES]
    pairs = [(registry.find("reader", name).component, registry.find("writer", name).component) for name in names]
    return [pytest.param(*pair, SAMPLES[name], id=name) for name, pair in zip(names, pairs, strict=True)]


@pytest.mark.parametrize(("role", "component", "options"), built_ins())
def test_built_in_keeps_the_contract_of_its_role(role: str, component: str, options: dict[str, Any]) -> None:
    CHECKS[role](component, **options)


@pytest.mark.parametrize(("reader", "writer", "sample"), formats())
def test_reader_and_writer_keep_their_contracts(reader: str, writer: str, sample: Callable[[], bytes]) -> None:
    testing.check_reader(reader, content=sample(), texts=TEXTS)
    testing.check_writer(writer, reader=reader, content=sample())


@pytest.mark.parametrize("scheme", create_plugin_manager(entry_points=False).registry.names("window"))
def test_window_keeps_its_contract(scheme: str, tmp_path: Path) -> None:
    lasts = scheme == "file"

    def open_window(name: str, **options: Any) -> Window:
        return Window.open((tmp_path / name).as_uri() if lasts else f"{scheme}://", **options)

    testing.check_window(open_window, lasts=lasts)


def test_every_role_has_built_ins_that_are_checked() -> None:
    registry: Registry = create_plugin_manager(entry_points=False).registry
    assert all(registry.names(role.name) for role in ROLES.values())
    assert {*CHECKS, "reader", "writer", "window"} == set(ROLES)
