"""Queries that leave a window unchanged: similar posts, explanations, lists of posts, and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from hybriddup.data.records import CandidatePairs, Float64s, Int32s
from hybriddup.data.removed import EQUAL
from hybriddup.errors import InputError
from hybriddup.run.audit import wilson_interval
from hybriddup.steps.deciding.contest import most_candidates
from hybriddup.steps.verifiers.judges import PairJudgement
from hybriddup.study.explain import Explainer
from hybriddup.study.learned import Cautions
from hybriddup.window.event_time import NEVER, PostTimes
from hybriddup.window.learning import FIT_AT
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import AuditCounts, Match, PostId, PostList, StoredPost, WindowStats
from hybriddup.window.states import OpenState

FEWEST_SCORED, MOST_SCORED = 4, 256
"""Limits on how many posts a query scores; it scores those whose fingerprints differ from the text's in the fewest
bits. For a short text, these are `MOST_SCORED` posts, or the query's own limit if that is larger; for a longer text,
fewer posts, but at least `FEWEST_SCORED`."""
MOST_LOOKED_AT, LOOKED_AT_ONCE = 10_000, 256
"""Maximum number of posts that one search reads, in all and at a time. Each read takes one or two milliseconds, during
which no post is decided."""


def similar_posts(state: OpenState, text: str, limit: int) -> list[Match]:
    """Return the kept posts most similar to a text: first the matches, then the others, both by descending score."""
    prepared = state.prepare([text])
    time, watermark = state.moment()
    now = PostTimes(np.array([time]), np.array([watermark]))
    rows = np.flatnonzero(prepared.searchable)
    near = state.near_posts(prepared.batch.take(rows), now)
    pairs = CandidatePairs(near.earlier, prepared.positions[rows[near.later]], near.distances)
    equal = int(state.equal_posts(prepared, now)[0])
    share = most_candidates(prepared.lengths, most=MOST_SCORED)[0] / MOST_SCORED
    n_scored = max(int(max(limit, MOST_SCORED) * share), FEWEST_SCORED)
    nearest = np.argsort(pairs.hamming_distances, kind="stable")[:n_scored]
    chosen = pairs.take(np.sort(nearest[pairs.earlier[nearest] != equal]))
    matches = list(scored_matches(state, chosen, prepared))
    matches += [equal_match(state, equal, prepared)] if equal >= 0 else []
    matches.sort(key=lambda match: (not match.is_match, -match.score, match.position))
    return matches[:limit]


def equal_match(state: OpenState, position: int, prepared: PreparedTexts) -> Match:
    """Return the match for the kept post at ``position``, whose text equals the prepared one."""
    post = state.posts_at(np.array([position]))[0]
    band = state.steps.components.bands.names_of(prepared.lengths)[0]
    return Match(post.id, position, post.text, post.time, 1.0, 1.0, True, 0, EQUAL, band)


def scored_matches(state: OpenState, pairs: CandidatePairs, prepared: PreparedTexts) -> Iterator[Match]:
    """Yield the kept posts of candidate pairs with their scores, whether they reach the threshold or not."""
    if not len(pairs):
        return
    local, context = state.steps.localize(pairs, prepared, state.steps.earlier_texts(state.texts))
    bands = state.steps.components.bands
    lengths, posts = context.lengths, context.posts
    of_pairs = bands.of_lengths(np.minimum(lengths[local.earlier], lengths[local.later]))
    judgement = judge_fully(state.steps, local, of_pairs)
    for place, post in enumerate(state.posts_at(pairs.earlier)):
        score, threshold = float(judgement.scores[place]), float(judgement.thresholds[place])
        band, a, b = int(of_pairs[place]), int(local.earlier[place]), int(local.later[place])
        guards = bands.guards.reasons(posts[a], posts[b], band) if score >= threshold else []
        is_match, distance = score >= threshold and not guards, int(local.hamming_distances[place])
        verifier, of_post = bands.plan.names[int(judgement.verifiers[place])], (post.id, post.position, post.text)
        yield Match(*of_post, post.time, score, threshold, is_match, distance, verifier, bands.names[band], guards)


UNLEARNED = f" All tokens and keys count as rare until {FIT_AT:,} posts have come; then the distance can be another."
"""Caution to append to a verdict that depends on the Hamming distance, if token weights are not learned yet."""


def judge_fully(steps: Steps, pairs: CandidatePairs, bands: Int32s) -> PairJudgement:
    """Judge each pair by the rules of its band, and return exact scores even for pairs below the threshold.

    ``bands``: int32[n_pairs], the index of each pair's band.
    """
    plan = steps.components.bands.plan
    judged = plan.judge(pairs, bands)
    for which, verifier in enumerate(plan.verifiers):
        # with a threshold of 0.0, a verifier returns the exact score, and not just any number below the threshold
        of_verifier = np.flatnonzero(judged.verifiers == which)
        nothing: Float64s = np.zeros(len(of_verifier))
        judged.scores[of_verifier] = verifier.score_pairs(pairs.take(of_verifier), nothing)
    return judged


def explainer_of(state: OpenState, text: str, post_id: PostId) -> WindowExplainer:
    """Return an explainer that compares a post of the window (A) with a text (B); InputError if no post has the id."""
    post = state.post_with(post_id)
    if post is None:
        raise InputError(
            f"no post with the id {post_id!r} was decided within the horizon. Give the id of a decision or a match; "
            "the number 17 and the text '17' are two ids."
        )
    return WindowExplainer(state, post.text, text)


class WindowExplainer(Explainer):
    """Runs the steps on two texts with the weights of the window and the learned data of its verifiers.

    The constructor reads everything from the window, so `explain` can run while the window decides posts.
    """

    def __init__(self, state: OpenState, earlier: str, later: str) -> None:
        super().__init__(state.steps.components, (earlier, later), Cautions(UNLEARNED if state.weights_learn else ""))
        self.state = state
        _ = self.shared, self.evidence

    def prepare_verifiers(self) -> None:
        """Prepare the verifiers for the two texts; the verifiers keep their learned data."""
        self.bands.plan.renew(self.state.steps.verifier_context(self.normalized))


def list_posts(
    posts_before: Callable[[int | None, int], PostList],
    limit: int,
    after: int | None,
    text: str,
    of: PostId | None,
) -> PostList:
    """Return the posts that match a search; see `hybriddup.Window.posts`.

    ``posts_before(position, n)`` returns the posts at the ``n`` positions before ``position``, or at the latest ``n``
    positions if ``position`` is None.
    """
    wanted, n_left, found = text.casefold(), MOST_LOOKED_AT, list[StoredPost]()
    is_search, typed_of = bool(wanted) or of is not None, (type(of), of)
    while n_left:
        n = min(n_left, LOOKED_AT_ONCE if is_search else limit - len(found))
        listed = posts_before(after, n)
        n_left, after = n_left - n, listed.after
        for post in listed.posts:
            if wanted in post.text.casefold() and (
                of is None or (type(post.duplicate_of), post.duplicate_of) == typed_of
            ):
                found.append(post)
                if len(found) == limit:
                    return PostList(found, post.position)
        if after is None:
            break
    return PostList(found, after)


def recall_interval(audit: AuditCounts) -> tuple[float, float] | None:
    """Return the 95 % interval of the estimated recall, widened if posts are unverified; None = no estimate."""
    n_duplicates = audit.n_found + audit.n_missed
    if not n_duplicates:
        return None
    low, _ = wilson_interval(audit.n_found, n_duplicates + audit.n_unknown)
    return low, wilson_interval(audit.n_found, n_duplicates)[1]


def count_window(state: OpenState) -> WindowStats:
    """Return the counts of a window."""
    time, watermark = state.moment()
    sizes, posts = state.sizes(max(time, watermark)), state.counts.posts
    decided = posts["kept"] + posts["exact"] + posts["near"]
    audit, report = sizes.audit, sizes.report
    return WindowStats(
        n_kept_in_window=sizes.n_kept,
        n_posts=decided,
        n_kept=posts["kept"],
        n_exact=posts["exact"],
        n_near=posts["near"],
        n_repeated_ids=posts["repeated_id"],
        n_late=posts["late"],
        n_expired=posts["expired"],
        watermark=None if watermark == NEVER else watermark,
        seconds_ahead=max(watermark - state.timing.now(), 0.0),
        index_bytes=sizes.index_bytes,
        store_bytes=sizes.store_bytes,
        index=report.shape,
        limits_hit=dict(Counter(report.limits_hit) + state.counts.limits_hit),
        by_band={band: dict(counts) for band, counts in state.counts.by_band.items()},
        seconds=dict(state.counts.seconds),
        estimated_recall=audit.estimated_recall,
        recall_interval=recall_interval(audit),
        audit=audit,
        n_deleted=posts["deleted"],
        recipe_id=state.steps.components.recipe_id(),
    )
