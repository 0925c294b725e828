"""DuckDB: `scan_batches` over its relations, and the table of the program."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from nights import EXAMPLES, bodies, expected, record, rows
from unstuck import scan_batches


def test_a_relation_of_runs_has_the_findings_of_its_runs(tmp_path: Path) -> None:
    night = record(tmp_path / "night")
    runs = bodies(night)
    assert rows(pa.table(scan_batches(duckdb.from_arrow(runs)))) == expected(night)
    reader = duckdb.from_arrow(runs).to_arrow_reader(7)
    assert rows(pa.table(scan_batches(reader))) == expected(night)


def test_files_are_read_by_duckdb(tmp_path: Path) -> None:
    night = record(tmp_path / "night")
    (night / "more.parquet").unlink()
    runs = duckdb.sql(
        f"SELECT filename[{len(str(night)) + 2}:] AS run, content AS body FROM read_blob('{night}/**/*.jsonl')"
    )
    assert rows(pa.table(scan_batches(runs.to_arrow_reader(16)))) == expected(night)


def test_the_example_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path / "night")
    exec(dict(EXAMPLES)["DuckDB"], {})
    assert "same-effect" in capsys.readouterr().out
