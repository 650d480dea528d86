"""The posts of a batch while the protocol decides them: which are open, which lead, and who holds their names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.shared_windows.packing import id_name
from hybriddup.shared_windows.store import Entries, Holder, Keyed, PostRecord, State, Taken
from hybriddup.window.records import Evidence, PostId


class Contestants(ABC):
    """Posts that are decided together, by place. A post is *open* until it is decided, or another one has its id."""

    def __init__(self, ids: Sequence[PostId | None]) -> None:
        self._ids = ids
        self.open = dict.fromkeys(range(len(ids)))
        """The places of the open posts, rising."""
        self.leading: set[int] = set()
        """The places of the open posts that hold their texts."""
        self.entered: set[int] = set()
        """The places of posts that entered their buckets, at the positions that were given last."""
        self.position: dict[int, int] = {}
        """The position that each post was given last, by place."""
        self.decided: dict[int, Evidence | None] = {}
        """The verdicts on posts, by place."""
        self.answers: dict[int, PostRecord] = {}
        """The records that answer posts whose ids were decided before, by place."""
        self._id_holder: dict[int, int] = {}
        """By place, the position of the other post that has the id."""
        self._instead_of: dict[int, int] = {}
        """By place, the position of the holder of the id that is gone or forgotten."""
        self._text_holder: dict[bytes, int] = {}
        """By text, the position of the post that held it last."""
        self._replaceable: dict[bytes, int] = {}
        """By text, the position of a holder that a post of this batch may replace."""

    # ---- ids

    def begin(self, taken: Taken) -> dict[int, bytes]:
        """Give the open posts these positions; return the names of their ids, by place."""
        self.entered.clear()
        self.position |= {place: taken.first + row for row, place in enumerate(self.open)}
        return {place: id_name(post_id) for place in self.open if (post_id := self._ids[place]) is not None}

    def note_ids(self, holders: Mapping[int, int | None]) -> None:
        """Note the holders of ids, by place: a post whose id another post has is not open any more."""
        for place, holder in holders.items():
            if holder == self.position[place]:
                self._instead_of[place] = holder  # in case the post begins anew
            elif holder is not None and holder != self._instead_of.get(place):
                self._id_holder[place] = holder
                del self.open[place]

    def repeated(self) -> Mapping[int, int]:
        """Return the positions of the holders of ids, by place, for the posts without an answer."""
        return {place: holder for place, holder in self._id_holder.items() if place not in self.answers}

    def reopen(self, place: int) -> None:
        """Open a post whose id is held by one that is gone or forgotten."""
        self._instead_of[place] = self._id_holder.pop(place)
        self.open = dict.fromkeys(sorted([*self.open, place]))

    def id_claims(self) -> dict[int, Holder]:
        """Return the claims of the open posts to their ids, by place."""
        return {
            place: Holder(id_name(post_id), self.position[place], self._instead_of.get(place))
            for place in self.open
            if (post_id := self._ids[place]) is not None
        }

    # ---- texts

    def text_claims(self, places: Iterable[int]) -> dict[int, Holder]:
        """Return the claims to the texts of posts, by place: one for each text, by the first post that has it."""
        claims: dict[bytes, tuple[int, Holder]] = {}
        for place in sorted(places):
            name = self.text_name(place)
            if name not in claims:
                claims[name] = place, Holder(name, self.position[place], self._replaceable.get(name))
        return dict(claims.values())

    def note_texts(self, claims: Mapping[int, Holder], holders: Iterable[int]) -> None:
        """Note the holders of the texts that were claimed: a post that holds its text leads."""
        for (place, claim), holder in zip(claims.items(), holders, strict=True):
            self._text_holder[claim.name] = holder
            if holder == claim.position and place in self.open:
                self.leading.add(place)
                self._replaceable[claim.name] = holder  # in case the post begins anew
            else:
                self._replaceable.pop(claim.name, None)

    def following(self) -> dict[int, int]:
        """Return the positions of the holders of their texts, by place, for the open posts that follow one.

        Those that follow a leading post of this batch come later, when it is decided.
        """
        if len(self.leading) == len(self.open):
            return {}
        leading = {self.position[place] for place in self.leading}
        holders = {place: self._text_holder[self.text_name(place)] for place in self.open if place not in self.leading}
        return {place: holder for place, holder in holders.items() if holder not in leading}

    def replace_holders(self, places: Iterable[int]) -> dict[int, Holder]:
        """Return the claims to the texts of posts that follow a holder that is gone or too old."""
        places = list(places)
        names = map(self.text_name, places)
        self._replaceable |= {name: self._text_holder[name] for name in names}
        return self.text_claims(places)

    # ---- verdicts

    def settle(self, place: int, evidence: Evidence | None) -> None:
        """Note that a post is decided: it is a duplicate for this reason, or kept."""
        self.decided[place] = evidence
        del self.open[place]
        if place in self.leading:
            self.leading.remove(place)
            self._replaceable.pop(self.text_name(place), None)

    def keeps(self, place: int) -> bool:
        """Return whether a post is decided and kept."""
        return place in self.decided and self.decided[place] is None

    # ---- what a window brings

    @abstractmethod
    def records(self, taken: Taken) -> list[PostRecord]:
        """Return the records of the open posts, which have positions now, and prepare their texts."""

    @abstractmethod
    def text_name(self, place: int) -> bytes:
        """Return the name of the text of a post that was prepared."""

    @abstractmethod
    def keyed(self) -> Keyed:
        """Return the leading posts with their keys."""

    @abstractmethod
    def probes(self) -> UInt64s:
        """Return uint64[n]: the distinct keys by which the leading posts look for others."""

    @abstractmethod
    def candidates(self, found: Entries) -> Int64s:
        """Return int64[n]: the positions of other posts that may match those that lead."""

    @abstractmethod
    def rivals(self, positions: Int64s, records: Sequence[PostRecord | None]) -> Mapping[int, State]:
        """Note candidates; return the undecided ones of all, by position, that match one that leads."""

    @abstractmethod
    def verdicts(self) -> dict[int, Evidence | None]:
        """Return the verdicts on the leading posts, by place, unless somebody else changes them first.

        They are decided against the kept candidates and against each other. None = the post is kept.
        """

    @abstractmethod
    def repeats(self, place: int, holder: PostRecord, keeper: PostRecord | None) -> Evidence | None:
        """Return why a post repeats the decided holder of its text, or what that repeats; None if it does not.

        ``keeper`` is the post that the holder is a duplicate of; None if the holder is kept.
        """

    @abstractmethod
    def is_forgotten(self, record: PostRecord) -> bool:
        """Return whether a post is older than the window reaches."""
