"""A corpus in all the states in which it goes from step to step, each made when it is first asked for.

The states are those of the default configuration.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson

import hybriddup
from hybriddup.components import Components
from hybriddup.config import load_settings
from hybriddup.config.settings import Settings
from hybriddup.exact import EqualTexts, find_equal_texts
from hybriddup.parallel import available_workers
from hybriddup.pilot import make_pilot
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.roles import RoleName
from hybriddup.records import CandidatePairs, Fingerprints, Int32s, Int64s, Tokens, VerifiedPairs, text_lengths
from hybriddup.result import Result
from hybriddup.steps.blocks import BlockIndex, Expectation
from hybriddup.steps.deciders import Decisions, decide
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.waiting import FingerprintQueue
from tests.benchmarks.corpora import Post

INDEX_OPTIONS: dict[str, dict[str, Any]] = {"tables": {"n_tables": 16, "key_bits": 12, "n_weak_bits": 3}}
"""Options of indexes that go another one's way on a small corpus: `tables` scans where that is cheaper."""


@dataclass(frozen=True)
class Stages:
    """A corpus in the states between the steps."""

    posts: list[Post]
    directory: Path
    """Where the files for readers are written."""
    made: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Components by role and name."""

    @cached_property
    def registry(self) -> Registry:
        """The built-in components."""
        return create_plugin_manager(entry_points=False).registry

    @cached_property
    def settings(self) -> Settings:
        """The default configuration."""
        return load_settings("weibo", create_plugin_manager(entry_points=False))

    @cached_property
    def components(self) -> Components:
        """The components of the default configuration, the weighter fitted."""
        components = Components.create(self.settings, self.registry, available_workers())
        components.fingerprinter.fit(self.texts)
        return components

    @cached_property
    def raw(self) -> list[str]:
        """The texts as they were read."""
        return [post.text for post in self.posts]

    @cached_property
    def normalized(self) -> list[str]:
        """The texts normalized."""
        return self.registry.create("normalizer", self.settings.normalizer).normalize_batch(self.raw)

    @cached_property
    def equal(self) -> EqualTexts:
        """Which texts are equal."""
        return find_equal_texts(self.normalized, self.raw)

    @cached_property
    def texts(self) -> list[str]:
        """The distinct texts that say something, normalized."""
        return [self.normalized[place] for place in self.equal.distinct.tolist() if self.normalized[place]]

    @cached_property
    def lengths(self) -> Int32s:
        """Code points of each."""
        return text_lengths(self.texts)

    @cached_property
    def tokens(self) -> Tokens:
        """Their tokens."""
        return self.components.fingerprinter.tokenizer.tokenize_batch(self.texts)

    @cached_property
    def prints(self) -> Fingerprints:
        """Their fingerprints, with the characters that verifiers count."""
        found = self.components.fingerprinter.fingerprint(self.texts)
        limits = self.components.bands.limits_of(self.lengths)
        positions = np.arange(len(self.texts), dtype=np.int64)
        return Fingerprints(positions, found.bits, found.strengths, limits, self.context().characters)

    def context(self) -> VerifierContext:
        """Return what verifiers see, with nothing read yet."""
        maker = self.components.fingerprinter
        return VerifierContext(self.texts, maker.tokenizer, maker.n_bits, available_workers())

    @cached_property
    def candidates(self) -> CandidatePairs:
        """Every pair within its limits."""
        index = self.index("scan", self.prints)
        return index.candidates_within(self.prints)

    def verify(self, pairs: CandidatePairs) -> VerifiedPairs:
        """Return the pairs that the default configuration verifies."""
        return self.components.bands.verify(pairs, self.lengths)

    @cached_property
    def decisions(self) -> Decisions:
        """What is decided by scanning."""
        self.components.plan.prepare(self.context())
        index = self.index("scan", self.prints)
        return decide(FingerprintQueue([self.prints]), len(self.texts), index, self.verify)

    @cached_property
    def verified(self) -> tuple[VerifiedPairs, Int64s]:
        """The pairs that were verified in deciding, as indexes list them, and the keys that they are sorted by."""
        pairs = self.decisions.verified
        order = np.argsort(pair_keys(pairs))
        return self.verify(pairs.take(order)), pair_keys(pairs)[order]

    @cached_property
    def result(self) -> Result:
        """The result of a run in the default configuration."""
        return hybriddup.dedupe([post._asdict() for post in self.posts])

    def component(self, role: RoleName, name: str) -> Any:
        """Return a component with its default options, made when first asked for."""
        key = (role, name)
        if key not in self.made:
            self.made[key] = self.registry.create_by_name(role, name)
        return self.made[key]

    def index(self, name: str, prints: Fingerprints) -> BlockIndex:
        """Return an empty index, prepared for these texts."""
        index = self.registry.create_by_name("block_index", name, **INDEX_OPTIONS.get(name, {}))
        maker = self.components.fingerprinter
        index.prepare(
            Expectation(
                n_texts=len(prints),
                workers=available_workers(),
                bits=maker.n_bits,
                max_hamming_distance=int(prints.limits.max_hamming_distances.max()),
                pilot=lambda: make_pilot(self.texts[:512], self.components),
            )
        )
        return index

    def prints_within(self, distance: int | None) -> Fingerprints:
        """Return the fingerprints with their Hamming limits lowered to ``distance``."""
        if distance is None:
            return self.prints
        limits = self.prints.limits
        lowered = np.minimum(limits.max_hamming_distances, distance).astype(np.int32)
        return replace(self.prints, limits=limits._replace(max_hamming_distances=lowered))

    def file(self, name: str) -> Path:
        """Return the corpus as a file of a format, written when first asked for."""
        path = self.directory / f"posts{self.component('reader', name).extensions[0]}"
        if not path.exists():
            path.write_bytes(FORMATS[name](self.posts))
        return path


def pair_keys(pairs: CandidatePairs | VerifiedPairs) -> Int64s:
    """Return int64[n_pairs]: one number a pair, in the order in which indexes list them."""
    keys: Int64s = pairs.later << 32 | pairs.earlier
    return keys


def as_json_lines(posts: list[Post]) -> bytes:
    """Return the posts as JSON Lines."""
    return b"".join(orjson.dumps(post._asdict(), option=orjson.OPT_APPEND_NEWLINE) for post in posts)


def as_lines(posts: list[Post]) -> bytes:
    """Return the texts a line each."""
    return "".join(" ".join(post.text.split()) + "\n" for post in posts).encode()


def as_table(posts: list[Post], delimiter: str) -> bytes:
    """Return the posts as a table."""
    target = io.StringIO()
    rows = csv.writer(target, delimiter=delimiter)
    rows.writerow(Post._fields)
    rows.writerows(posts)
    return target.getvalue().encode()


def as_parquet(posts: list[Post]) -> bytes:
    """Return the posts as Parquet."""
    import pyarrow
    from pyarrow import parquet

    target = io.BytesIO()
    columns = {"id": [post.id for post in posts], "text": [post.text for post in posts]}
    parquet.write_table(pyarrow.table(columns), target)
    return target.getvalue()


FORMATS: dict[str, Callable[[list[Post]], bytes]] = {
    "jsonl": as_json_lines,
    "lines": as_lines,
    "csv": lambda posts: as_table(posts, ","),
    "tsv": lambda posts: as_table(posts, "\t"),
    "parquet": as_parquet,
}
"""The corpus in each format."""
