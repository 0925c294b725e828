"""Spark, with two workers on this machine, some of which are killed."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nights import EXAMPLES, Dying, Failing, bodies, expected, read, record, rows
from unstuck import PolicyError

# The workers are other processes.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = str(Path(__file__).parent)
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

from pyspark.sql import SparkSession  # noqa: E402

from unstuck import spark  # noqa: E402


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    builder = SparkSession.builder.master("local[2,4]").appName("unstuck")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_a_data_frame_of_runs_has_the_findings_of_its_runs(session: SparkSession, tmp_path: Path) -> None:
    night = record(tmp_path / "night")
    runs = session.createDataFrame(bodies(night)).repartition(4)
    assert rows(spark.scan(runs).toArrow()) == expected(night)
    tools = {"x": {"exempt": True}}
    assert rows(spark.scan(runs, "openhands").toArrow()) == expected(night, preset="openhands")
    assert rows(spark.scan(runs, tools=tools).toArrow()) == expected(night, tools=tools)


def test_killed_workers_change_nothing(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = record(tmp_path / "night")
    (tmp_path / "deaths").mkdir()
    monkeypatch.setattr(spark, "Archive", Dying)
    done = spark.archive(session, night, tmp_path / "table", partitions=8)
    assert {path.name for path in (tmp_path / "deaths").iterdir()} == {"before", "after"}
    found = read(tmp_path / "table")
    assert found == expected(night) and done == (8, 0, len(found))


def test_an_error_of_the_file_system_is_retried(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = record(tmp_path / "night")
    (tmp_path / "deaths").mkdir()
    monkeypatch.setattr(spark, "Archive", Failing)
    spark.archive(session, night, tmp_path / "table", partitions=8)
    assert (tmp_path / "deaths" / "error").exists()
    assert read(tmp_path / "table") == expected(night)


def test_a_second_job_has_nothing_to_do(session: SparkSession, tmp_path: Path) -> None:
    night = record(tmp_path / "night")
    spark.archive(session, night, tmp_path / "table", partitions=4)
    (tmp_path / "table" / "part-00002-of-00004.parquet").unlink()
    assert spark.archive(session, night, tmp_path / "table", partitions=4)[:2] == (1, 3)
    assert spark.archive(session, night, tmp_path / "table", partitions=4) == (0, 4, 0)
    assert read(tmp_path / "table") == expected(night)
    # Spark reads the folder as one table.
    table = session.read.parquet(str(tmp_path / "table"))
    assert rows(table.toArrow()) == expected(night)


def test_a_wrong_option_is_an_error_before_any_work(session: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="no preset"):
        spark.archive(session, tmp_path, tmp_path / "table", "x")


def test_without_spark_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    monkeypatch.delitem(sys.modules, "unstuck.spark")
    with pytest.raises(ModuleNotFoundError, match=r"unstuck.spark needs the package .*: pip install 'pyspark\[sql\]'"):
        importlib.import_module("unstuck.spark")


def test_the_example_of_the_readme(session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path / "night")
    # The Java virtual machine stays in the folder in which it started.
    example = dict(EXAMPLES)["Spark"].replace('parquet("findings")', f'parquet("{tmp_path}/findings")')
    exec(example, {"session": session})
    assert read(tmp_path / "findings") == expected(tmp_path / "night")
