"""Routes of the HTTP service. Handlers parse the request and call `Service`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from functools import cache, partial
from importlib.resources import files
from typing import Any
from urllib.parse import unquote_to_bytes

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hybriddup.service.latest import OUTCOMES, pairs_to_judge, still_there, with_keeper
from hybriddup.service.limits import DEFAULT_LISTED, MAX_LISTED, MOST_COMPARED
from hybriddup.service.problems import RequestError, json_response
from hybriddup.service.reading import check_length
from hybriddup.service.service import Service
from hybriddup.service.shapes import ExplainRequest, MatchRequest, checked
from hybriddup.steps.options import quote
from hybriddup.window import Window
from hybriddup.window.records import PostId


class AnyText(PathConvertor):
    """Path parameter that matches the rest of a path, including line breaks."""

    regex = r"[\s\S]*"


register_url_convertor("post_id", AnyText())
POSTS = "/v1/posts/"
PAGES = {"/": "index.html", "/docs": "docs.html"}
"""Map from the path of a web page to its file."""
PAGE_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
SCRIPTS = ("/page.css", "/elements.js", "/page.js", "/posts.js", "/judging.js", "/docs.js")
PAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def service_of(request: Request) -> Service:
    """Return the service that answers a request."""
    service: Service = request.app.state.service
    return service


async def add_posts(request: Request) -> Response:
    """Decide one post or several."""
    decisions, is_array = await service_of(request).decide(request)
    plain = [decision.to_dict() for decision in decisions]
    return json_response(plain if is_array else plain[0])


async def match(request: Request) -> Response:
    """Return the kept posts most similar to a text."""
    service = service_of(request)
    query = await service.reader.read(request, partial(checked, MatchRequest))
    check_length(query.text, service.limits)
    found = await service.look(lambda window: window.match(query.text, query.limit))
    return json_response({"matches": [asdict(one) for one in found]})


async def explain(request: Request) -> Response:
    """Compare a text with a post of the window: return the result of every step, and the verdict."""
    service = service_of(request)
    query = await service.reader.read(request, partial(checked, ExplainRequest))
    check_length(query.text, service.limits)
    await service.get(query.id)
    return json_response((await service.look(lambda window: window.explain(query.text, query.id))).to_dict())


async def posts(request: Request) -> Response:
    """POST: decide posts. GET: list the posts of the window."""
    return await (add_posts if request.method == "POST" else list_posts)(request)


async def list_posts(request: Request) -> Response:
    """Return posts of the window, newest first; a duplicate also has the text of the post that it repeats."""
    query = request.query_params
    after = number_of(query["after"], "after") if "after" in query else None
    of = as_id(request, query["of"]) if "of" in query else None
    limit, text = limit_of(request), query.get("q", "")

    def listed(window: Window) -> dict[str, Any]:
        found = window.posts(limit, after=after, text=text, of=of)
        return {"posts": [with_keeper(window, post) for post in found.posts], "after": found.after}

    return json_response(await service_of(request).look(listed))


async def post_by_id(request: Request) -> Response:
    """GET: return the post with the id in the path. DELETE: delete it from the window."""
    post_id = id_of(request)
    if request.method == "DELETE":
        await service_of(request).delete(post_id)
        return json_response({"id": post_id, "deleted": True})
    return json_response((await service_of(request).get(post_id)).to_dict())


def id_of(request: Request) -> PostId:
    """Return the id in a request's path."""
    raw: bytes = request.scope["raw_path"]
    encoded = raw.partition(b"?")[0][len(POSTS) :]
    try:
        text = unquote_to_bytes(encoded).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise RequestError(422, "invalid_id", "the id is not UTF-8.", "percent-encoded UTF-8") from None
    return as_id(request, text)


def as_id(request: Request, text: str) -> PostId:
    """Convert a text to an id: the text itself, or, if the request has ``?type=int``, the integer in it."""
    kind = request.query_params.get("type", "str")
    if kind not in ("str", "int"):
        raise RequestError(422, "invalid_id", f"type is {quote(kind)}.", "type=str (the default) or type=int")
    return text if kind == "str" else number_of(text, "with type=int, the id")


def number_of(text: str, what: str) -> int:
    """Parse a 64-bit integer; raise RequestError if the text is not an integer; ``what`` names it in the message."""
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdecimal() and len(digits) < 20 and -(2**63) <= int(text) < 2**63:
        return int(text)
    raise RequestError(422, "invalid_request", f"{what} is {quote(text)}.", "a whole number of 64 bits")


async def decisions(request: Request) -> Response:
    """Return the latest decisions; a duplicate has its own text and the text of the post that it repeats."""
    outcome = request.query_params.get("decision")
    if outcome not in (None, *OUTCOMES):
        raise RequestError(422, "invalid_request", f"decision is {quote(outcome)}.", f"{', '.join(OUTCOMES)}")
    service = service_of(request)
    posts = service.latest.newest(limit_of(request), outcome)
    found = await service.look(lambda window: [with_keeper(window, post) for post in still_there(window, posts)])
    return json_response({"decisions": found})


async def pairs(request: Request) -> Response:
    """Return the latest posts, each paired with the most similar kept post, for a user to label."""
    service, limit = service_of(request), limit_of(request)
    posts = [one for outcome in ("near", "kept") for one in service.latest.newest(MOST_COMPARED // 2, outcome)]
    return json_response({"pairs": await service.look(lambda window: pairs_to_judge(window, posts, limit))})


def limit_of(request: Request) -> int:
    """Return the ``limit`` in a request's query, the maximum number of items to list; RequestError if it is invalid."""
    given = request.query_params.get("limit", str(DEFAULT_LISTED))
    if given.isascii() and given.isdecimal() and len(given) < 6 and 1 <= int(given) <= MAX_LISTED:
        return int(given)
    raise RequestError(422, "invalid_request", f"limit is {quote(given)}.", f"a whole number, 1 to {MAX_LISTED}")


async def stats(request: Request) -> Response:
    """Return the window's counts, and the numbers of decisions over time."""
    return json_response(await service_of(request).stats())


async def health(_: Request) -> Response:
    """Liveness: answer that the process is running."""
    return json_response({"status": "ok"})


async def ready(request: Request) -> Response:
    """Readiness: return the status if the window is loaded and its store works, else raise RequestError."""
    service = service_of(request)
    await service.check_ready()
    seconds_ahead = 0.0 if service.last_stats is None else service.last_stats.seconds_ahead
    return json_response({"status": service.status, "seconds_ahead": seconds_ahead})


async def metrics(request: Request) -> Response:
    """Return the metrics for Prometheus."""
    registry = service_of(request).metrics.registry
    text = await asyncio.to_thread(generate_latest, registry)
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})


async def openapi(request: Request) -> Response:
    """Return the OpenAPI schema."""
    return json_response(request.app.state.openapi)


@cache
def page_file(name: str) -> bytes:
    """Return the contents of the file ``name`` of the service's web pages: HTML, script or style sheet."""
    return (files("hybriddup.service") / "page" / name).read_bytes()


async def page(request: Request) -> Response:
    """Return a web page, or a script or style sheet of one."""
    path = request.url.path
    name = PAGES.get(path, path[1:])
    return Response(page_file(name), media_type=PAGE_TYPES[name.partition(".")[2]], headers=PAGE_HEADERS)


ROUTES = [
    Route("/v1/posts", posts, methods=["GET", "POST"]),
    Route("/v1/match", match, methods=["POST"]),
    Route("/v1/explain", explain, methods=["POST"]),
    Route("/v1/stats", stats),
    Route("/v1/decisions", decisions),
    Route("/v1/pairs", pairs),
    Route("/v1/posts/{id:post_id}", post_by_id, methods=["GET", "DELETE"]),
    Route("/healthz", health),
    Route("/readyz", ready),
    Route("/metrics", metrics),
    Route("/openapi.json", openapi),
    *(Route(path, page) for path in (*PAGES, *SCRIPTS)),
]
OPEN_TO_ALL = frozenset({"/healthz", "/readyz", "/openapi.json", *PAGES, *SCRIPTS})
"""Paths that need no token: they reveal nothing about posts."""


def route_name(path: str) -> str:
    """Return the metrics label for a path; all ids share one label, and all unknown paths another."""
    if path.startswith(POSTS):
        return f"{POSTS}{{id}}"
    return path if path in KNOWN_PATHS else "other"


KNOWN_PATHS = frozenset(route.path for route in ROUTES)
