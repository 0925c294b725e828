"""Ray on one node with two workers, some of which are killed."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nights import EXAMPLES, Dying, Failing, bodies, expected, read, record, rows
from unstuck import PolicyError

# The workers are other processes.
os.environ["PYTHONPATH"] = str(Path(__file__).parent)
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Without clusters, its servers listen on the loopback interface only. The name tells where that is the default.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

import pyarrow as pa  # noqa: E402
import ray as engine  # noqa: E402

from unstuck import ray  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    engine.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 << 20,
        logging_level="ERROR",
    )
    yield
    engine.shutdown()


def table(dataset: Any) -> Any:
    return pa.concat_tables(dataset.iter_batches(batch_format="pyarrow", batch_size=None))


def test_a_dataset_of_runs_has_the_findings_of_its_runs(tmp_path: Path) -> None:
    night = record(tmp_path / "night")
    runs = engine.data.from_arrow(bodies(night)).repartition(4)
    assert rows(table(ray.scan(runs))) == expected(night)
    tools = {"x": {"exempt": True}}
    assert rows(table(ray.scan(runs, tools=tools))) == expected(night, tools=tools)


def test_killed_workers_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night = record(tmp_path / "night")
    (tmp_path / "deaths").mkdir()
    monkeypatch.setattr(ray, "Archive", Dying)
    done = ray.archive(night, tmp_path / "table", partitions=8)
    assert {path.name for path in (tmp_path / "deaths").iterdir()} == {"before", "after"}
    found = read(tmp_path / "table")
    assert found == expected(night) and done == (8, 0, len(found))


def test_an_error_of_the_file_system_is_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night = record(tmp_path / "night")
    (tmp_path / "deaths").mkdir()
    monkeypatch.setattr(ray, "Archive", Failing)
    ray.archive(night, tmp_path / "table", partitions=8)
    assert (tmp_path / "deaths" / "error").exists()
    assert read(tmp_path / "table") == expected(night)


def test_a_second_job_has_nothing_to_do(tmp_path: Path) -> None:
    night = record(tmp_path / "night")
    ray.archive(night, tmp_path / "table", partitions=4)
    (tmp_path / "table" / "part-00002-of-00004.parquet").unlink()
    assert ray.archive(night, tmp_path / "table", partitions=4)[:2] == (1, 3)
    assert ray.archive(night, tmp_path / "table", partitions=4) == (0, 4, 0)
    assert read(tmp_path / "table") == expected(night)


def test_a_wrong_option_is_an_error_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="no preset"):
        ray.archive(tmp_path, tmp_path / "table", "x")


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.data", None)
    monkeypatch.delitem(sys.modules, "unstuck.ray")
    with pytest.raises(ModuleNotFoundError, match=r"unstuck.ray needs the package .*: pip install 'ray\[data\]'"):
        importlib.import_module("unstuck.ray")


def test_the_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path / "night")
    exec(dict(EXAMPLES)["Ray"], {})
    assert read(tmp_path / "findings") == expected(tmp_path / "night")
