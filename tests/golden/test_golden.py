"""Fingerprints that must never change by accident: stores hold them, and compare them with new ones.

When a change is meant, raise `RECIPE_FORMAT` in `hybriddup.run.recipe`, or `BODY_FORMAT` in
`hybriddup.steps.posts.parts` where only bodies change; write the file anew (see `recipes`), and add a line to the
changelog.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.golden.recipes import FILE, TEXTS, compute, recipes

GOLDEN: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []


def name_of(golden: dict[str, Any]) -> str:
    """What the recipe has of its own."""
    config = golden["config"]
    parts = [config.get(role, {}).get("use", "") for role in ("hasher", "weighter")]
    return "-".join(filter(None, [*parts, str(config.get("fingerprint", {}).get("bits", ""))])) or "defaults"


@pytest.mark.parametrize("golden", GOLDEN, ids=name_of)
def test_fingerprints_are_the_golden_ones(golden: dict[str, Any]) -> None:
    """Under the same recipe id, on any machine and in any version; a change needs a new id and a changelog line."""
    assert compute(golden["config"]) == golden


def test_golden_file_has_every_recipe() -> None:
    assert [golden["config"] for golden in GOLDEN] == recipes()
    assert all(len(golden["fingerprints"]) == len(TEXTS) for golden in GOLDEN)


def test_golden_recipes_have_ids_of_their_own() -> None:
    assert len({golden["recipe_id"] for golden in GOLDEN}) == len(GOLDEN)
