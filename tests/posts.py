"""Posts for tests: the samples that ship with their truth, and generated ones with edited copies among them."""

import json
from pathlib import Path
from random import Random
from typing import Any

SAMPLES = Path(__file__).parent / "samples"

CHINESE = (
    "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好"
)
ENGLISH = (
    *("the", "a", "we", "today", "tomorrow", "rain", "train", "late", "coffee", "again", "morning", "market", "price"),
    *("open", "closed", "never", "always", "maybe", "when", "before", "after", "music", "concert", "ticket", "friend"),
    *("street", "garden", "window", "paper", "letter", "number", "summer", "winter", "river", "bridge"),
)
ENDINGS = ["！", "。", "...", " http://t.cn/a1b2c3", " @someone", "😀", "哈哈", " #today", " (repost)", "？"]


def load_sample(name: str) -> list[dict[str, Any]]:
    """The records of a JSON Lines file among the samples."""
    return [json.loads(line) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]


def generated_posts(seed: int, n: int) -> list[str]:
    """Posts in Chinese, English and both, of 1 to 160 characters; about half are edited copies of earlier ones."""
    random = Random(seed)  # noqa: S311
    posts: list[str] = []
    for _ in range(n):
        if posts and random.random() < 0.5:
            posts.append(edited(random, random.choice(posts)))
        else:
            posts.append(written(random))
    return posts


def written(random: Random) -> str:
    length = random.choice([1, 3, 6, 7, 12, 20, 21, 30, 45, 80, 140, 160])
    kind = random.random()
    if kind < 0.5:
        return "".join(random.choices(CHINESE, k=length))
    words = random.choices(ENGLISH, k=max(1, length // 5))
    return " ".join(words) if kind < 0.8 else " ".join(words) + "".join(random.choices(CHINESE, k=length // 2))


def edited(random: Random, post: str) -> str:
    """A copy with up to a quarter of its characters replaced or dropped, or something appended, or nothing changed."""
    characters = list(post)
    for _ in range(random.randrange(1 + len(characters) // 4)):
        place = random.randrange(len(characters))
        characters[place] = random.choice([random.choice(CHINESE), "", "x"])
    return "".join(characters) + random.choice(["", "", random.choice(ENDINGS)])
