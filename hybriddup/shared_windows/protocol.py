"""The protocol of a shared window: processes agree on decisions with a store that is atomic for single items only.

1. A batch takes positions, and looks up its ids: a post whose id is taken gets the answer of the earlier post with this
   id. The other posts are written as *pending* records, and claim their ids.
2. The first post with a text also claims the text, by compare-and-set. If the claim succeeds, the post *holds* the
   text, and *leads*. All other posts with the text *follow* the holder: they are not added to any bucket.
3. A post that follows a kept post is a duplicate of it. A post that follows a duplicate is a duplicate of the same kept
   post. If the holder is gone or too old, the first of its followers takes over the text, and leads.
4. Leading posts are added to their buckets, and only then read them. So of two posts with a key in common, the post
   that was added last sees the other.
5. A kept match makes a post a duplicate.
6. A batch waits for an undecided match of an earlier batch. If the match is still undecided after a lease, it is
   *given up*: its record changes from undecided to gone. Batches wait only for earlier batches, so never in a cycle.
7. A pending match of a later batch is *challenged*: its record changes from pending to challenged, since it may not
   have seen the earlier post. If the match is kept already, step 5 applies.
8. A leading post without remaining matches is kept: its record changes from pending to kept. If it was challenged
   meanwhile, it becomes pending again, reads its buckets again, and continues at 5. If it was given up, it restarts
   at 1. A batch also restarts if one of its posts was given up before it was written.
9. When no post leads any more, the followers wait for the holders of their texts, and continue at 3.

Safety: of two posts with the same text, one holds the text and the other follows, so at most one is kept, whatever the
buckets contain. Of two near matches, one sees the other. If the later post sees the earlier, it waits for the earlier.
If only the earlier post sees the later, it challenges the later, which either is kept already, or must read its buckets
again and then sees the earlier. So at most one is kept. A post is written as a duplicate only after the post that it
repeats is finally kept.

Liveness: there is no cycle of waiting. Repeated ids wait for leaders or followers, followers wait for leaders, and
leaders wait for earlier leaders. No clocks are compared: the waiting process measures the lease.

The protocol is a generator that yields its store calls, so the tests can run this very code on a small store, with
processes interleaved and killed at every point.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hybriddup.shared_windows.contestants import Contestants
from hybriddup.shared_windows.store import UNDECIDED, Change, Entries, Keyed, PostRecord, State, Taken
from hybriddup.window.records import Evidence


class Call(NamedTuple):
    """A call of a method of `hybriddup.shared_windows.store.SharedStore`; the result is sent into the generator."""

    method: str
    arguments: tuple[Any, ...]


class Wait(NamedTuple):
    """A pause, after which the generator is sent the positions of posts that were undecided for more than a lease."""

    positions: tuple[int, ...]


Steps = Generator[Call | Wait, Any, None]
States = dict[int, State]
"""States of posts, by index in the batch."""
PENDING = frozenset({State.PENDING})


def call(method: str, *arguments: Any) -> Call:
    """Return a call of a store method."""
    return Call(method, arguments)


def decide(posts: Contestants) -> Steps:
    """Decide all posts: each is kept, is a duplicate, or gets the answer of an earlier post with the same id."""
    while posts.open or posts.repeated():
        if posts.open:
            yield from announce(posts)
        else:
            yield from answer_repeated(posts)


def announce(posts: Contestants) -> Steps:
    """Reserve positions, write the open (undecided) posts as pending records, and decide them.

    If another process gives one of these posts up (sets its state to `State.GONE`), this stops, and the posts that are
    undecided by then stay open.
    """
    taken: Taken = yield call("take", len(posts.open))
    if names := posts.begin(taken):
        posts.note_ids(dict(zip(names, (yield call("positions_of", list(names.values()))), strict=True)))
    if not posts.open:
        return
    records, ids, texts = posts.records(taken), posts.id_claims(), posts.text_claims(posts.open)
    held = yield call("announce", records, [*ids.values(), *texts.values()])
    if not held:  # the batch was so slow that others gave it up
        return
    posts.note_ids(dict(zip(ids, held, strict=False)))
    posts.note_texts(texts, held[len(ids) :])
    yield from give_up([posts.position[place] for place in ids if place not in posts.open])
    yield from decide_announced(posts)


def decide_announced(posts: Contestants) -> Steps:
    """Decide the open (undecided) posts.

    If another process sets the state of one of them to `State.GONE`, this process does so with the others that are
    still open, and returns; `decide` then starts again with these posts. The leading posts, each the first with its
    text, are decided together; a post that takes over its text from an earlier post joins them.
    """
    while posts.open:
        states: States = yield from follow(posts)
        if posts.leading and State.GONE not in states.values():
            states = yield from contest(posts)
        if State.GONE in states.values():
            posts.leading.clear()
            yield from give_up([posts.position[place] for place in posts.open])
            return


def give_up(positions: Iterable[int]) -> Steps:
    """Set the state of each post at ``positions`` that is still undecided to `State.GONE`."""
    if changes := [Change(one, UNDECIDED, State.GONE) for one in positions]:
        yield call("change", changes)


def contest(posts: Contestants) -> Generator[Call | Wait, Any, States]:
    """Add the leading posts, the first ones with their texts, to their buckets, and decide them.

    If another process gives one of them up (sets its state to `State.GONE`), stop, and return the states of the posts
    that stay undecided because another process changed their states; else return an empty dict.
    """
    first = min(posts.position[place] for place in posts.leading)
    posts.entered |= posts.leading
    found: Entries = yield call("enter", posts.keyed(), posts.probes())
    while True:
        states = yield from heed_rivals(posts, found, first)
        if not posts.leading or State.GONE in states.values():
            return states
        # reset to pending before reading again, so that no challenge is missed
        challenged = [posts.position[place] for place, state in states.items() if state is State.CHALLENGED]
        yield call("change", [Change(one, frozenset({State.CHALLENGED}), State.PENDING) for one in challenged])
        found = yield call("enter", nothing_of(posts.keyed()), posts.probes())


def heed_rivals(posts: Contestants, found: Entries, first: int) -> Generator[Call | Wait, Any, States]:
    """Wait for earlier rivals, challenge later rivals, then decide the leading posts.

    A leading post is a post of this batch that was the first to claim its text; ``first`` is the smallest position of
    the leading posts. A rival is an undecided post in the buckets ``found`` that matches a leading post: an earlier
    rival has a position below ``first``, a later rival above. A challenge sets the state of a pending rival to
    `State.CHALLENGED`, so that its process must read its buckets again before it keeps the rival.

    Return the states of the leading posts that stay undecided because another process changed their states.
    """
    positions = posts.candidates(found)
    while True:
        records = yield call("records", positions)
        rivals = posts.rivals(positions, records)
        is_open = [one is not None and one.state in UNDECIDED for one in records]
        positions = positions[is_open]  # other states are final
        pending = [one for one, state in rivals.items() if one > first and state is State.PENDING]
        if pending:
            challenges = [Change(one, PENDING, State.CHALLENGED) for one in pending]
            if any(state is State.KEPT for state in (yield call("change", challenges))):
                continue
        awaited = tuple(one for one in rivals if one < first)
        if not awaited:
            return (yield from settle_leading(posts))
        yield from wait_for(awaited)


def wait_for(positions: Iterable[int]) -> Steps:
    """Pause, then give up (see `give_up`) each post at ``positions`` that was undecided for longer than a lease."""
    lapsed: Sequence[int] = yield Wait(tuple(positions))
    yield from give_up(lapsed)


def settle_leading(posts: Contestants) -> Generator[Call | Wait, Any, States]:
    """Write the verdicts on the leading posts; return the states of posts that another process changed first.

    The leading posts are the first ones with their texts. If one repeats another, it is written as a duplicate only
    after the other is written as kept.
    """
    verdicts = posts.verdicts()
    own = {posts.position[place]: place for place in verdicts}
    later = {place: own[one.of_position] for place, one in verdicts.items()
             if one is not None and one.of_position in own}  # fmt: skip
    states = yield from settle(posts, {place: one for place, one in verdicts.items() if place not in later})
    due = {place: verdicts[place] for place, keeper in later.items() if posts.keeps(keeper)}
    return states | (yield from settle(posts, due))


def settle(posts: Contestants, verdicts: Mapping[int, Evidence | None]) -> Generator[Call | Wait, Any, States]:
    """Write verdicts, by index of the post; return the states of posts that another process changed first."""
    if not verdicts:
        return {}
    changes = [change_of(posts.position[place], evidence) for place, evidence in verdicts.items()]
    states = dict(zip(verdicts, (yield call("change", changes)), strict=True))
    for place, evidence in verdicts.items():
        if states[place] is (State.KEPT if evidence is None else State.DUPLICATE):
            posts.settle(place, evidence)
    return {place: state for place, state in states.items() if place in posts.open}


def change_of(position: int, evidence: Evidence | None) -> Change:
    """Return the change that writes a verdict, None = kept; a post in `State.CHALLENGED` cannot become kept."""
    if evidence is None:
        return Change(position, PENDING, State.KEPT)
    return Change(position, UNDECIDED, State.DUPLICATE, evidence)


def nothing_of(texts: Keyed) -> Keyed:
    """Return a `Keyed` without posts, with the same number of keys per post as ``texts``."""
    return Keyed(texts.entries[:0], texts.keys[:0])


def follow(posts: Contestants) -> Generator[Call | Wait, Any, States]:
    """Decide the followers: posts whose text another post, the holder of the text, has claimed first.

    Once its holder is decided, a follower is a duplicate, or takes over the text. While all holders are undecided, wait
    for them.

    Return the states of posts that another process changed first.
    """
    holders = posts.following()
    found = yield from records_at(sorted(set(holders.values())))
    keepers = {one.post.evidence.of_position for one in found.values() if one is not None and one.post.evidence}
    found |= yield from records_at(sorted(keepers))  # read after the holders, so that a keeper's state is not older
    awaited, verdicts, left = set[int](), dict[int, Evidence | None](), list[int]()
    for place, position in holders.items():
        holder = found[position]
        if holder is not None and holder.state in UNDECIDED:
            awaited.add(position)
        elif (evidence := why_repeated(posts, place, holder, found)) is not None:
            verdicts[place] = evidence
        else:
            left.append(place)
    states = yield from settle(posts, verdicts)
    if claims := posts.replace_holders(left):
        posts.note_texts(claims, (yield call("hold", list(claims.values()))))
    elif awaited and not verdicts and not posts.leading:
        yield from wait_for(sorted(awaited))
    return states


def why_repeated(
    posts: Contestants, place: int, holder: PostRecord | None, found: Mapping[int, PostRecord | None]
) -> Evidence | None:
    """Return the evidence that the post at index ``place`` is a duplicate; None if it is not.

    ``holder`` is the record of the post that claimed the text first. The post can repeat ``holder`` or, if ``holder``
    is a duplicate, the kept post that ``holder`` repeats; ``found`` has the record of this kept post by its position.
    The post repeats nothing if ``holder`` is None or has `State.GONE`.
    """
    if holder is None or holder.state is State.GONE:
        return None
    keeper = found[holder.post.evidence.of_position] if holder.post.evidence else None
    return posts.repeats(place, holder, keeper)


def records_at(positions: Sequence[int]) -> Generator[Call | Wait, Any, dict[int, PostRecord | None]]:
    """Return the records at ``positions``, by position; None if there is none."""
    if not positions:
        return {}
    return dict(zip(positions, (yield call("records", np.array(positions, np.int64))), strict=True))


def answer_repeated(posts: Contestants) -> Steps:
    """Give posts with repeated ids the answers of the decided posts with these ids, and wait for undecided ones.

    A post becomes open (undecided) again if the other post with its id was given up, deleted, or is forgotten.
    """
    repeated = posts.repeated()
    found = yield from records_at(sorted(set(repeated.values())))
    awaited = set()
    for place, position in repeated.items():
        record = found[position]
        if record is None or record.state is State.GONE or posts.is_forgotten(record):
            posts.reopen(place)
        elif record.state in UNDECIDED:
            awaited.add(position)
        else:
            posts.answers[place] = record
    if awaited:
        yield from wait_for(sorted(awaited))
