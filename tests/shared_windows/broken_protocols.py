"""The protocol of shared windows without one of its rules: as other posts, or with calls and answers exchanged."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

from hybriddup.data.records import Int64s
from hybriddup.shared_windows import protocol
from hybriddup.shared_windows.protocol import Call, Steps, Wait, call, nothing_of
from hybriddup.shared_windows.store import UNDECIDED, Holder, PostRecord, State
from hybriddup.window.records import Evidence
from tests.shared_windows.toy_posts import ToyBatch

Exchange = Generator[Call | Wait, Any, Any]


class NeverChallenges(ToyBatch):
    """Posts that leave later ones alone."""

    def rivals(self, positions: Int64s, records: Sequence[PostRecord | None]) -> Mapping[int, State]:
        first = min(self.position[place] for place in self.leading)
        return {one: state for one, state in super().rivals(positions, records).items() if one < first}


class NeverWaits(ToyBatch):
    """Posts that take no notice of earlier ones."""

    def rivals(self, positions: Int64s, records: Sequence[PostRecord | None]) -> Mapping[int, State]:
        first = min(self.position[place] for place in self.leading)
        return {one: state for one, state in super().rivals(positions, records).items() if one > first}


class LeadsWithoutHolding(ToyBatch):
    """Posts that lead as soon as they claim a text."""

    def note_texts(self, claims: Mapping[int, Holder], holders: Iterable[int]) -> None:  # noqa: ARG002
        super().note_texts(claims, [claim.position for claim in claims.values()])


class ReplacesItsKeptPost(ToyBatch):
    """Posts that claim the text of a kept one of their batch when they begin anew."""

    def settle(self, place: int, evidence: Evidence | None) -> None:
        leads = place in self.leading
        super().settle(place, evidence)
        if leads:
            self._replaceable[self.text_name(place)] = self.position[place]


class RepeatsWhatIsGone(ToyBatch):
    """Posts that repeat what the holder of their text repeats, without a look at it."""

    def repeats(self, place: int, holder: PostRecord, keeper: PostRecord | None) -> Evidence | None:
        return holder.post.evidence or super().repeats(place, holder, keeper)


def altered(exchange: Callable[[ToyBatch, Call, dict[str, Any]], Exchange]) -> Callable[[ToyBatch], Steps]:
    """Return the protocol with other calls or answers.

    ``exchange`` is given the posts, a call and what it noted before; it makes the call, and returns the answer.
    """

    def decide(posts: ToyBatch) -> Steps:
        steps, answer, noted = protocol.decide(posts), None, dict[str, Any]()
        while True:
            try:
                asked = steps.send(answer)
            except StopIteration:
                return
            if isinstance(asked, Wait):
                answer = yield asked
            else:
                answer = yield from exchange(posts, asked, noted)

    return decide


def looks_once(posts: ToyBatch, asked: Call, noted: dict[str, Any]) -> Exchange:
    """A challenged post does not look again."""
    if asked.method == "enter" and "found" in noted:
        return noted["found"]
    answer = yield asked
    if asked.method == "enter":
        noted["found"] = answer
    return answer


def keeps_from(states: Iterable[State]) -> Callable[[ToyBatch, Call, dict[str, Any]], Exchange]:
    """A post is kept from other states than pending, too."""

    def exchange(posts: ToyBatch, asked: Call, noted: dict[str, Any]) -> Exchange:
        if asked.method == "change":
            changes = [
                one._replace(expected=frozenset(states)) if one.to is State.KEPT else one for one in asked.arguments[0]
            ]
            asked = call("change", changes)
        return (yield asked)

    return exchange


def reads_before_entering(posts: ToyBatch, asked: Call, noted: dict[str, Any]) -> Exchange:
    """Leading posts read their buckets, and then enter them."""
    if asked.method != "enter":
        return (yield asked)
    texts, keys = asked.arguments
    answer = yield call("enter", nothing_of(texts), keys)
    yield call("enter", texts, keys[:0])
    return answer


def enters_with_its_first_text_only(posts: ToyBatch, asked: Call, noted: dict[str, Any]) -> Exchange:
    """A post that takes a text over enters no bucket."""
    if asked.method == "hold":
        noted["has_taken_over"] = True
    if asked.method == "enter" and "has_taken_over" in noted:
        texts, keys = asked.arguments
        asked = call("enter", nothing_of(texts), keys)
    return (yield asked)


def sees_as_gone(whose: Callable[[ToyBatch], Iterable[int]]) -> Callable[[ToyBatch, Call, dict[str, Any]], Exchange]:
    """Undecided holders of some names pass for posts that are gone."""

    def exchange(posts: ToyBatch, asked: Call, noted: dict[str, Any]) -> Exchange:
        answer = yield asked
        if asked.method == "records" and set(asked.arguments[0].tolist()) <= set(whose(posts)):
            return [one._replace(state=State.GONE) if one.state in UNDECIDED else one for one in answer]
        return answer

    return exchange


def keeps_the_text_of_an_id_it_lost(posts: ToyBatch, asked: Call, noted: dict[str, Any]) -> Exchange:
    """A post that lost its id, and has got its text, is not given up."""
    if asked.method == "change":
        left = {posts.position[place] for place in posts.open}
        asked = call("change", [one for one in asked.arguments[0] if one.to is not State.GONE or one.position in left])
    return (yield asked)


def reads_keepers_with_their_duplicates(posts: ToyBatch, asked: Call, noted: dict[str, Any]) -> Exchange:
    """What was read of a post that holds a text counts when it is the keeper of another holder."""
    answer = yield asked
    if asked.method == "records":
        positions = asked.arguments[0].tolist()
        answer = [noted.get(one, record) for one, record in zip(positions, answer, strict=True)]
        noted.clear()
        if set(positions) <= set(posts.following().values()):
            noted.update(zip(positions, answer, strict=True))
    return answer


def settles_all_at_once(posts: ToyBatch, asked: Call, noted: dict[str, Any]) -> Exchange:
    """Duplicates are written together with the posts of their batch that they name."""
    if asked.method == "change" and any(one.to is State.KEPT for one in asked.arguments[0]):
        verdicts = posts.verdicts()
        written = [protocol.change_of(posts.position[place], one) for place, one in verdicts.items()]
        states = dict(zip((one.position for one in written), (yield call("change", written)), strict=True))
        return [states[one.position] for one in asked.arguments[0]]
    return (yield asked)
