"""Polars: `scan_batches` over its frames, lazy ones as well."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars
import pytest
from unstuck import scan, scan_batches

README = Path(__file__).parents[2] / "README.md"
EXAMPLE = re.search(r"^### Polars\n\n```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
STUCK = b'{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule","is_error":true}\n' * 6
CLEAN = b'{"type":"call","tool":"ls","args":{},"result":"a"}\n'


def frame() -> polars.DataFrame:
    return polars.DataFrame({"run": ["a", "b", "c"], "body": [STUCK, CLEAN, b"not a run"]})


def test_a_frame_of_runs_has_the_findings_of_its_runs() -> None:
    found = polars.DataFrame(scan_batches(frame()))
    (run,) = scan(STUCK)
    stuck = found.filter(polars.col("run") == "a")
    assert stuck["finding_id"].to_list() == [one.id for one in run.findings]
    assert stuck["calls"].to_list() == [one.calls for one in run.findings]
    assert found["status"].to_list()[-2:] == ["clean", "unread"]


def test_a_lazy_frame_is_mapped_by_the_same_function() -> None:
    eager = polars.DataFrame(scan_batches(frame()))

    def scanned(runs: polars.DataFrame) -> polars.DataFrame:
        return polars.DataFrame(scan_batches(runs))

    lazy = frame().lazy().map_batches(scanned, schema=eager.schema, streamable=True)
    assert lazy.collect().equals(eager)
    assert lazy.filter(polars.col("status") == "stuck").select("rule").collect().height == eager["rule"].count()


def test_text_is_a_body_as_well() -> None:
    texts: Any = frame().with_columns(polars.col("body").cast(polars.String))
    assert polars.DataFrame(scan_batches(texts)).equals(polars.DataFrame(scan_batches(frame())))


def test_the_example_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "night").mkdir()
    (tmp_path / "night" / "a.jsonl").write_bytes(STUCK)
    assert EXAMPLE is not None
    exec(EXAMPLE[1], {})
    assert "same-effect" in capsys.readouterr().out
