"""HBase for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from servers import CACHE, JAVA, MAVEN, SMALL, HBase, serving


@pytest.fixture(scope="session", autouse=True)
def _needed() -> None:
    if JAVA is None:
        pytest.skip("no java is installed (Debian: apt-get install default-jre-headless)")
    if MAVEN is None and not CACHE.exists():
        pytest.skip("no mvn is installed (Debian: apt-get install maven), which fetches HBase")


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HBase]:
    with serving(tmp_path_factory.mktemp("hbase"), 1, "768m", SMALL) as running:
        yield running
