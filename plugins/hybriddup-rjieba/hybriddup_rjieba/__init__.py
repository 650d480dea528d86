"""hybriddup plugin: the tokenizer `rjieba`, Chinese words cut by a Rust build of jieba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hybriddup

if TYPE_CHECKING:
    from hybriddup.plugin.registry import Registry


@hybriddup.hookimpl
def hybriddup_register(registry: Registry) -> None:
    """Add the tokenizer by import path, so that rjieba is imported only when it is used."""
    registry.add_tokenizer("rjieba", "hybriddup_rjieba.tokenizer:Rjieba")
