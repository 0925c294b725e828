"""Scans archives of recorded runs on Ray. The workers need the packages ``unstuck`` and ``pyarrow``."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

try:
    import ray.data
    from ray.data import Dataset

    from ._archives import Archive, Archived, Setup
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError(
        f"unstuck.ray needs the package {_missing.name}: pip install 'ray[data]'", name=_missing.name
    ) from _missing

__all__ = ["Archived", "archive", "scan"]


def scan(
    runs: Dataset,
    preset: str = "balanced",
    *,
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    tools: Mapping[str, Any] | None = None,
    format: str = "auto",
) -> Dataset:
    """Finds the loops in recorded runs that are the rows of a dataset, with ``run`` and ``body``.

    Takes the options of ``unstuck.scan_batches`` and returns a dataset with its columns.

    >>> findings = scan(ray.data.read_parquet("night.parquet"))  # doctest: +SKIP
    """
    setup = Setup.of(preset, config, tools, format)
    return runs.map_batches(setup.table, batch_format="pyarrow", batch_size=None, zero_copy_batch=True)


def archive(
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

    >>> archive("s3://agents/night", "s3://agents/findings")  # doctest: +SKIP
    """
    job = Archive.of(folder, table, partitions, size_max, Setup.of(preset, config, tools, format))

    def engine(plan: Any) -> list[Any]:
        # One task for each partition.
        tasks = ray.data.from_arrow([plan.slice(number, 1) for number in range(plan.num_rows)])
        # As on Spark, a task has four attempts. By default, Ray retries for ever if a worker dies, and never after
        # an exception.
        done = tasks.map_batches(
            job.commit, batch_format="pyarrow", batch_size=1, retry_exceptions=True, max_retries=3
        )
        return list(done.iter_batches(batch_format="pyarrow", batch_size=None))

    return job.run(engine)
