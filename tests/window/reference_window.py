"""A window written for plainness: every post is compared with every kept one, in plain Python."""

from __future__ import annotations

from dataclasses import dataclass, field

from rapidfuzz.distance import Indel

from hybriddup.window import Post

EXACT_UP_TO = 2
THRESHOLD = 0.7
CONFIG = {
    "normalizer": {"use": "none"},
    "compare": "all",
    "without_text": "compare",
    "weighter": {"use": "tf"},
    "fingerprint": {"bits": 64},
    "blocks": {"use": "scan"},
    "must_agree": [],
    "lengths": [
        {"up_to": EXACT_UP_TO, "exact_only": True},
        {"max_hamming_distance": 63, "verifier": {"use": "edit", "threshold": THRESHOLD}},
    ],
}
"""A configuration whose stage 1 and guards rule nothing out, so that the similarity of the texts alone decides."""


@dataclass
class Kept:
    id: str | int
    text: str
    time: float
    number: int
    """That of the kept post, which it has again when it is renewed."""


@dataclass
class Answer:
    """What was said of a post."""

    post_id: str | int
    keeper: str | int | None
    watermark: float
    text: str = ""


@dataclass
class ReferenceWindow:
    """Says of each post whether it is kept, or whose duplicate it is."""

    horizon: float
    by_event: bool = False
    replace: bool = False
    """Whether a post that comes with another text replaces the earlier post with its id."""
    renew: bool = False
    """Renewals come after the batch whose copies renew posts."""
    now: float = 0.0
    watermark: float = float("-inf")
    last_time: float = float("-inf")
    at_batch: float = float("-inf")
    """The watermark when the batch came, whose posts all come at one moment."""
    n: int = 0
    kept: list[Kept] = field(default_factory=list)
    copied: set[int] = field(default_factory=set)
    """The numbers of the kept posts that posts of this batch repeat."""
    answers: dict[tuple[type, str | int], Answer] = field(default_factory=dict)

    def add(
        self, post: Post, made_id: str | int | None = None, *, repeated: bool
    ) -> tuple[str | int, str | int | None]:
        """Return the post's id and that of its keeper, None where it is kept.

        ``repeated`` is whether the window knows the id, which it may forget when the horizon is past. ``made_id`` is
        the id that the window makes for a post without one, None = the next number.
        """
        before = self.answers.get((type(post.id), post.id))
        if repeated:
            assert before.text == post.text or not self.replace
            return before.post_id, before.keeper
        if self.replace and before is not None and post.id is not None and before.text != post.text:
            self.delete(post.id, was_there=True)
            before = None
        assert before is None or before.watermark <= self.watermark - self.horizon
        post_id = post.id if post.id is not None else f"#{self.n}" if made_id is None else made_id
        self.n += 1
        self.let_come(post)
        keeper = self.keeper_of(post.text)
        if keeper is None:
            self.kept.append(Kept(post_id, post.text, self.last_time, self.n))
        elif self.renew:
            kept = self.found_for(post.text)
            self.copied.add(kept.number)
        self.answers[(type(post_id), post_id)] = Answer(post_id, keeper, self.watermark, post.text)
        return post_id, keeper

    def end_batch(self) -> None:
        """Keep the posts anew that copies of the batch renew."""
        for number in sorted(self.copied):
            newest = [kept for kept in self.kept if kept.number == number][-1]
            if self.last_time >= newest.time + self.horizon / 16:
                self.kept.append(Kept(newest.id, newest.text, self.last_time, number))
        self.copied.clear()

    def delete(self, post_id: str | int, *, was_there: bool) -> None:
        """Take a post out, which the window knows or may have forgotten."""
        key = type(post_id), post_id
        answer = self.answers.get(key)
        if not was_there:
            assert answer is None or answer.watermark <= self.watermark - self.horizon
            return
        del self.answers[key]
        if answer.keeper is None:
            last = [kept.number for kept in self.kept if (type(kept.id), kept.id) == key][-1]
            self.kept = [kept for kept in self.kept if kept.number != last]
            self.copied.discard(last)

    def let_come(self, post: Post) -> None:
        """Move the time on, by half a horizon at most."""
        before = self.watermark if self.by_event else self.at_batch
        time = max(self.now, self.at_batch)
        time = min(post.created_at, time) if self.by_event else time
        before = time if before == float("-inf") else before
        self.last_time = time
        self.watermark = max(before, min(time, before + self.horizon / 2))

    def in_window(self) -> list[Kept]:
        """The kept posts that still match."""
        return [post for post in self.kept if post.time > max(self.watermark, self.last_time) - self.horizon]

    def keeper_of(self, text: str) -> str | int | None:
        kept = self.found_for(text)
        return None if kept is None else kept.id

    def found_for(self, text: str) -> Kept | None:
        """The last kept post with the same text, or else the earliest that matches."""
        for post in reversed(self.in_window()):
            if post.text == text:
                return post
        return next((post for post in self.in_window() if matches(post.text, text)), None)


def matches(a: str, b: str) -> bool:
    """Whether two texts that are not equal match under `CONFIG`."""
    if min(len(a), len(b)) <= EXACT_UP_TO:
        return False
    common = (len(a) + len(b) - Indel.distance(a, b)) // 2
    return 2 * common / (len(a) + len(b)) >= THRESHOLD
