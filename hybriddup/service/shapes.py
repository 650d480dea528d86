"""Pydantic models of requests and answers, from which the OpenAPI schema is generated. They validate only requests.

Posts are validated by `hybriddup.window.sent_posts`, as everywhere. Answers are built from the window's own types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from hybriddup.service.latest import History
from hybriddup.service.limits import MAX_MATCHES
from hybriddup.service.problems import RequestError
from hybriddup.steps.options import quote
from hybriddup.study.explanation import Explanation
from hybriddup.window import Match, WindowStats
from hybriddup.window.records import MOST_ID_BYTES, Evidence

Number = Annotated[int, Field(ge=-(2**63), lt=2**63)]
PostId = Annotated[str | Number, Field(description='Text or a whole number of 64 bits; 17 and "17" are two ids.')]
NewId = Annotated[str, Field(max_length=MOST_ID_BYTES, json_schema_extra={"not": {"pattern": "^#[0-9]+$"}})]


class Request(BaseModel):
    """Base class of request bodies. Fields that a model does not define are allowed and ignored."""

    model_config = ConfigDict(strict=True, extra="allow", use_attribute_docstrings=True)


class NewPost(Request):
    """A post to be decided. Other fields are allowed and ignored, except for the one that --authors names."""

    text: str
    """Text of the post."""
    id: NewId | Number | None = None
    """Text of at most 512 bytes, or a whole number of 64 bits; 17 and "17" are two ids. Without an id, the post gets
    one from its position, such as #17; clients may not send ids of this form. A post sent again with the same id gets
    the same answer again, unless the configuration has on_same_id: replace."""
    created_at: float | str | None = None
    """Seconds or milliseconds since 1970, ISO 8601, or a date such as "Wed Jan 07 13:00:00 +0800 2026". A number above
    253402300799 is milliseconds. Used only with event time, and ignored with arrival time."""


class MatchRequest(Request):
    """A text to compare with the kept posts of the window."""

    text: str
    limit: int = Field(10, ge=1, le=MAX_MATCHES)
    """Maximum number of matches."""


class ExplainRequest(Request):
    """A text, and the kept post to compare it with."""

    text: str
    id: PostId


class Answer(BaseModel):
    """Base class of answer bodies. An answer has only the fields that its model defines."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


EVIDENCE: dict[str, Any] = {name: (kind | None, None) for name, kind in get_type_hints(Evidence).items()}
"""The fields of `Evidence`, as optional fields, because only duplicates have them."""


class Decided(Answer):
    """A post and its decision. Only duplicates have the fields of evidence, from ``duplicate_of`` on."""

    id: PostId
    position: int
    """Zero-based number of the post in the order of the decisions."""
    decision: Literal["kept", "duplicate"]


class StoredPostFields(Decided):
    """A post of the window."""

    time: float
    """Arrival time, or, if the window runs on event time, ``created_at``; in seconds since 1970."""
    text: str
    n_copies: int | None = None
    """Number of posts that were removed as duplicates of this one; only for kept posts, with --counts."""
    first_seen: float | None = None
    """Earliest time of this post and its copies, in seconds since 1970; only for kept posts, with --counts."""
    last_seen: float | None = None
    """Latest time of this post and its copies, in seconds since 1970; only for kept posts, with --counts."""
    authors: list[PostId] | None = None
    """Distinct authors of this post and its copies; left out if the service was started without --authors."""


DecisionAnswer = create_model(
    "DecisionAnswer",
    __base__=Decided,
    repeated=Annotated[
        bool, Field(description="Whether this id was decided before; if so, this is the earlier answer.")
    ],
    **EVIDENCE,
)
StoredPostAnswer = create_model("StoredPostAnswer", __base__=StoredPostFields, **EVIDENCE)


OF_TEXT: dict[str, Any] = {
    "of_text": (
        str | None,
        Field(None, description="Text of the kept post that this one repeats; left out after that post expired."),
    )
}
LatestDecisionAnswer = create_model("LatestDecisionAnswer", __base__=StoredPostAnswer, **OF_TEXT)


class DecisionsAnswer(Answer):
    """The latest decisions, newest first; a post that is sent again with the same id is not listed again."""

    decisions: list[LatestDecisionAnswer]


class PostsAnswer(Answer):
    """Posts of the window, newest first."""

    posts: list[LatestDecisionAnswer]
    after: int | None
    """Value of ``after`` for the next page of older posts; null = no more posts."""


class DeletedAnswer(Answer):
    """A post that was deleted."""

    id: PostId
    deleted: Literal[True]


class PairToJudge(Answer):
    """Two posts for a person to judge: the same or not."""

    a: str
    """A kept post."""
    b: str
    """A post that was decided recently."""
    is_match: bool
    """Whether the score reaches the threshold."""
    verifier: str
    score: float
    threshold: float


class PairsAnswer(Answer):
    """Pairs of posts for a person to judge, spread over the range of scores."""

    pairs: list[PairToJudge]


class MatchesAnswer(Answer):
    """The kept posts most similar to the text of the request, best first."""

    matches: list[Match]


@dataclass(frozen=True, slots=True)
class ServiceStats(WindowStats):
    """Counts of the window since the service was started, unless noted otherwise."""

    n_waiting: int = 0
    """Number of posts that wait or are being decided."""
    history: History = field(default_factory=History)
    """New decisions of the last half hour."""


class StatusAnswer(Answer):
    """State of the service."""

    status: str
    seconds_ahead: float = 0.0
    """Seconds by which the window's time is ahead of the clock; posts expire that much later. If it is minutes, check
    the clock; `Window.rewind` sets the window's time back."""


class ProblemAnswer(Answer):
    """Error answer of a refused or failed request."""

    error: str
    """Kind of error, as an identifier such as ``not_found``."""
    message: str
    """What happened."""
    allowed: str
    """What is allowed, or what to do."""


class Answers(Answer):
    """Container of all kinds of answers. It is never sent; it only brings their types into the OpenAPI schema."""

    decision: DecisionAnswer
    stored_post: StoredPostAnswer
    posts: PostsAnswer
    deleted: DeletedAnswer
    matches: MatchesAnswer
    decisions: DecisionsAnswer
    pairs: PairsAnswer
    explanation: Explanation
    stats: ServiceStats
    status: StatusAnswer
    problem: ProblemAnswer


R = TypeVar("R", bound=Request)


def checked(kind: type[R], given: object) -> R:
    """Validate a request with the model ``kind``; raise RequestError about the first fault if it is invalid."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(map(str, first["loc"][:1])) or "the body"
    value = first["input"]
    is_short = isinstance(value, (str, int, float, bool)) or value is None
    got = quote(value[:60] if isinstance(value, str) else value) if is_short else type(value).__name__
    message = f"{where}: {first['msg']}; got {got}."
    raise RequestError(422, "invalid_request", message, f"see the message and {kind.__name__} in /openapi.json")
