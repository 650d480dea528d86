"""hybriddup plugin: the batch run on Apache Spark. It removes the same posts for the same keepers as on one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hybriddup

if TYPE_CHECKING:
    import typer

    from hybriddup_spark.result import SparkResult
    from hybriddup_spark.running import dedupe

__all__ = ["SparkResult", "dedupe"]


@hybriddup.hookimpl
def hybriddup_add_commands(app: typer.Typer) -> None:
    """Add ``hybriddup spark``, which imports Spark only when it runs."""
    from hybriddup_spark.command import spark

    app.add_typer(spark, name="spark")


def __getattr__(name: str) -> Any:
    if name in __all__:
        from hybriddup_spark import running

        return getattr(running, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
