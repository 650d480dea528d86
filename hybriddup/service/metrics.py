"""What the service tells Prometheus: counts of the window, latencies of requests and steps, limits that were hit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from hybriddup.window import AuditCounts, WindowStats

REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
STEP_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
BATCH_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The instruments of one service, in a registry of their own."""

    def __init__(self, window_stats: Callable[[], WindowStats | None]) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(WindowCollector(window_stats))
        self.requests = Histogram(
            "hybriddup_request_seconds",
            "Time to answer requests.",
            ["route", "method", "status"],
            buckets=REQUEST_BUCKETS,
            registry=self.registry,
        )
        self.steps = Histogram(
            "hybriddup_step_seconds",
            "Time of each step, per batch of posts.",
            ["step"],
            buckets=STEP_BUCKETS,
            registry=self.registry,
        )
        self.batches = Histogram(
            "hybriddup_batch_posts",
            "Posts decided and written together.",
            buckets=BATCH_BUCKETS,
            registry=self.registry,
        )
        self.refused = Counter(
            "hybriddup_requests_refused",
            "Requests that were not done, by the error of the answer.",
            ["error"],
            registry=self.registry,
        )
        self.queue = Gauge("hybriddup_queue_posts", "Posts that wait or are being decided.", registry=self.registry)
        self.seconds: Mapping[str, float] = {}

    def batch_done(self, n_posts: int, seconds: Mapping[str, float]) -> None:
        """Note a batch: its posts, and the time by step since the window was opened."""
        self.batches.observe(n_posts)
        for step, total in seconds.items():
            if spent := total - self.seconds.get(step, 0.0):
                self.steps.labels(step.replace(" ", "_")).observe(spent)
        self.seconds = dict(seconds)


class WindowCollector(Collector):
    """Asks the window for its counts whenever Prometheus asks."""

    def __init__(self, window_stats: Callable[[], WindowStats | None]) -> None:
        self.window_stats = window_stats

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the window, those since it was opened as counters."""
        stats = self.window_stats()
        yield gauge("hybriddup_ready", "Whether the window is loaded.", float(stats is not None))
        if stats is not None:
            yield from totals_of(stats)
            yield from levels_of(stats)


def totals_of(stats: WindowStats) -> Iterator[Metric]:
    """Yield what only grows while the service runs."""
    decisions = CounterMetricFamily(
        "hybriddup_decisions", "Decisions about new posts: kept, or exact or near duplicates.",
        labels=["decision", "length_band"],
    )  # fmt: skip
    for band, counts in sorted(stats.by_band.items()):
        for decision in ("kept", "exact", "near"):
            decisions.add_metric([decision, band], counts.get(decision, 0))
    yield decisions
    yield audited_posts(stats.audit)
    limits = CounterMetricFamily("hybriddup_index_limits_hit", "Limits of the live index hit.", labels=["limit"])
    for limit, n_times in sorted(stats.limits_hit.items()):
        limits.add_metric([limit], n_times)
    yield limits
    yield CounterMetricFamily("hybriddup_posts", "Posts decided, those sent again left out.", stats.n_posts)
    yield CounterMetricFamily("hybriddup_repeated_ids", "Posts whose id had been decided before.", stats.n_repeated_ids)
    yield CounterMetricFamily("hybriddup_late_posts", "Posts older than the horizon when they came.", stats.n_late)
    yield CounterMetricFamily("hybriddup_expired_posts", "Kept posts that stopped matching.", stats.n_expired)


def audited_posts(audit: AuditCounts) -> CounterMetricFamily:
    """Return the sampled posts by what came of them."""
    posts = CounterMetricFamily(
        "hybriddup_audited_posts",
        "Posts sampled to audit the index: duplicates found, duplicates missed, unique, or skipped.",
        labels=["outcome"],
    )
    n_unique = audit.n_compared - audit.n_found - audit.n_missed
    outcomes = {"found": audit.n_found, "missed": audit.n_missed, "unique": n_unique, "skipped": audit.n_skipped}
    for outcome, n_posts in outcomes.items():
        posts.add_metric([outcome], n_posts)
    return posts


def levels_of(stats: WindowStats) -> Iterator[Metric]:
    """Yield what goes up and down."""
    yield gauge("hybriddup_window_posts", "Kept posts that may still match.", stats.n_kept_in_window)
    yield gauge("hybriddup_index_bytes", "Memory of the live index.", stats.index_bytes)
    yield gauge("hybriddup_store_bytes", "Size of the store.", stats.store_bytes)
    if stats.watermark is not None:
        yield gauge("hybriddup_watermark_seconds", "The largest time of a post, since 1970.", stats.watermark)
    if stats.estimated_recall is not None:
        yield gauge(
            "hybriddup_estimated_recall", "Share of near duplicates found, by a sample.", stats.estimated_recall
        )
    if stats.recall_interval is not None:
        low, high = stats.recall_interval
        yield gauge("hybriddup_estimated_recall_low", "Lower bound of its 95 % interval.", low)
        yield gauge("hybriddup_estimated_recall_high", "Upper bound of its 95 % interval.", high)
    yield InfoMetricFamily("hybriddup_window", "The window.", {"index": stats.index, "recipe_id": stats.recipe_id})


def gauge(name: str, help_text: str, value: float) -> GaugeMetricFamily:
    """Return a gauge without labels."""
    return GaugeMetricFamily(name, help_text, value)
