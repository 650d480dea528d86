"""The OpenAPI schema of the service, generated from the types of its requests and answers."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from hybriddup import __version__
from hybriddup.service.latest import OUTCOMES
from hybriddup.service.limits import DEFAULT_LISTED, MAX_LISTED
from hybriddup.service.shapes import Answers, ExplainRequest, MatchRequest, NewPost

PROBLEMS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    404: "There is no such post within the horizon.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    421: "The Host header is not one of the service's names.",
    422: "A value in the body or the query is not allowed.",
    429: "Too many posts or look-ups wait; Retry-After says when to come back.",
    500: "An unexpected error.",
    501: "This window cannot do that: several processes share it.",
    503: "The window is not ready, the posts could not be written or decided in time, or the service is overloaded.",
    504: "No answer in time; the posts may have been decided.",
    507: "The disk of the window is full.",
}
FOR_ALL = (401, 421, 422, 429, 500, 503, 504)
FOR_BODIES = (400, 408, 413, 415)


def in_query(name: str, description: str, **schema: Any) -> dict[str, Any]:
    """Return the description of a parameter."""
    return {"name": name, "in": "query", "schema": schema, "description": description}


BY_ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "The id, percent-encoded: `%2317` for `#17`, `%2F` for a slash.",
}
TYPE = in_query(
    "type",
    'Whether the id is text or a whole number: 17 and "17" are two ids.',
    type="string",
    enum=["str", "int"],
    default="str",
)
LIMIT = in_query(
    "limit", "Maximum number of results.", type="integer", minimum=1, maximum=MAX_LISTED, default=DEFAULT_LISTED
)
OUTCOME = in_query(
    "decision",
    "Only posts with this outcome: kept, or a near or an exact duplicate. Default: all.",
    type="string",
    enum=list(OUTCOMES),
)
LISTED = [
    LIMIT,
    in_query("after", "Only posts before this position: `after` of the previous answer.", type="integer"),
    in_query("q", "Only posts whose text contains this, ignoring case.", type="string"),
    in_query("of", "Only duplicates of the post with this id, even if that was deleted.", type="string"),
    TYPE,
]


def openapi_schema(*, with_token: bool) -> dict[str, Any]:
    """Return the schema, OpenAPI 3.1."""
    _, definitions = models_json_schema(
        [
            *((request, "validation") for request in (NewPost, MatchRequest, ExplainRequest)),
            (Answers, "serialization"),
        ],
        ref_template="#/components/schemas/{model}",
    )
    components: dict[str, Any] = {"schemas": definitions["$defs"]}
    if with_token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hybriddup",
            "version": __version__,
            "description": "Decides post by post whether a text repeats one that was kept within the horizon.",
        },
        "paths": paths(),
        "components": components,
    } | ({"security": [{"token": []}]} if with_token else {})


def paths() -> dict[str, Any]:
    """Return the description of every path."""
    post, decision = ref("NewPost"), ref("DecisionAnswer")
    posts = {"anyOf": [post, {"type": "array", "items": post, "minItems": 1}]}
    decisions = {"anyOf": [decision, {"type": "array", "items": decision}]}
    decide = "Decide one post or several, in order. The answer comes when the decisions are on disk."
    find = "The kept posts most similar to a text; nothing is added. To search for words in posts: `list`."
    listed = "Posts, newest first, each with the text that it repeats. A search looks at 10,000 posts at a time."
    delete = "Delete a post: later posts are decided as if it had never come, and its id is free again."
    explain = "Compare a text with a kept post: the result of every step, and the verdict."
    get = "A post that was acknowledged within the horizon."
    latest = "The latest decisions since the service was started, newest first."
    judge = "The latest posts, each paired with the most similar kept post, for a person to judge; a mix of all scores."
    text = {"schema": {"type": "string"}}
    return {
        "/v1/posts": {
            "post": operation("decide", decide, decisions, 507, body=posts),
            "get": operation("list", listed, ref("PostsAnswer"), 501) | {"parameters": LISTED},
        },
        "/v1/match": {"post": operation("match", find, ref("MatchesAnswer"), body=ref("MatchRequest"))},
        "/v1/explain": {"post": operation("explain", explain, ref("Explanation"), 404, body=ref("ExplainRequest"))},
        "/v1/posts/{id}": {
            "get": operation("get", get, ref("StoredPostAnswer"), 404) | {"parameters": [BY_ID, TYPE]},
            "delete": operation("delete", delete, ref("DeletedAnswer"), 404, 507) | {"parameters": [BY_ID, TYPE]},
        },
        "/v1/stats": {"get": operation("stats", "Counts, and decisions over time.", ref("ServiceStats"))},
        "/v1/decisions": {
            "get": operation("decisions", latest, ref("DecisionsAnswer")) | {"parameters": [LIMIT, OUTCOME]}
        },
        "/v1/pairs": {"get": operation("pairs", judge, ref("PairsAnswer")) | {"parameters": [LIMIT]}},
        "/healthz": {"get": open_to_all("healthz", "Whether the process answers.")},
        "/readyz": {"get": open_to_all("readyz", "Whether the window is loaded.", 503)},
        "/metrics": {"get": described("metrics", "Metrics for Prometheus.", {"text/plain": text}, FOR_ALL)},
    }


def ref(name: str) -> dict[str, str]:
    """Return a reference to a type."""
    return {"$ref": f"#/components/schemas/{name}"}


def operation(
    name: str, summary: str, answer: dict[str, Any], *problems: int, body: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the description of a request that is answered in JSON."""
    statuses = (*FOR_ALL, *problems, *(FOR_BODIES if body else ()))
    sends = {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}} if body else {}
    return described(name, summary, {"application/json": {"schema": answer}}, statuses) | sends


def open_to_all(name: str, summary: str, *problems: int) -> dict[str, Any]:
    """Return the description of a request that needs no token."""
    answer = {"application/json": {"schema": ref("StatusAnswer")}}
    return described(name, summary, answer, (421, 500, *problems)) | {"security": []}


def described(name: str, summary: str, content: dict[str, Any], problems: tuple[int, ...]) -> dict[str, Any]:
    """Return the description of a request."""
    responses = {"200": {"description": "Done.", "content": content}}
    return {
        "operationId": name,
        "summary": summary,
        "responses": responses | {str(status): problem(status) for status in sorted(problems)},
    }


def problem(status: int) -> dict[str, Any]:
    """Return the description of an error."""
    headers = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
    content = {"application/json": {"schema": ref("ProblemAnswer")}}
    extra = {"headers": headers} if status in {429, 503, 507} else {}
    return {"description": PROBLEMS[status], "content": content} | extra
