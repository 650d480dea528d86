"""Importing this loads what senders need, so that those that are forked afterwards begin at once."""

from __future__ import annotations

import hybriddup
from hybriddup.testing.window_posts import CONFIG

with hybriddup.Window.open(config=CONFIG, workers=1) as window:
    window.add_many(["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"])
