"""hybriddup plugin: live windows in Redis, which several processes on several machines share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hybriddup

if TYPE_CHECKING:
    from hybriddup.plugin.registry import Registry

SCHEMES = "redis", "rediss", "redis-cluster", "rediss-cluster", "redis-sentinel", "rediss-sentinel"


@hybriddup.hookimpl
def hybriddup_register(registry: Registry) -> None:
    """Register the opener of windows by import path, so that the client of Redis is imported only when it is used."""
    for scheme in SCHEMES:
        registry.add_window(scheme, "hybriddup_redis.opening:RedisWindows")
