"""Sample texts and ids for the contract checks: ordinary ones, and edge cases that break careless code."""

from __future__ import annotations

PLAIN_TEXTS = (
    "你妈妈喊你回家吃饭哦，回家罗回家罗",
    "你妈妈叫你回家吃饭啦，回家罗回家罗",
    "The early train was late again, so we walked.",
    "the early train was late again so we walked",
    "明天 meet 在 cafe 见, 3pm!",
    "abcdefgh",
    "abcdefghijkl",
)
"""Ordinary posts: some nearly equal, one pair at an edit similarity of exactly 0.8."""

NASTY_TEXTS = (
    "",
    " ",
    "\u3000\t\n\r\u00a0",
    "a",
    "啊",
    "😀",
    "😀😀🎉🎉🎉",
    "👨‍👩‍👧‍👦 👍🏽 🇨🇳",
    "\ud83d",
    "half \udc00 of a pair",
    "\x00",
    "nul\x00in the middle",
    "e\u0301a\u0308 o" + "\u0301" * 50,
    "\u200b\u200d\ufeff",
    "مرحبا بالعالم",
    "‮mirrored‬ text",
    "שלום hello 你好 こんにちは 안녕하세요 Привет",
    "!!!???……。。。，，，",
    "12345 67890",
    "ＡＢＣ１２３ ﬁ ㎏",
    "#tag @user http://t.cn/abc //@a:b RT @c: d",
    "\U0010ffff\U000e0041",
    "x" * 5000,
    "长文本" * 2000,
    "word " * 1000,
)
"""Empty and blank texts, single characters, emoji, lone surrogates, NUL, combining marks, invisible characters,
right-to-left text, several scripts, punctuation and digits only, full-width forms, microblog markup, the last code
point, long texts."""

NASTY_IDS: tuple[str | int, ...] = (
    *("1", 1, "", "é", "e\u0301", "a\x00b", "a", "\udc00", "\ud83d\ude00", "😀"),
    *(0, -7, 2**63 - 1, -(2**63), "-7", "#x"),
)
"""Ids that careless code confuses with each other, or cannot store."""

ALL_TEXTS = (*PLAIN_TEXTS, *NASTY_TEXTS)
