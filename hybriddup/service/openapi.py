"""The OpenAPI schema of the service, made from the shapes of its requests and answers."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from hybriddup import __version__
from hybriddup.service import schemas

PROBLEMS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    404: "There is no such post within the horizon.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    421: "The service is addressed by a name that is not its own.",
    422: "Something in the body is not allowed.",
    429: "Too many posts or look-ups wait; Retry-After says when to come back.",
    500: "An unexpected error.",
    503: "The window is not ready, or the posts could not be written or decided in time, or too much else is sent.",
    504: "No answer in time; the posts may have been decided.",
    507: "The disk of the window is full.",
}
WITH_BODY = (400, 401, 408, 413, 415, 421, 422, 429, 500, 503, 504)
WITHOUT_BODY = (401, 421, 422, 429, 500, 503, 504)
MODELS = [
    model
    for model in vars(schemas).values()
    if isinstance(model, type)
    and issubclass(model, (schemas.Shape, schemas.Answer))
    and model not in {schemas.Shape, schemas.Answer, schemas.EvidenceOfDuplicate}
]


def openapi_schema(*, with_token: bool) -> dict[str, Any]:
    """Return the schema, OpenAPI 3.1."""
    _, definitions = models_json_schema(
        [(model, "validation") for model in MODELS], ref_template="#/components/schemas/{model}"
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
    """Return the description of every address."""
    post, decision = ref("NewPost"), ref("DecisionAnswer")
    return {
        "/v1/posts": {
            "post": with_body(
                "decide",
                "Decide one post or several, in order. The answer is given when it is on disk.",
                {"anyOf": [post, {"type": "array", "items": post, "minItems": 1}]},
                {"anyOf": [decision, {"type": "array", "items": decision}]},
                507,
            )
        },
        "/v1/match": {
            "post": with_body(
                "match",
                "The kept posts most similar to a text, best first; nothing is added.",
                ref("MatchRequest"),
                ref("MatchesAnswer"),
            )
        },
        "/v1/explain": {
            "post": with_body(
                "explain",
                "Every step of a text and of a post of the window, and the verdict.",
                ref("ExplainRequest"),
                ref("ExplanationAnswer"),
                404,
            )
        },
        "/v1/posts/{id}": {"get": post_by_id()},
        "/v1/stats": {"get": operation("stats", "Counts, and decisions over time.", ref("StatsAnswer"), WITHOUT_BODY)},
        "/healthz": {"get": open_to_all("healthz", "Whether the process answers.", 500)},
        "/readyz": {"get": open_to_all("readyz", "Whether the window is loaded.", 500, 503)},
        "/metrics": {"get": plain("metrics", "Metrics for Prometheus.", "text/plain")},
    }


def ref(name: str) -> dict[str, str]:
    """Return a reference to a shape."""
    return {"$ref": f"#/components/schemas/{name}"}


def operation(name: str, summary: str, answer: dict[str, Any], problems: tuple[int, ...]) -> dict[str, Any]:
    """Return the description of a request."""
    content = {"application/json": {"schema": answer}}
    responses = {"200": {"description": "Done.", "content": content}} | {str(one): problem(one) for one in problems}
    return {"operationId": name, "summary": summary, "responses": responses}


def problem(status: int) -> dict[str, Any]:
    """Return the description of an error."""
    headers = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
    described = {
        "description": PROBLEMS[status],
        "content": {"application/json": {"schema": ref("ProblemAnswer")}},
    }
    return described | ({"headers": headers} if status in {429, 503, 507} else {})


def with_body(name: str, summary: str, body: dict[str, Any], answer: dict[str, Any], *problems: int) -> dict[str, Any]:
    """Return the description of a request with a body."""
    content = {"application/json": {"schema": body}}
    described = operation(name, summary, answer, tuple(sorted((*WITH_BODY, *problems))))
    return described | {"requestBody": {"required": True, "content": content}}


def post_by_id() -> dict[str, Any]:
    """Return the description of looking a post up."""
    parameters = [
        {
            "name": "id",
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "description": "The id, percent-encoded: `%2317` for `#17`, `%2F` for a slash.",
        },
        {
            "name": "type",
            "in": "query",
            "schema": {"type": "string", "enum": ["str", "int"], "default": "str"},
            "description": 'Whether the id is text or a whole number: 17 and "17" are two ids.',
        },
    ]
    summary = "A post that was acknowledged within the horizon."
    problems = tuple(sorted((*WITHOUT_BODY, 404)))
    return operation("get", summary, ref("StoredPostAnswer"), problems) | {"parameters": parameters}


def open_to_all(name: str, summary: str, *problems: int) -> dict[str, Any]:
    """Return the description of a request that needs no token."""
    return operation(name, summary, ref("StatusAnswer"), (421, *problems)) | {"security": []}


def plain(name: str, summary: str, media_type: str) -> dict[str, Any]:
    """Return the description of a request that is answered with text."""
    described = operation(name, summary, {}, WITHOUT_BODY)
    described["responses"]["200"] = {
        "description": "Done.",
        "content": {media_type: {"schema": {"type": "string"}}},
    }
    return described
