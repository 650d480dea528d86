"""Finds pairs of accounts that post the same text within a given time, using the clusters of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.fields import has_no_value, hashable
from hybriddup.data.marks import Table, cluster_numbers
from hybriddup.data.records import Float64s, Int64s
from hybriddup.data.removed import RemovedPosts
from hybriddup.data.tallies import iso_time, seconds_of
from hybriddup.data.times import seconds_in
from hybriddup.errors import ConfigError, InputError
from hybriddup.plugin.registry import Registry
from hybriddup.run.pipeline import run
from hybriddup.run.progress import Progress

COLUMNS = {
    "account_a": "string",
    "account_b": "string",
    "n_pairs": "int64",
    "n_texts": "int64",
    "first_seen": "string",
    "last_seen": "string",
}


@dataclass(frozen=True)
class AccountPair:
    """Two accounts that posted the same texts, at most a given time apart."""

    account_a: Any
    account_b: Any
    n_pairs: int
    """Number of pairs of posts, one by each account, that repeat each other and are close enough in time."""
    n_texts: int
    """Number of different texts in these pairs; copies of one post count as one text."""
    first_seen: str
    """Time of the first post in these pairs, in UTC."""
    last_seen: str


class PairsOfPosts(NamedTuple):
    """Pairs of posts by two different accounts, as parallel arrays."""

    earlier: Int64s
    """int64[n_pairs]: index of the earlier post in the arrays of users and times."""
    later: Int64s


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
    return account_pairs(cast("RemovedPosts", result.removed), users, times, longest, least)


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
    seconds, (numbers, names) = seconds_of(times), _numbered(users)
    clusters = cluster_numbers(removed)
    is_known = (numbers >= 0) & ~np.isnan(seconds)
    places = np.flatnonzero(is_known & (clusters > 0))
    places = places[np.lexsort((seconds[places], clusters[places]))]
    pairs = _close_pairs(clusters[places], seconds[places], numbers[places], within)
    found = PairsOfPosts(places[pairs.earlier], places[pairs.later])
    return _counted(found, clusters, seconds, numbers, names, least), int((~is_known).sum())


def _numbered(users: Sequence[Any]) -> tuple[Int64s, list[Any]]:
    """Number the distinct users; return int64[n]: the number of each post's user, -1 = none; and the list of users."""
    known: dict[Any, int] = {}
    names: list[Any] = []
    numbers = np.full(len(users), -1)
    for place, user in enumerate(users):
        if has_no_value(user):
            continue
        number = known.setdefault(hashable(user), len(names))
        if number == len(names):
            names.append(user)
        numbers[place] = number
    return numbers, names


def _close_pairs(clusters: Int64s, seconds: Float64s, users: Int64s, within: float) -> PairsOfPosts:
    """Return the pairs of posts in the same cluster, by different users, at most ``within`` seconds apart.

    The arrays must be sorted by cluster, then by time; the pairs are indices into these arrays.
    """
    active, step = np.arange(len(clusters) - 1), 1
    found: list[PairsOfPosts] = []
    while len(active):
        later = active + step
        close = (clusters[active] == clusters[later]) & (seconds[later] - seconds[active] <= within)
        active, later = active[close], later[close]
        apart = users[active] != users[later]
        found.append(PairsOfPosts(active[apart], later[apart]))
        step += 1
        active = active[active + step < len(clusters)]
    columns = [PairsOfPosts(np.empty(0, np.int64), np.empty(0, np.int64)), *found]
    return PairsOfPosts(
        np.concatenate([one.earlier for one in columns]), np.concatenate([one.later for one in columns])
    )


def _counted(
    pairs: PairsOfPosts, clusters: Int64s, seconds: Float64s, users: Int64s, names: list[Any], least: int
) -> list[AccountPair]:
    low = np.minimum(users[pairs.earlier], users[pairs.later])
    high = np.maximum(users[pairs.earlier], users[pairs.later])
    codes, which = np.unique(low * max(len(names), 1) + high, return_inverse=True)
    n_pairs = np.bincount(which, minlength=len(codes))
    texts = np.unique(np.stack([which, clusters[pairs.earlier]]), axis=1)[0]
    n_texts = np.bincount(texts, minlength=len(codes))
    first, last = np.full(len(codes), np.inf), np.full(len(codes), -np.inf)
    np.minimum.at(first, which, seconds[pairs.earlier])
    np.maximum.at(last, which, seconds[pairs.later])
    order = np.lexsort((codes, -n_pairs, -n_texts))
    return [
        AccountPair(
            names[codes[at] // len(names)], names[codes[at] % len(names)], int(n_pairs[at]), int(n_texts[at]),
            iso_time(float(first[at])), iso_time(float(last[at])),
        )
        for at in order[n_texts[order] >= least].tolist()
    ]  # fmt: skip


def accounts_table(pairs: Sequence[AccountPair]) -> Table:
    """Return pairs of accounts as a table."""
    return Table(COLUMNS, map(attrgetter(*COLUMNS), pairs))
