"""Lua scripts, which Redis runs atomically. Each works on any number of keys, independently of each other.

On a cluster, every key that a script touches is declared, and each key has its own arguments, so that a call can be
split into calls of one key each: a cluster refuses calls of several keys while their slot is moved to another server.
A script returns a list of columns, each a string, or a list with an item for each key.
"""

from __future__ import annotations

from hybriddup_redis.scripts import buckets, names, posts, tables

LOST, DAMAGED = "HYBRIDDUP-LOST", "HYBRIDDUP-DAMAGED"
"""Errors of scripts: the store is not the one that was opened; a bucket or a name cannot be read."""
SCRIPTS = {
    "ENTER": buckets.ENTER,
    "READ": buckets.READ,
    "OVERFLOW": buckets.OVERFLOW,
    "LEAVE": buckets.LEAVE,
    "LEAVE_OVERFLOW": buckets.LEAVE_OVERFLOW,
    "ADD": tables.ADD,
    "MEMBERS": tables.MEMBERS,
    "REMOVE": tables.REMOVE,
    "HOLD": names.HOLD,
    "HELD": names.HELD,
    "WRITE": posts.WRITE,
    "CHANGE": posts.CHANGE,
    "TAKE": posts.TAKE,
    "FINISH": posts.FINISH,
}
"""Scripts by name."""
