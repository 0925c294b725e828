"""Scans archives of recorded runs on Apache Spark. The workers need ``unstuck``, ``pandas`` and ``pyarrow``."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

try:
    from pyspark.sql import DataFrame, SparkSession

    from ._archives import DDL, Archive, Archived, Setup
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError(
        f"unstuck.spark needs the package {_missing.name}: pip install 'pyspark[sql]'", name=_missing.name
    ) from _missing

__all__ = ["Archived", "archive", "scan"]


def scan(
    runs: DataFrame,
    preset: str = "balanced",
    *,
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    tools: Mapping[str, Any] | None = None,
    format: str = "auto",
) -> DataFrame:
    """Finds the loops in recorded runs that are the rows of a data frame, with ``run`` and ``body``.

    Takes the options of ``unstuck.scan_batches`` and returns a data frame with its columns. Spark keeps the bodies
    of a batch in memory, so ``spark.sql.execution.arrow.maxRecordsPerBatch`` should be small.

    >>> findings = scan(session.read.parquet("night.parquet"))  # doctest: +SKIP
    """
    setup = Setup.of(preset, config, tools, format)
    return runs.select("run", "body").mapInArrow(setup.batches, DDL)


def archive(
    session: SparkSession,
    folder: str | PathLike[str],
    table: str | PathLike[str],
    preset: str = "balanced",
    *,
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    tools: Mapping[str, Any] | None = None,
    format: str = "auto",
    partitions: int = 64,
    size_max: int = 256 << 20,
) -> Archived:
    """Finds the loops in the transcripts of a folder, and writes the table of findings to another folder.

    Both are paths or URIs that ``pyarrow.fs`` can open on the driver and on the workers. If a job was interrupted,
    start it again: it continues where it ended. A file of more than ``size_max`` bytes is a row with an error.

    >>> archive(session, "s3://agents/night", "s3://agents/findings")  # doctest: +SKIP
    """
    job = Archive.of(folder, table, partitions, size_max, Setup.of(preset, config, tools, format))

    def engine(plan: Any) -> list[Any]:
        # One task for each partition.
        tasks = session.createDataFrame(plan).repartition(plan.num_rows)
        return [tasks.mapInArrow(job.commit_batches, "number int, rows bigint").toArrow()]

    return job.run(engine)
