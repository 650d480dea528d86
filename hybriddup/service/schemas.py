"""The shapes of requests and answers, from which the OpenAPI schema is made."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hybriddup.service.limits import MAX_MATCHES
from hybriddup.window.posts import MOST_ID_BYTES

PostId = Annotated[
    str | Annotated[int, Field(ge=-(2**63), lt=2**63)],
    Field(description='Text or a whole number of 64 bits; 17 and "17" are two ids.'),
]
NewId = Annotated[
    Annotated[str, Field(max_length=MOST_ID_BYTES, json_schema_extra={"not": {"pattern": "^#[0-9]+$"}})]
    | Annotated[int, Field(ge=-(2**63), lt=2**63)]
    | None,
    Field(
        description=f'Text of at most {MOST_ID_BYTES} bytes, or a whole number of 64 bits; 17 and "17" are two ids. '
        "Left out: the window makes one of the post's position, such as #17, which no post may come with. A post sent "
        "again with the same id gets the same answer again."
    ),
]


class Shape(BaseModel):
    """Base of all shapes."""

    model_config = ConfigDict(extra="allow")


class NewPost(Shape):
    """A post to be decided. Other fields are allowed and not looked at."""

    text: str = Field(description="Its text.")
    id: NewId = None
    created_at: Annotated[
        float | str | None,
        Field(description="Seconds since 1970, or ISO 8601; for event time. By arrival time, it is not looked at."),
    ] = None


class Answer(BaseModel):
    """Base of the shapes of answers, which have no other fields."""

    model_config = ConfigDict(extra="forbid")


class EvidenceOfDuplicate(Answer):
    """Why a post is a duplicate; these fields are there only then."""

    of: PostId | None = Field(None, description="Id of the kept post that it repeats.")
    of_position: int | None = Field(None, description="Position of the kept post.")
    reason: Literal["exact", "near"] | None = Field(None, description="exact: equal after normalizing.")
    hamming_distance: int | None = Field(None, description="Bits in which the fingerprints differ.")
    verifier: str | None = Field(None, description="Name of the verifier that decided; equal for exact repeats.")
    score: float | None = Field(None, description="The pair's score, 1.0 = the same.")
    threshold: float | None = Field(None, description="The score from which on the pair is one post, inclusive.")
    length_band: str | None = Field(None, description="The band of the shorter text, which judges the pair.")


class DecisionAnswer(EvidenceOfDuplicate):
    """What was decided of a post."""

    id: PostId
    position: int = Field(description="Its number in the order of acknowledgement, from 0.")
    decision: Literal["kept", "duplicate"]
    repeated: bool = Field(description="Whether this id was decided before, so that this is the answer given then.")


class StoredPostAnswer(EvidenceOfDuplicate):
    """A post that was acknowledged within the horizon."""

    id: PostId
    position: int
    decision: Literal["kept", "duplicate"]
    time: float = Field(description="Seconds since 1970: when it came, or its created_at.")
    text: str


class MatchRequest(Shape):
    """A text to look for."""

    text: str
    limit: int = Field(10, ge=1, le=MAX_MATCHES, description="Matches at most.")


class MatchAnswer(Answer):
    """A kept post that the text is similar to."""

    id: PostId
    position: int
    text: str
    time: float
    score: float
    threshold: float
    is_match: bool = Field(
        description="Whether the score reaches the threshold, so that the text would be a duplicate."
    )
    hamming_distance: int
    verifier: str
    length_band: str


class MatchesAnswer(Answer):
    """Kept posts that the text is similar to, best first."""

    matches: list[MatchAnswer]


class ExplainRequest(Shape):
    """A text, and the kept post to compare it with."""

    text: str
    id: PostId


class ExplainedTextAnswer(Answer):
    """What the steps made of one text."""

    text: str
    normalized: str
    length: int
    tokens: list[tuple[str, float]] = Field(description="Each token with its weight.")
    fingerprint: str


class ExplanationAnswer(Answer):
    """Every step of the two texts (a: the post, b: the text of the request), and the verdict."""

    a: ExplainedTextAnswer
    b: ExplainedTextAnswer
    matches: bool
    reason: Literal["exact", "near", "different"]
    length_band: str
    hamming_distance: int
    max_hamming_distance: int | None
    block_index: str
    keys_in_common: int | None
    n_keys: int | None
    numbers_match: bool
    verifier: str | None
    score: float | None
    threshold: float | None
    verdict: str = Field(description="One sentence.")


class SlotAnswer(Answer):
    """New decisions within one slot of time."""

    start: int = Field(description="Seconds since 1970.")
    kept: int
    exact: int
    near: int


class HistoryAnswer(Answer):
    """New decisions of the last half hour; slots without any are left out."""

    seconds_a_slot: int
    n_slots: int
    slots: list[SlotAnswer]


class AuditAnswer(Answer):
    """Posts sampled to audit the live index, exact repeats left out."""

    n_compared: int = Field(description="Those of which it is known whether they are near duplicates.")
    n_found: int = Field(description="Those of them that were decided to be near duplicates.")
    n_missed: int = Field(description="Those that were kept and match an earlier kept post.")
    n_skipped: int = Field(description="Those that came while others were compared, or could not be compared.")


class StatsAnswer(Answer):
    """Counts of the window, since the service was started unless said otherwise."""

    n_kept_in_window: int = Field(description="Kept posts that may still match.")
    n_posts: int
    n_kept: int
    n_exact: int
    n_near: int
    n_repeated_ids: int
    n_late: int
    n_expired: int
    watermark: float | None
    index_bytes: int
    store_bytes: int
    index: str
    limits_hit: dict[str, int]
    by_band: dict[str, dict[str, int]]
    seconds: dict[str, float]
    estimated_recall: float | None = Field(
        description="Share of near duplicates found, by comparing one post in a thousand with every kept one; null "
        "as long as no duplicate was among them."
    )
    recall_interval: tuple[float, float] | None = Field(description="The 95 % interval of the estimate.")
    audit: AuditAnswer
    recipe_id: str
    n_waiting: int = Field(description="Posts that wait or are being decided.")
    history: HistoryAnswer


class StatusAnswer(Answer):
    """How the service is."""

    status: str


class ProblemAnswer(Answer):
    """Why a request was not done."""

    error: str = Field(description="The kind of error.")
    message: str = Field(description="What happened.")
    allowed: str = Field(description="What is allowed, or what to do.")
