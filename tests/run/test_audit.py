"""The audit: an estimate of what stage 1 missed, from a sample of the kept posts."""

import numpy as np
import pytest

import hybriddup
from hybriddup.data.records import Bools, CandidatePairs, VerifiedPairs
from hybriddup.kernels.search.pair_limits import TextColumns, text_columns
from hybriddup.run import audit
from hybriddup.run.audit import Estimate, Stratum
from hybriddup.steps.deciding.contest import Verify
from tests.builders import make_limits, words_of
from tests.posts import load_sample


def accept_all(pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
    ones, zeros = np.ones(len(pairs)), np.zeros(len(pairs), np.int32)
    verified = VerifiedPairs(pairs.earlier, pairs.later, pairs.hamming_distances, ones, ones, zeros, zeros)
    return ones.astype(np.bool_), verified


def refuse_all(pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
    none = np.zeros(len(pairs), np.bool_)
    return none, accept_all(pairs)[1].take(none)


def refuse_and_count(asked: list[int]) -> Verify:
    """`refuse_all`, which notes how many pairs it was given each time."""

    def count(pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        asked.append(len(pairs))
        return refuse_all(pairs)

    return count


def columns_of(numbers: list[int], words: int) -> TextColumns:
    """Texts with these fingerprints, matching within 36 bits."""
    limits = make_limits(len(numbers), max_hamming_distances=36)
    return text_columns(words_of(numbers, words), limits)


def estimate_all(
    columns: TextColumns, n_removed: int, verify: Verify, sample: int, workers: int = 1
) -> Estimate | None:
    """The estimate where all of these texts were kept."""
    of_texts = audit.Audit(columns, np.arange(len(columns.bits)), n_removed, lambda _: verify, sample)
    return of_texts.estimate(verify, workers)


def kept_with_missed(n: int, n_missed: int) -> TextColumns:
    """Kept posts far apart, of which some, spread over all of them, are copies of the post before.

    With 512 bits, no two random fingerprints come within three eighths of them.
    """
    rng = np.random.default_rng(n)
    numbers = [int.from_bytes(rng.bytes(64), "little") for _ in range(n)]
    for copy in rng.choice(np.arange(1, n), n_missed, replace=False).tolist():
        numbers[copy] = numbers[copy - 1]
    return columns_of(numbers, 8)


@pytest.mark.parametrize(
    ("kept", "n_removed", "verify", "expected"),
    [
        (kept_with_missed(200, 10), 30, accept_all, (0.75, 0.0)),
        (kept_with_missed(50, 0), 5, accept_all, (1.0, 0.0)),
        (kept_with_missed(50, 10), 5, refuse_all, (1.0, 0.0)),
        (kept_with_missed(50, 0), 0, accept_all, None),
        (columns_of([], 2), 3, accept_all, (1.0, 0.0)),
    ],
    ids=["ten missed", "none missed", "refused by the verifier", "nothing to give a share of", "nothing kept"],
)
def test_recall_is_removed_among_removed_and_missed(
    kept: TextColumns, n_removed: int, verify: Verify, expected: tuple[float, float] | None
) -> None:
    assert estimate_all(kept, n_removed, verify, sample=1000) == expected


@pytest.mark.parametrize("workers", [1, 2])
def test_sample_estimates_the_whole_within_its_margin(workers: int) -> None:
    estimate = estimate_all(kept_with_missed(2000, 200), 200, accept_all, sample=400, workers=workers)
    assert abs(estimate.share - 0.5) <= estimate.margin < 0.1


def test_margin_stays_honest_when_nothing_is_found_in_a_sample() -> None:
    estimate = audit.recall_of(100_000, [Stratum(1_000_000, 0, 3000)])
    assert estimate.share == 1.0
    assert 0.005 < estimate.margin < 0.03


def test_posts_with_common_keys_are_in_the_sample() -> None:
    kept, has_common = np.arange(0, 20_000, 2), np.zeros(20_000, np.bool_)
    has_common[[40, 4000, 14_000]] = True
    (common, n_common), (others, n_others) = audit.parts_of_sample(kept, has_common, 3000)
    assert (common.tolist(), n_common, len(others), n_others) == ([40, 4000, 14_000], 3, 9997, 2997)
    has_common[:8000] = True
    [(part, n)] = audit.parts_of_sample(kept, has_common, 3000)
    assert (n, part[:4001].tolist()) == (3000, [*range(0, 8000, 2), 14_000])
    assert [(part.tolist(), n) for part, n in audit.parts_of_sample(kept, None, 10)] == [(kept.tolist(), 10)]


def test_strata_are_weighed_by_what_they_represent() -> None:
    estimate, exact = (audit.recall_of(150, [Stratum(1000, n // 10, n), Stratum(100, 50, 100)]) for n in (200, 1000))
    assert estimate.share == exact.share == 0.5
    assert estimate.margin > exact.margin == 0.0


def test_limits_are_widened_where_near_repeats_are_looked_for() -> None:
    limits = np.array([-1, 3, 63], np.int32)
    assert audit.widened(limits, 128).tolist() == [-1, 48, 63 + audit.WIDER_BY]
    assert audit.widened(limits, 64).tolist() == [-1, 24, 64]


def test_only_kept_posts_are_compared() -> None:
    columns, kept = columns_of([5, 5, 2**100 - 1, 2**100 - 1], 2), np.array([0, 3])
    of_kept = audit.Audit(columns, kept, 2, lambda _: accept_all, sample=10)
    assert of_kept.estimate(accept_all, workers=1) == (1.0, 0.0)


@pytest.mark.parametrize("distance", [3, 8, 16])
def test_limit_that_is_too_narrow_is_seen(distance: int) -> None:
    """The estimate is of what the rule by text would remove, not of what the run's own limit lets through."""

    def run(max_hamming_distance: int) -> hybriddup.Result:
        verifier = {"use": "edit", "threshold": 0.8}
        band = {"max_hamming_distance": max_hamming_distance, "verifier": verifier}
        return hybriddup.dedupe(load_sample("posts.jsonl"), config={"lengths": [band]})

    narrow, wide = run(distance), run(64)
    measured = len(narrow.removed) / len(wide.removed)
    assert measured < 0.9
    assert narrow.summary.estimated_stage1_recall == pytest.approx(measured, abs=0.05)


def test_sample_shrinks_where_many_pairs_come_up() -> None:
    rng = np.random.default_rng(5)
    numbers = [int(number) for number in rng.integers(0, 2**20, 3000)]
    asked = list[int]()
    estimate = estimate_all(columns_of(numbers, 2), 100, refuse_and_count(asked), sample=3000)
    assert sum(asked) < 2 * audit.MAX_PAIRS
    assert estimate.margin > 0.0


def test_fewer_posts_are_audited_if_they_are_long() -> None:
    rng = np.random.default_rng(6)
    numbers, length = [int(number) for number in rng.integers(0, 2**20, 100)], 100_000
    limits = make_limits(len(numbers), max_hamming_distances=36, lengths=length)
    columns, asked = text_columns(words_of(numbers, 2), limits), list[int]()
    estimate = estimate_all(columns, 100, refuse_and_count(asked), sample=100)
    assert sum(asked) * 2 * length < 2 * audit.MAX_PAIRS * audit.CHARACTERS_PER_PAIR
    assert estimate.margin > 0.0


def test_run_without_an_audit_has_no_estimate() -> None:
    summary = hybriddup.dedupe(["早上好各位", "早上好各位"], config={"audit": {"sample": 0}}).summary
    assert (summary.estimated_stage1_recall, summary.estimated_stage1_recall_margin) == (None, None)


def test_estimate_sees_what_the_keys_miss() -> None:
    rng = np.random.default_rng(11)
    letters = list("的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学")
    originals = ["".join(rng.choice(letters, 30)) for _ in range(600)]
    copies = [text[:5] + "好" + text[6:20] + "吗" + text[21:] for text in originals[:300]]
    blocks = [{"use": "shingles", "n_shingles": 1}, {"use": "scan"}]
    few, all_of_them = (hybriddup.dedupe(originals + copies, config={"blocks": block}) for block in blocks)
    measured = len(few.removed) / len(all_of_them.removed)
    assert measured < 0.9
    assert few.summary.estimated_stage1_recall == pytest.approx(measured, abs=0.01)


def test_misses_among_posts_with_a_common_key_are_seen() -> None:
    """Of 4,000 posts 150 begin alike, and are not found, because only the newest post of a key is looked at."""
    rng = np.random.default_rng(8)
    words = ["".join(map(chr, some)) for some in rng.integers(0x4E00, 0x9F00, (4000, 24)).tolist()]
    common = [f"{words[0] + words[1]}{word[:16]}" for word in words[2:152]]
    posts = [*common, *words[152:], *(f"{post}!" for post in common[:60] + words[200:300])]
    band = {"max_hamming_distance": 48, "verifier": {"use": "edit", "threshold": 0.9}}
    blocks = {"n_shingles": 1, "n_dense_shingles": 1, "max_bucket_size": 1, "common_in": 1000}
    config = {"compare": "all", "normalizer": {"use": "none"}, "must_agree": [], "lengths": [band], "blocks": blocks}

    def estimate(sample: int) -> tuple[int, float, float]:
        result = hybriddup.dedupe(posts, config={**config, "audit": {"sample": sample}})
        summary = result.summary
        return len(result.removed), summary.estimated_stage1_recall, summary.estimated_stage1_recall_margin

    n_removed, recall, _ = estimate(100_000)
    _, share, margin = estimate(400)
    assert n_removed < 100
    assert recall == n_removed / 160
    assert abs(share - recall) <= margin < 0.2
