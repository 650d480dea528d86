"""Prometheus metrics of the service: counts of the window, latencies of requests and steps, limits that were hit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from hybriddup.window import AuditCounts, WindowStats

REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
STEP_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
BATCH_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
COUNTERS = (
    ("hybriddup_posts", "Posts decided, without repeated ids.", "n_posts"),
    ("hybriddup_repeated_ids", "Posts whose id had been decided before.", "n_repeated_ids"),
    ("hybriddup_late_posts", "Posts that were older than the horizon on arrival.", "n_late"),
    ("hybriddup_expired_posts", "Kept posts that stopped matching.", "n_expired"),
    ("hybriddup_deleted_posts", "Posts that were deleted.", "n_deleted"),
)
"""Prometheus counters, each with a name, a help text and a field of `WindowStats`."""
GAUGES = (
    ("hybriddup_window_posts", "Kept posts that may still match.", "n_kept_in_window"),
    ("hybriddup_index_bytes", "Memory of the live index.", "index_bytes"),
    ("hybriddup_store_bytes", "Size of the store.", "store_bytes"),
    ("hybriddup_watermark_seconds", "Time of the window, in seconds since 1970.", "watermark"),
    ("hybriddup_watermark_ahead_seconds", "Time by which the watermark is ahead of the clock.", "seconds_ahead"),
    ("hybriddup_estimated_recall", "Share of near duplicates found, estimated from a sample.", "estimated_recall"),
)
"""Prometheus gauges, each with a name, a help text and a field of `WindowStats`; omitted if the value is None."""


class Metrics:
    """The metrics of one service, in a separate registry."""

    def __init__(self, window_stats: Callable[[], WindowStats | None]) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=False)
        registry.register(WindowCollector(window_stats))
        for of_process in (ProcessCollector, PlatformCollector, GCCollector):
            of_process(registry=registry)

        def histogram(name: str, text: str, labels: Sequence[str], buckets: Sequence[float]) -> Histogram:
            return Histogram(f"hybriddup_{name}", text, labels, buckets=buckets, registry=registry)

        of_request = ["route", "method", "status"]
        self.requests = histogram("request_seconds", "Time to answer requests.", of_request, REQUEST_BUCKETS)
        self.steps = histogram("step_seconds", "Time of each step, per batch of posts.", ["step"], STEP_BUCKETS)
        self.batches = histogram("batch_posts", "Posts decided and written together.", [], BATCH_BUCKETS)
        self.refused = Counter(
            "hybriddup_requests_refused", "Requests refused, by kind of error.", ["error"], registry=registry
        )
        self.queue = Gauge("hybriddup_queue_posts", "Posts that wait or are being decided.", registry=registry)
        self.seconds: Mapping[str, float] = {}

    def batch_done(self, n_posts: int, seconds: Mapping[str, float]) -> None:
        """Record the number of posts in a batch, and the time that each step took for the batch.

        ``seconds`` maps each step to its total time since the window was opened; the total at the last call is
        subtracted.
        """
        self.batches.observe(n_posts)
        for step, total in seconds.items():
            if spent := total - self.seconds.get(step, 0.0):
                self.steps.labels(step.replace(" ", "_")).observe(spent)
        self.seconds = dict(seconds)


class WindowCollector(Collector):
    """Converts the window's counts to metrics, each time that Prometheus reads them."""

    def __init__(self, window_stats: Callable[[], WindowStats | None]) -> None:
        self.window_stats = window_stats

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the window."""
        stats = self.window_stats()
        yield GaugeMetricFamily("hybriddup_ready", "Whether the window is loaded.", float(stats is not None))
        if stats is None:
            return
        for name, text, field in COUNTERS:
            yield CounterMetricFamily(name, text, getattr(stats, field))
        decisions = {
            (decision, band): counts.get(decision, 0)
            for band, counts in sorted(stats.by_band.items())
            for decision in ("kept", "exact", "near")
        }
        kinds = "Decisions about new posts: kept, or exact or near duplicates."
        yield labeled("hybriddup_decisions", kinds, ["decision", "length_band"], decisions)
        limits = {(limit,): n_times for limit, n_times in sorted(stats.limits_hit.items())}
        yield labeled("hybriddup_index_limits_hit", "Limits of the live index hit.", ["limit"], limits)
        yield audited_posts(stats.audit)
        for name, text, field in GAUGES:
            if (value := getattr(stats, field)) is not None:
                yield GaugeMetricFamily(name, text, value)
        if stats.recall_interval is not None:
            low, high = stats.recall_interval
            yield GaugeMetricFamily("hybriddup_estimated_recall_low", "Lower bound of its 95 % interval.", low)
            yield GaugeMetricFamily("hybriddup_estimated_recall_high", "Upper bound of its 95 % interval.", high)
        yield InfoMetricFamily("hybriddup_window", "The window.", {"index": stats.index, "recipe_id": stats.recipe_id})


def audited_posts(audit: AuditCounts) -> CounterMetricFamily:
    """Return the counter of audited posts by outcome."""
    n_unique = audit.n_compared - audit.n_found - audit.n_missed
    outcomes = {"found": audit.n_found, "missed": audit.n_missed, "unique": n_unique, "skipped": audit.n_skipped}
    text = "Posts sampled to audit the index: duplicates found, duplicates missed, unique, or skipped."
    return labeled("hybriddup_audited_posts", text, ["outcome"], {(name,): n for name, n in outcomes.items()})


def labeled(name: str, text: str, labels: list[str], counts: Mapping[Any, int]) -> CounterMetricFamily:
    """Return a counter metric with a value for each tuple of label values."""
    counter = CounterMetricFamily(name, text, labels=labels)
    for values, n in counts.items():
        counter.add_metric(values, n)
    return counter
