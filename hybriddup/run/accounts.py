"""Finds pairs of accounts that post the same text within a given time, using the clusters of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from math import inf, isnan
from operator import attrgetter
from typing import Any

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.fields import has_no_value, hashable
from hybriddup.data.marks import Table, cluster_numbers
from hybriddup.data.removed import RemovedPosts
from hybriddup.data.times import iso_time, seconds_in, seconds_of
from hybriddup.errors import ConfigError, InputError
from hybriddup.plugin.registry import Registry
from hybriddup.run.pipeline import run
from hybriddup.run.progress import Progress


@dataclass(frozen=True)
class AccountPair:
    """Two accounts that posted the same texts, at most a given time apart."""

    account_a: Any
    account_b: Any
    n_pairs: int
    """Number of pairs of posts, one by each account, that repeat each other and are close enough in time."""
    n_texts: int
    """Number of different texts in the pairs of posts that `n_pairs` counts; copies of one post count as one text."""
    first_seen: str
    """Time of the earliest post in the pairs that `n_pairs` counts, in UTC."""
    last_seen: str


COLUMNS = {one.name: "int64" if one.name.startswith("n_") else "string" for one in fields(AccountPair)}
"""Types of the columns of a table of pairs of accounts."""


@dataclass
class InCommon:
    """Counts the pairs of posts, one by each of two accounts, with the same text and times that are close enough."""

    n_pairs: int = 0
    clusters: set[int] = field(default_factory=set)
    first: float = inf
    """Time of the earliest post in a counted pair, in seconds since 1970; infinity if there is no pair yet."""
    last: float = -inf

    def add(self, cluster: int, first: float, last: float) -> None:
        """Add a pair of posts of one cluster; ``first`` and ``last``: times of the earlier and the later post."""
        self.n_pairs += 1
        self.clusters.add(cluster)
        self.first, self.last = min(self.first, first), max(self.last, last)


def find_accounts(
    corpus: Corpus,
    settings: Settings,
    registry: Registry,
    user: str,
    time_field: str,
    within: str,
    least: int,
    workers: int | None,
    progress: Progress | None = None,
) -> tuple[list[AccountPair], int]:
    """Deduplicate a corpus, then return the pairs of accounts and the number of posts left out; see `account_pairs`.

    ``user`` and ``time_field`` are names of fields among the `Corpus.order_values`. Raises InputError if no post has a
    user or no post has a time, and ConfigError if ``within`` is not a duration such as ``60s``.
    """
    longest = seconds_in(within)
    if longest is None:
        raise ConfigError(f"within must be a number with s, m, h or d, such as 60s; got {within!r}.")
    users, times = (corpus.order_values.get(name, ()) for name in (user, time_field))
    for name, values, option in ((user, users, "--user"), (time_field, times, "--time-field")):
        if len(values) and all(map(has_no_value, values)):
            raise InputError(
                f"not one of {len(values):,} posts has the field {name!r}; name the right one with {option}."
            )
    settings = settings.model_copy(update={"keep": "first", "max_copies": 0, "within": None, "without_text": "keep"})
    result = run(corpus, settings, registry, workers=workers, progress=progress)
    return account_pairs(result.removed, users, times, longest, least)


def account_pairs(
    removed: RemovedPosts, users: Sequence[Any], times: Sequence[Any], within: float, least: int = 1
) -> tuple[list[AccountPair], int]:
    """Return the pairs of accounts that posted the same texts, most texts first, and the number of posts left out.

    Parameters
    ----------
    users, times
        Author and time of each post of the corpus; posts without an author or without a time are left out.
    within
        Maximum time between two posts that count as a pair, inclusive, in seconds.
    least
        Minimum number of different texts that a pair of accounts must have in common.
    """
    keys = [None if has_no_value(user) else hashable(user) for user in users]
    names: dict[Any, Any] = {}
    for key, user in zip(keys, users, strict=True):
        names.setdefault(key, user)
    numbers = {key: number for number, key in enumerate(names)}
    seconds, clusters = seconds_of(times).tolist(), cluster_numbers(removed).tolist()
    known = [place for place, key in enumerate(keys) if key is not None and not isnan(seconds[place])]
    posts = sorted((clusters[place], seconds[place], numbers[keys[place]]) for place in known if clusters[place])
    found = {pair: one for pair, one in _in_common(posts, within).items() if len(one.clusters) >= least}
    order = sorted(found, key=lambda pair: (-len(found[pair].clusters), -found[pair].n_pairs, pair))
    users = list(names.values())
    return [_as_pair(users[low], users[high], found[low, high]) for low, high in order], len(keys) - len(known)


def _in_common(posts: Sequence[tuple[int, float, int]], within: float) -> dict[tuple[int, int], InCommon]:
    """Count the pairs of posts of a cluster, one by each of two accounts, by (smaller account number, larger one).

    ``posts``: (cluster, time, account number) of each post, in ascending order. ``within``: maximum time between the
    two posts of a pair, in seconds.
    """
    found: dict[tuple[int, int], InCommon] = defaultdict(InCommon)
    for place, (cluster, first, account) in enumerate(posts):
        for later in range(place + 1, len(posts)):
            other_cluster, last, other = posts[later]
            if other_cluster != cluster or last - first > within:
                break
            if other != account:
                found[min(account, other), max(account, other)].add(cluster, first, last)
    return found


def _as_pair(account_a: Any, account_b: Any, one: InCommon) -> AccountPair:
    return AccountPair(account_a, account_b, one.n_pairs, len(one.clusters), iso_time(one.first), iso_time(one.last))


def accounts_table(pairs: Sequence[AccountPair]) -> Table:
    """Return pairs of accounts as a table."""
    return Table(COLUMNS, map(attrgetter(*COLUMNS), pairs))
