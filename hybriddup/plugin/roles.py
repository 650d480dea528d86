"""The roles that components can have, and the methods and attributes that each role requires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

RoleName = Literal[
    "normalizer", "tokenizer", "weighter", "hasher", "block_index", "verifier", "guard", "reader", "writer", "window"
]


class Role(NamedTuple):
    """A kind of component, and the methods and attributes that it requires."""

    name: RoleName
    methods: tuple[str, ...]
    """Methods that a batch component of this role must have."""
    per_text: str = ""
    """Signature of a plain function that can be adapted to this role; empty if only batch components are accepted."""
    new_each_run: bool = False
    """Whether batch components have state: each run then needs its own instance, so only a class may be registered."""
    defaults: Mapping[str, bool | int] = {}
    """Optional attributes of a batch component, with their defaults."""
    attributes: tuple[str, ...] = ()
    """Attributes that a batch component must have."""

    @property
    def label(self) -> str:
        """Name of the role in messages, such as ``block index``."""
        return self.name.replace("_", " ")


NEW = True
"""Value of `Role.new_each_run` for roles whose batch components have state."""

ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("normalizer", ("normalize_batch",), "(text: str) -> str"),
        Role("tokenizer", ("tokenize_batch",), "(text: str) -> list[str]", defaults={"holds_interpreter": True}),
        Role("weighter", ("fit", "weigh_batch"), "(tokens: list[str]) -> list[float]", NEW, {"needs_fit": False}),
        Role("hasher", ("hash_batch",), "(token: str, bits: int) -> int"),
        Role(
            "block_index",
            ("keys", "probes", "prepare", "describe", "learn", "learned", "use_learned"),
            "(text: str) -> list[int]",
            NEW,
            {"max_bucket_size": 0, "max_candidates": 0, "is_complete": False, "probes_others": False},
        ),
        Role("verifier", ("prepare", "score_pairs", "max_partner_lengths"), "(a: str, b: str) -> float", NEW),
        Role("guard", ("refuse", "reason"), "(a: str, b: str) -> str | None"),
        Role("reader", ("read",), attributes=("extensions",)),
        Role("writer", ("check", "write")),
        Role("window", ("open_window",)),
    )
}
"""The roles by name: first the roles of the pipeline, in its order, then reader, writer and window."""

KNOWN_PACKAGES = {("tokenizer", "rjieba"): "hybriddup-rjieba"}
"""Distributions of known plugin components, by role and name, to suggest in error messages."""
