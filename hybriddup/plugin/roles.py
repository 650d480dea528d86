"""The roles that components fill, with what the registry must know to check a component before it runs."""

from __future__ import annotations

from typing import Literal, NamedTuple

RoleName = Literal[
    "normalizer", "tokenizer", "weighter", "hasher", "block_index", "verifier", "guard", "reader", "writer", "window"
]


class Role(NamedTuple):
    """One kind of component."""

    name: RoleName
    methods: tuple[str, ...]
    """Methods that a batch component of this role has."""
    per_text: str
    """Signature of the plain function that may stand for it; empty where only a batch component will do."""
    new_each_run: bool
    """True where a batch component keeps what it saw, so that its class must be registered, not an instance."""
    attributes: tuple[str, ...] = ()
    """Attributes that a batch component of this role must have beside its methods."""
    defaults: tuple[tuple[str, bool | int], ...] = ()
    """Attributes that it may leave out, each with what is then assumed."""

    @property
    def label(self) -> str:
        """The role as people say it, such as ``block index``."""
        return self.name.replace("_", " ")


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("normalizer", ("normalize_batch",), "(text: str) -> str", new_each_run=False),
        Role(
            "tokenizer",
            ("tokenize_batch",),
            "(text: str) -> list[str]",
            new_each_run=False,
            defaults=(("holds_interpreter", True),),
        ),
        Role(
            "weighter",
            ("fit", "weigh_batch"),
            "(tokens: list[str]) -> list[float]",
            new_each_run=True,
            defaults=(("needs_fit", False),),
        ),
        Role("hasher", ("hash_batch",), "(token: str, bits: int) -> int", new_each_run=False),
        Role(
            "block_index",
            ("keys", "probes", "prepare", "describe", "learn", "learned", "use_learned"),
            "(text: str) -> list[int]",
            new_each_run=True,
            defaults=(("max_bucket_size", 0), ("max_candidates", 0), ("is_complete", False), ("probes_others", False)),
        ),
        Role(
            "verifier",
            ("prepare", "score_pairs", "max_partner_lengths"),
            "(a: str, b: str) -> float",
            new_each_run=True,
        ),
        Role("guard", ("refuse", "reason"), "(a: str, b: str) -> str | None", new_each_run=False),
        Role("reader", ("read",), "", new_each_run=False, attributes=("extensions",)),
        Role("writer", ("check", "write"), "", new_each_run=False),
        Role("window", ("open_window",), "", new_each_run=False),
    )
}
"""Every role by name, in the order of the pipeline; then readers, writers, and what opens windows."""

KNOWN_PACKAGES = {("tokenizer", "rjieba"): "hybriddup-rjieba"}
"""Distributions that bring components which hybriddup knows of but does not ship."""
