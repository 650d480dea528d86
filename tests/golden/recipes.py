"""The texts and recipes of the golden fingerprints, and how they are computed.

``python -m tests.golden.recipes``, from the root of the repository, writes ``fingerprints.json`` anew. Do so only when
fingerprints are meant to change: then `RECIPE_FORMAT` of `hybriddup.run.recipe` rises, so that stores refuse what they
saved before, and the changelog says so in a line.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import hybriddup

FILE = Path(__file__).parent / "fingerprints.json"

TEXTS = [
    "你妈妈喊你回家吃饭哦，回家罗回家罗",
    "你妈妈叫你回家吃饭啦，回家罗回家罗",
    "你媽媽喊你回家吃飯哦，回家囉回家囉",
    "今天天气真好，我们去公园走走吧😀",
    "The early train was late again, so we walked.",
    "the early train was late again so we walked",
    "用 iPhone 15 拍的照片，EP01 高清！",
    "Ｆｕｌｌ　ｗｉｄｔｈ　１２３",
    "한국어 문장과 日本語のテキスト",
    "مرحبا بالعالم، كيف حالك اليوم؟",
    "e\u0301clair \ud83d \x00 tail",
    "哈",
    "ok",
]
"""Together they are the corpus that weights are fitted on, so a change of one text changes the rest."""


def recipes() -> list[dict[str, Any]]:
    """Every built-in hasher with every built-in weighter at 64 and 128 bits, and the defaults."""
    written = [
        {
            "normalizer": {"use": "none"},
            "compare": "all",
            "tokenizer": {"use": "char_ngrams", "cjk": [1, 2], "other": [2, 3]},
            "weighter": {"use": weighter},
            "hasher": {"use": hasher},
            "fingerprint": {"bits": bits},
            "lengths": [{"exact_only": True}],
        }
        for hasher, weighter, bits in product(
            ["xxh3", "md5", "polynomial"], ["uniform", "tf", "tfidf", "levels"], [64, 128]
        )
    ]
    return [*written, {}]


def compute(config: dict[str, Any]) -> dict[str, Any]:
    """The recipe id, and the fingerprint of each text in hexadecimal, word 0 first."""
    words = hybriddup.fingerprint(TEXTS, config=config, workers=1).tolist()
    return {
        "config": config,
        "recipe_id": hybriddup.dedupe(TEXTS, config=config, workers=1).summary.recipe_id,
        "fingerprints": ["".join(f"{word:016x}" for word in row) for row in words],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps([compute(config) for config in recipes()], indent=1) + "\n", encoding="utf-8")
