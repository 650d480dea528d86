"""The OpenAPI schema, and requests made from it at random."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from hybriddup.service.openapi import openapi_schema
from tests.builders import examples
from tests.service.support import serving

schemathesis = pytest.importorskip("schemathesis", reason="the package schemathesis is not installed")
OPERATIONS = [
    (path, method) for path, methods in openapi_schema(with_token=False)["paths"].items() for method in methods
]


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with serving(tmp_path_factory.mktemp("schema") / "window") as served:
        yield schemathesis.openapi.from_url(f"{served.address}/openapi.json")


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_answers_to_requests_made_from_the_schema_keep_to_it(schema: Any, path: str, method: str) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    statuses: list[int] = []
    wanted = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]

    @given(case=schema[path][method.upper()].as_strategy())
    @settings(examples(50), suppress_health_check=list(HealthCheck), derandomize=True)
    def check(case: Any) -> None:
        statuses.append(case.call_and_validate(checks=wanted).status_code)  # raises where a check fails

    check()
    assert statuses
    assert all(status < 500 for status in statuses)
