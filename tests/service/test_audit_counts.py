"""What the service tells of the audit of its window: in `/v1/stats` and to Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from hybriddup.service.metrics import WindowCollector
from hybriddup.window import AuditCounts, WindowStats

NONE = WindowStats(0, 0, 0, 0, 0, 0, 0, 0, None, 0, 0, "scan")
SOME = WindowStats(
    0, 0, 0, 0, 0, 0, 0, 0, None, 0, 0, "scan",
    estimated_recall=0.9, recall_interval=(0.6, 0.98), audit=AuditCounts(50, 9, 1, 3),
)  # fmt: skip


def samples_of(stats: WindowStats) -> dict[tuple[str, ...], float]:
    """The values that Prometheus gets, by name and labels."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(WindowCollector(lambda: stats))
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }


def test_estimate_comes_with_its_interval_and_counts() -> None:
    """Every sampled post is in one of the outcomes."""
    samples = samples_of(SOME)
    assert samples["hybriddup_estimated_recall",] == 0.9
    assert samples["hybriddup_estimated_recall_low",] == 0.6
    assert samples["hybriddup_estimated_recall_high",] == 0.98
    outcomes = {"found": 9, "missed": 1, "unique": 40, "skipped": 3}
    assert {outcome: samples["hybriddup_audited_posts_total", outcome] for outcome in outcomes} == outcomes


def test_without_duplicates_there_is_no_estimate() -> None:
    """The counters are there all the same."""
    samples = samples_of(NONE)
    assert ("hybriddup_estimated_recall",) not in samples
    assert samples["hybriddup_audited_posts_total", "found"] == 0
