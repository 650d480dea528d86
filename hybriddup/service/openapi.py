"""The OpenAPI schema of the service: paths from ``openapi.yaml``, types from the models of requests and answers."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic.json_schema import models_json_schema

from hybriddup import __version__
from hybriddup.service.latest import OUTCOMES
from hybriddup.service.limits import DEFAULT_LISTED, MAX_LISTED
from hybriddup.service.shapes import Answers, ExplainRequest, MatchRequest, NewPost

FOR_ALL = (401, 421, 422, 429, 500, 503, 504)
FOR_OPEN = (421, 500)
"""Error statuses of paths that need no token."""
FOR_BODIES = (400, 408, 413, 415)
WITH_RETRY_AFTER = (429, 503, 507)

Schema = dict[str, Any]


@cache
def openapi_schema(*, with_token: bool) -> Schema:
    """Return the OpenAPI 3.1 schema of the service, not to be changed; ``with_token`` = clients must send a token."""
    _, definitions = models_json_schema(
        [*((request, "validation") for request in (NewPost, MatchRequest, ExplainRequest)), (Answers, "serialization")],
        ref_template="#/components/schemas/{model}",
    )
    components: Schema = {"schemas": definitions["$defs"]}
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


def paths() -> Schema:
    """Return the schema of each path, from ``openapi.yaml``."""
    written = yaml.safe_load(files("hybriddup.service").joinpath("openapi.yaml").read_text("utf-8"))
    written["parameters"]["limit"]["schema"] |= {"maximum": MAX_LISTED, "default": DEFAULT_LISTED}
    written["parameters"]["decision"]["schema"]["enum"] = list(OUTCOMES)
    return {
        path: {method: operation(one, written) for method, one in methods.items()}
        for path, methods in written["paths"].items()
    }


def operation(one: Schema, written: Schema) -> Schema:
    """Expand the short form of an operation to OpenAPI: add its responses, body and parameters.

    ``written`` has the contents of ``openapi.yaml``, with descriptions and parameters by name.
    """
    body, answer, several = one.pop("body", None), one.pop("answer", None), one.pop("several", False)
    for_all = FOR_OPEN if "security" in one else FOR_ALL
    statuses = sorted((*for_all, *one.pop("problems", ()), *(FOR_BODIES if body else ())))
    done = {"text/plain": {"schema": {"type": "string"}}} if answer is None else in_json(answer, several)
    one["responses"] = {"200": {"description": "Done.", "content": done}}
    for status in sorted(statuses):
        problem: Schema = {"description": written["problems"][status], "content": in_json("ProblemAnswer")}
        if status in WITH_RETRY_AFTER:
            problem["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
        one["responses"][str(status)] = problem
    if body:
        one["requestBody"] = {"required": True, "content": in_json(body, several, minItems=1)}
    if "parameters" in one:
        one["parameters"] = [written["parameters"][name] for name in one["parameters"]]
    return one


def in_json(name: str, several: bool = False, **array: int) -> Schema:
    """Return the schema of a JSON body of the type ``name``; if ``several``, the body may also be an array.

    ``array`` has additional schema keys for the array.
    """
    schema: Schema = {"$ref": f"#/components/schemas/{name}"}
    if several:
        schema = {"anyOf": [schema, {"type": "array", "items": schema, **array}]}
    return {"application/json": {"schema": schema}}
