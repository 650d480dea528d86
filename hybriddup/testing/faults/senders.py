"""Processes that send posts to one window until all of theirs are acknowledged, whatever happens to them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from random import Random

import hybriddup
from hybriddup.errors import StoreError
from hybriddup.testing.window_posts import CONFIG

HAN = [chr(point) for point in range(0x4E00, 0x9FA5)]


def make_posts(n: int, seed: int) -> list[dict[str, str]]:
    """Posts: of each of so many texts one as it is, its exact repeat and two near ones, mixed up."""
    random = Random(seed)
    texts = ["".join(random.choices(HAN, k=30)) for _ in range(n)]
    forms = [text + end for text in texts for end in ("。", "。", "！", "？")]
    random.shuffle(forms)
    return [{"id": f"post {place}", "text": text} for place, text in enumerate(forms)]


def send_all(address: str, folder: Path, number: int, n_senders: int, n_texts: int, skew: float) -> None:
    """Send this process's posts that are not in its log yet, and note each answer there when it came."""
    log = folder / f"{number}.log"
    done = {json.loads(line)[0] for line in log.read_text().splitlines()} if log.exists() else set()
    posts = [post for post in make_posts(n_texts, 1)[number::n_senders] if post["id"] not in done]
    random = Random(time.time_ns() ^ os.getpid())
    random.shuffle(posts)
    window = None
    while posts:
        batch = posts[: random.randint(1, 16)]
        try:
            window = window or hybriddup.Window.open(
                address, config=CONFIG, workers=1, clock=lambda: time.time() + skew
            )
            answers = window.add_many(batch)
        except StoreError:
            time.sleep(0.02)
            continue
        lines = [json.dumps([one.id, one.kept, one.evidence and one.evidence.of]) + "\n" for one in answers]
        with log.open("a") as stream:
            stream.write("".join(lines))
        posts = posts[len(batch) :]
