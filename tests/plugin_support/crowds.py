"""Crowds: posts that crowd the buckets of a window, of which one in each group is kept.

A third are copies of two texts. A third are made from two templates, so that all posts of a template match each
other, and few are equal. Of each text of the others come its exact repeat and two near ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from hybriddup.testing.contract import require
from hybriddup.testing.window_posts import CONFIG
from hybriddup.window.protocols import AnyWindow
from hybriddup.window.records import StoredPost

CROWD_CONFIG: dict[str, Any] = {
    **CONFIG,
    "blocks": {"use": "shingles", "max_bucket_size": 32},
    "lengths": [{"up_to": 6, "exact_only": True}, *CONFIG["lengths"]],
    "must_agree": [],
}
"""Buckets are smaller than a batch, and short posts are in none. There are no guards: random characters may be
opposites, such as spring and autumn, and guards would keep such posts of one template apart."""
HAN = [chr(point) for point in range(0x4E00, 0x9FA5)]
SHORT = "早安！"
N_TEMPLATES = 2
FORMS = "。", "。", "！", "？"
MOST_SLOTS = 4
"""Characters at the end of a template's 56 that posts have of their own; at least one."""


class Crowd(NamedTuple):
    """Posts in the order in which they are shared out among senders."""

    posts: list[dict[str, str]]
    group: dict[str, int]
    """By id, the number of a post's group: posts match each other if they are of one group, and else do not."""

    def of_sender(self, number: int, n_senders: int) -> list[dict[str, str]]:
        """Return the posts of a sender; one of sixteen is sent by another sender, too."""
        return [
            post
            for place, post in enumerate(self.posts)
            if number == place % n_senders or (place % 16 == 0 and number == (place // 16) % n_senders)
        ]


def make_crowd(n: int, seed: int) -> Crowd:
    """Return four times ``n`` posts, or one or two more."""
    random = Random(seed)
    each = 4 * n // 3
    ordinary = "".join(random.choices(HAN, k=30))
    grouped = [(place % 2, (ordinary, SHORT)[place % 2]) for place in range(each)]
    grouped += [(2 + place % N_TEMPLATES, text) for place, text in enumerate(of_templates(each, random))]
    for number in range(n - len(grouped) // 4):
        text = "".join(random.choices(HAN, k=30))
        grouped += [(2 + N_TEMPLATES + number, text + end) for end in FORMS]
    random.shuffle(grouped)
    posts = [{"id": f"post {place}", "text": text} for place, (_, text) in enumerate(grouped)]
    return Crowd(posts, {post["id"]: group for post, (group, _) in zip(posts, grouped, strict=True)})


def of_templates(n: int, random: Random) -> list[str]:
    """Return texts of the templates, in turn; a third are equal to another one."""
    templates = ["".join(random.choices(HAN, k=56)) for _ in range(N_TEMPLATES)]
    texts: list[str] = []
    for place in range(n):
        if place >= 2 * N_TEMPLATES and random.random() < 1 / 3:
            texts.append(texts[random.randrange(place % N_TEMPLATES, place, N_TEMPLATES)])
        else:
            n_slots = random.randint(1, MOST_SLOTS)
            slots = "".join(random.choices(HAN, k=n_slots))
            texts.append(templates[place % N_TEMPLATES][:-n_slots] + slots)
    return texts


def check_answers(window: AnyWindow, crowd: Crowd, answers: Iterable[Sequence[Any]]) -> None:
    """Check that each post is decided, one of each group kept and named by the others, and answers stand.

    ``answers`` were given: of each post its id, whether it was kept, and of which post it is a duplicate.
    """
    found = {post["id"]: window.get(post["id"]) for post in crowd.posts}
    alike: dict[int, list[StoredPost]] = defaultdict(list)
    for post in crowd.posts:
        stored = found[post["id"]]
        require(stored is not None and stored.text == post["text"], "what was acknowledged is there", (post, stored))
        if stored is not None:
            alike[crowd.group[post["id"]]].append(stored)
    for some in alike.values():
        kept = [one for one in some if one.kept]
        require(len(kept) == 1, "of posts that match each other exactly one is kept", (len(kept), *kept[:3], *some[:3]))
        strays = [one for one in some if one.evidence and one.evidence.duplicate_of != kept[0].id]
        require(not strays, "a duplicate names the post that is kept", (kept, strays))
    for answer in answers:
        check_answer(answer, found)


def check_answer(answer: Sequence[Any], found: Mapping[str, StoredPost | None]) -> None:
    """Check that an answer that was given is what the window says now."""
    stored = found[answer[0]]
    now = [answer[0], stored and stored.kept, stored and stored.evidence and stored.evidence.duplicate_of]
    require(now == answer, "an answer that was given stands", (answer, now))
