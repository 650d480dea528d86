"""URLs of windows: no part of a password comes out again, however it was written."""

from __future__ import annotations

import pytest

from hybriddup.errors import ConfigError, StoreError
from hybriddup.window.urls import secrets_hidden, split_address

FORM = "redis://[user:password@]host:port/0"
UNQUOTED = [
    "redis://me:one/two@host/0",
    "redis://:one#two@host:6379/0",
    "redis://me:one?two=three@host/0",
    "redis://me:6379/one?two#three@host/0?window=w",
    "redis://me:one[two@host/0",
]


@pytest.mark.parametrize("url", UNQUOTED)
def test_an_address_with_a_password_that_is_not_quoted_is_refused_without_its_pieces(url: str) -> None:
    with pytest.raises(ConfigError, match=r"write / .* as %2F .*Allowed: redis://") as caught:
        split_address(url, FORM)
    assert not any(piece in str(caught.value) for piece in ("one", "two", "three"))
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("url", ["redis://host/0?window=w", "redis://me:a%2Fb%40c@host:1/0", "redis://:p@ss@host/0"])
def test_other_addresses_are_split(url: str) -> None:
    assert split_address(url, FORM).hostname == "host"


@pytest.mark.parametrize("url", UNQUOTED)
def test_no_error_of_a_window_repeats_pieces_of_a_password_that_is_not_quoted(url: str) -> None:
    with pytest.raises(StoreError) as caught, secrets_hidden(url):
        raise StoreError(f"port {url[6:].split(':')[-2:]} and path {url.split('/')} are wrong")
    assert not any(piece in str(caught.value) for piece in ("one", "two", "three"))
