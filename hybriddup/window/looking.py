"""Looking into a window without changing it: similar posts, explanations, lists of posts, and counts."""

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
from hybriddup.window.preparing import LocalPairs, PreparedTexts, Steps
from hybriddup.window.protocols import OpenState
from hybriddup.window.records import AuditCounts, Match, PostId, PostList, StoredPost, WindowStats

FEWEST_SCORED, MOST_SCORED = 4, 256
"""Posts with the fewest differing bits whose texts are looked at: so few however long the text is, and so many of a
short one, or as many as are asked for if that is more."""
MOST_LOOKED_AT, LOOKED_AT_ONCE = 10_000, 256
"""Posts that one search looks at, and how many of them while no post is decided: for a millisecond or two."""


def similar_posts(state: OpenState, text: str, limit: int) -> list[Match]:
    """Return the kept posts that are most similar to a text, those that it repeats first, then by score."""
    prepared = state.prepare([text])
    now = PostTimes(np.array([state.last_time]), np.array([state.watermark]))
    # without sketches, posts are found too whose characters rule out that the score reaches the threshold
    pairs = candidates_without_sketches(state, prepared, now)
    equal = int(state.equal_posts(prepared, now)[0])
    share = most_candidates(prepared.lengths, most=MOST_SCORED)[0] / MOST_SCORED
    n_scored = max(int(max(limit, MOST_SCORED) * share), FEWEST_SCORED)
    nearest = np.argsort(pairs.hamming_distances, kind="stable")[:n_scored]
    chosen = pairs.take(np.sort(nearest[pairs.earlier[nearest] != equal]))
    matches = list(scored_matches(state, chosen, prepared))
    matches += [equal_match(state, equal, prepared)] if equal >= 0 else []
    matches.sort(key=lambda match: (not match.is_match, -match.score, match.position))
    return matches[:limit]


def candidates_without_sketches(state: OpenState, prepared: PreparedTexts, now: PostTimes) -> CandidatePairs:
    """Return the pairs of a text with kept posts within the horizon, whatever their characters."""
    derived = state.derived
    rows = np.flatnonzero(prepared.searchable)
    near = derived.index.look_up(prepared.batch.take(rows), counts_characters=False)
    places = rows[near.later]
    stay = derived.still_match(near.earlier, places, now)
    return CandidatePairs(near.earlier, prepared.positions[places], near.distances).take(stay)


def equal_match(state: OpenState, position: int, prepared: PreparedTexts) -> Match:
    """Return the match with a kept post whose text is equal."""
    post = state.posts_at(np.array([position]))[0]
    band = state.steps.components.bands.names_of(prepared.lengths)[0]
    return Match(post.id, position, post.text, post.time, 1.0, 1.0, True, 0, EQUAL, band)


def scored_matches(state: OpenState, pairs: CandidatePairs, prepared: PreparedTexts) -> Iterator[Match]:
    """Yield the kept posts of candidate pairs with their scores, whether they reach the threshold or not."""
    if not len(pairs):
        return
    local = state.steps.localize(pairs, prepared, state.steps.earlier_texts(state.texts))
    bands = state.steps.components.bands
    lengths, posts = local.context.lengths, local.context.posts
    of_pairs = bands.of_lengths(np.minimum(lengths[local.pairs.earlier], lengths[local.pairs.later]))
    judgement = judge_fully(state.steps, local, of_pairs)
    for place, post in enumerate(state.posts_at(pairs.earlier)):
        score, threshold = float(judgement.scores[place]), float(judgement.thresholds[place])
        band, a, b = int(of_pairs[place]), int(local.pairs.earlier[place]), int(local.pairs.later[place])
        guards = bands.guards.reasons(posts[a], posts[b], band) if score >= threshold else []
        yield Match(
            post.id,
            post.position,
            post.text,
            post.time,
            score,
            threshold,
            score >= threshold and not guards,
            int(local.pairs.hamming_distances[place]),
            bands.plan.names[int(judgement.verifiers[place])],
            bands.names[band],
            guards,
        )


UNLEARNED = f" All tokens and keys count as rare until {FIT_AT:,} posts have come; then the distance can be another."
"""Added to a verdict that depends on the Hamming distance."""


def judge_fully(steps: Steps, local: LocalPairs, bands: Int32s) -> PairJudgement:
    """Return what the judges of their bands say of pairs, with the score itself where it is under the threshold."""
    plan = steps.components.bands.plan
    judged = plan.judge(local.pairs, bands)
    for which, verifier in enumerate(plan.verifiers):
        # asked with a threshold of 0.0, a verifier gives the score and not just any number below the threshold
        of_verifier = np.flatnonzero(judged.verifiers == which)
        nothing: Float64s = np.zeros(len(of_verifier))
        judged.scores[of_verifier] = verifier.score_pairs(local.pairs.take(of_verifier), nothing)
    return judged


def explainer_of(state: OpenState, text: str, post_id: PostId) -> WindowExplainer:
    """Return what explains whether a text, B, repeats a post of the window, A; InputError where there is none."""
    post = state.post_with(post_id)
    if post is None:
        raise InputError(
            f"no post with the id {post_id!r} was decided within the horizon. Give the id of a decision or a match; "
            "the number 17 and the text '17' are two ids."
        )
    return WindowExplainer(state, post.text, text)


class WindowExplainer(Explainer):
    """Runs the steps on two texts with the window's weights, with what its verifiers learned, and on its index.

    Making one asks all that there is to ask of the window; `explain` can be called when the window goes on.
    """

    def __init__(self, state: OpenState, earlier: str, later: str) -> None:
        super().__init__(state.steps.components, (earlier, later), Cautions(UNLEARNED if state.weights_learn else ""))
        self.state = state
        _ = self.shared, self.evidence

    def prepare_verifiers(self) -> None:
        """Let the verifiers look at the two texts, and keep what they learned."""
        self.bands.plan.renew(self.state.steps.verifier_context(self.normalized))


def list_posts(
    posts_before: Callable[[int | None, int], PostList],
    limit: int,
    after: int | None,
    text: str,
    of: PostId | None,
) -> PostList:
    """Return the posts that are wanted, of the posts at so many positions before one; see `hybriddup.Window.posts`."""
    wanted, n_left, found = text.casefold(), MOST_LOOKED_AT, list[StoredPost]()
    is_search = bool(wanted) or of is not None
    while n_left:
        n = min(n_left, LOOKED_AT_ONCE if is_search else limit - len(found))
        listed = posts_before(after, n)
        n_left, after = n_left - n, listed.after
        for post in listed.posts:
            if wanted in post.text.casefold() and (of is None or is_duplicate_of(post, of)):
                found.append(post)
                if len(found) == limit:
                    return PostList(found, post.position)
        if after is None:
            break
    return PostList(found, after)


def is_duplicate_of(post: StoredPost, post_id: PostId) -> bool:
    """Return whether a post is a duplicate of the post with an id."""
    return (type(post.duplicate_of), post.duplicate_of) == (type(post_id), post_id)


def recall_interval(audit: AuditCounts) -> tuple[float, float] | None:
    """Return the 95 % interval of the estimated recall, whatever the unknown posts are; None without an estimate."""
    n_duplicates = audit.n_found + audit.n_missed
    if not n_duplicates:
        return None
    low, _ = wilson_interval(audit.n_found, n_duplicates + audit.n_unknown)
    return low, wilson_interval(audit.n_found, n_duplicates)[1]


def count_window(state: OpenState) -> WindowStats:
    """Return the counts of a window."""
    now = max(state.watermark, state.last_time)
    posts, report = state.counts.posts, state.derived.index.report
    decided = posts["kept"] + posts["exact"] + posts["near"]
    audit = state.live_audit.counts()
    return WindowStats(
        n_kept_in_window=state.derived.kept.n_after(now - state.timing.horizon),
        n_posts=decided,
        n_kept=posts["kept"],
        n_exact=posts["exact"],
        n_near=posts["near"],
        n_repeated_ids=posts["repeated_id"],
        n_late=posts["late"],
        n_expired=posts["expired"],
        watermark=None if state.watermark == NEVER else state.watermark,
        seconds_ahead=max(state.watermark - state.timing.now(), 0.0),
        index_bytes=state.derived.n_bytes,
        store_bytes=state.n_stored_bytes(),
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
