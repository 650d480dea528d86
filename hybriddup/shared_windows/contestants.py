"""State of a batch while the protocol decides it: open posts, leading posts, and which posts hold the ids and texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.shared_windows.packing import id_name
from hybriddup.shared_windows.store import Entries, Holder, Keyed, PostRecord, State, Taken
from hybriddup.window.records import Evidence, PostId


class Contestants(ABC):
    """Posts that are decided together. A *place* is the index of a post among them.

    A post is *open* until it is decided, or another post turns out to have its id. The store names one
    holder of each text, the post that claimed it first. An open post *leads* if it is the holder of its text; the other
    open posts *follow* the holders of their texts.
    """

    def __init__(self, ids: Sequence[PostId | None]) -> None:
        self._ids = ids
        self.open = dict.fromkeys(range(len(ids)))
        """Indices of the open posts, ascending: undecided posts whose ids no other post has."""
        self.leading: set[int] = set()
        """Indices of the open posts that were the first to claim their texts in the store."""
        self.entered: set[int] = set()
        """Indices of the posts whose latest positions were added to their buckets."""
        self.position: dict[int, int] = {}
        """Latest position of each post, by index."""
        self.decided: dict[int, Evidence | None] = {}
        """Maps the index of each decided post to the evidence that it is a duplicate, or to None if it is kept."""
        self.answers: dict[int, PostRecord] = {}
        """For posts with a repeated id, by index: the record of the earlier post with this id, used as the answer."""
        self._id_holder: dict[int, int] = {}
        """For posts whose id another post has, by index: the position of that other post."""
        self._instead_of: dict[int, int] = {}
        """For posts that may claim their id from another position, by index: that position.

        It belongs to a post that is forgotten or has `State.GONE`, or to an earlier attempt for the same post.
        """
        self._text_holder: dict[bytes, int] = {}
        """Position of the post that was last known to hold a text, by the text's name in the store."""
        self._replaceable: dict[bytes, int] = {}
        """Maps the name of each text that a post of this batch may take over to the position of the text's holder."""

    # ---- ids

    def begin(self, taken: Taken) -> dict[int, bytes]:
        """Assign the positions ``taken`` to the open (undecided) posts.

        Return, by index of the post, the encoded id of each open post that was sent with an id.
        """
        self.entered.clear()
        self.position |= {place: taken.first + row for row, place in enumerate(self.open)}
        return {place: id_name(post_id) for place in self.open if (post_id := self._ids[place]) is not None}

    def note_ids(self, holders: Mapping[int, int | None]) -> None:
        """Record which position holds the id of each post; a post is no longer open if another post has its id.

        ``holders`` maps the index of each post to this position, None = no post has the id.
        """
        for place, holder in holders.items():
            if holder == self.position[place]:
                self._instead_of[place] = holder  # in case the post restarts
            elif holder is not None and holder != self._instead_of.get(place):
                self._id_holder[place] = holder
                del self.open[place]

    def repeated(self) -> Mapping[int, int]:
        """Return, for each post with a repeated id and no answer yet, the position of the other post with this id.

        The result maps the index of the post to this position.
        """
        return {place: holder for place, holder in self._id_holder.items() if place not in self.answers}

    def reopen(self, place: int) -> None:
        """Make the post at index ``place`` open (undecided) again, so that it can claim its id from another post.

        The other post was given up, was deleted, or is too old.
        """
        self._instead_of[place] = self._id_holder.pop(place)
        self.open = dict.fromkeys(sorted([*self.open, place]))

    def id_claims(self) -> dict[int, Holder]:
        """Return the claims of the open (undecided) posts to their ids, by index of the post."""
        return {
            place: Holder(id_name(post_id), self.position[place], self._instead_of.get(place))
            for place in self.open
            if (post_id := self._ids[place]) is not None
        }

    # ---- texts

    def text_claims(self, places: Iterable[int]) -> dict[int, Holder]:
        """Return a claim for each distinct text of the posts, by index of the first post with the text."""
        claims: dict[bytes, tuple[int, Holder]] = {}
        for place in sorted(places):
            name = self.text_name(place)
            if name not in claims:
                claims[name] = place, Holder(name, self.position[place], self._replaceable.get(name))
        return dict(claims.values())

    def note_texts(self, claims: Mapping[int, Holder], holders: Iterable[int]) -> None:
        """Record which post holds each claimed text. Open (undecided) posts that hold their texts become leading.

        ``claims`` maps the index of each claiming post to its claim. ``holders`` has, in the same order, the position
        that holds each text after the claim. Leading posts are the posts that are decided next.
        """
        for (place, claim), holder in zip(claims.items(), holders, strict=True):
            self._text_holder[claim.name] = holder
            if holder == claim.position and place in self.open:
                self.leading.add(place)
                self._replaceable[claim.name] = holder  # in case the post restarts
            else:
                self._replaceable.pop(claim.name, None)

    def following(self) -> dict[int, int]:
        """For each undecided post whose text another post claimed first, return the position of that other post.

        The result maps the index of the undecided post to this position. Posts are left out if the other post is an
        undecided post of the same batch.
        """
        if len(self.leading) == len(self.open):
            return {}
        leading = {self.position[place] for place in self.leading}
        holders = {place: self._text_holder[self.text_name(place)] for place in self.open if place not in self.leading}
        return {place: holder for place, holder in holders.items() if holder not in leading}

    def replace_holders(self, places: Iterable[int]) -> dict[int, Holder]:
        """Return claims that take over the texts of posts from holders that these posts do not repeat (too old, gone).

        ``places`` are the indices of the posts. There is one claim for each distinct text, by index of its first post.
        """
        places = list(places)
        names = map(self.text_name, places)
        self._replaceable |= {name: self._text_holder[name] for name in names}
        return self.text_claims(places)

    # ---- verdicts

    def settle(self, place: int, evidence: Evidence | None) -> None:
        """Record that the post at index ``place`` is kept if ``evidence`` is None, and is a duplicate otherwise."""
        self.decided[place] = evidence
        del self.open[place]
        if place in self.leading:
            self.leading.remove(place)
            self._replaceable.pop(self.text_name(place), None)

    def keeps(self, place: int) -> bool:
        """Return whether a post is decided and kept."""
        return place in self.decided and self.decided[place] is None

    # ---- implemented by the window's batch

    @abstractmethod
    def records(self, taken: Taken) -> list[PostRecord]:
        """Prepare the texts of the open (undecided) posts, at the positions from `begin`, and return their records."""

    @abstractmethod
    def text_name(self, place: int) -> bytes:
        """Return the name under which the prepared post at index ``place`` claims its text in the store."""

    @abstractmethod
    def keyed(self) -> Keyed:
        """Return the bucket entries and block keys of the leading posts, which are being decided."""

    @abstractmethod
    def probes(self) -> UInt64s:
        """Return uint64[n]: the distinct keys that the leading posts, which are being decided, look up."""

    @abstractmethod
    def candidates(self, found: Entries) -> Int64s:
        """Return int64[n]: the positions of posts in the buckets ``found`` that may match a leading post.

        Leading posts are the posts of this batch that are being decided.
        """

    @abstractmethod
    def rivals(self, positions: Int64s, records: Sequence[PostRecord | None]) -> Mapping[int, State]:
        """Record the candidates at ``positions``; return the states of all rivals recorded so far, by position.

        A rival is an undecided candidate that matches one of the leading posts.
        """

    @abstractmethod
    def verdicts(self) -> dict[int, Evidence | None]:
        """Decide the leading posts against the kept candidates and each other, without writing the decisions.

        Return, by index of the post, the evidence that a post is a duplicate; None = the post is kept. Verdicts are
        final only once they are written: another process may change a post's state first.
        """

    @abstractmethod
    def repeats(self, place: int, holder: PostRecord, keeper: PostRecord | None) -> Evidence | None:
        """Return the evidence that the post at index ``place`` repeats ``holder`` or ``keeper``; None if it does not.

        ``holder`` is a decided post with the same text. If ``holder`` is a duplicate, ``keeper`` is the post that it
        repeats; if ``holder`` is kept, ``keeper`` is None.
        """

    @abstractmethod
    def is_forgotten(self, record: PostRecord) -> bool:
        """Return whether a post is too old for the window."""
