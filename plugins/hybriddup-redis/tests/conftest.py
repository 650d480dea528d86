"""A server and a cluster for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from servers import PROGRAM, Server, cluster, serving


@pytest.fixture(scope="session", autouse=True)
def _needed() -> None:
    if PROGRAM is None:
        pytest.skip("no redis-server is installed (Debian: apt-get install redis-server)")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("redis") / "server") as running:
        yield running


@pytest.fixture(scope="session")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    with cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
