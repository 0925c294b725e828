"""Tables of findings that are committed partition by partition, without an engine."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nights import clean, expected, read, record, rows, stuck
from unstuck import PolicyError, scan_batches
from unstuck._archives import Archive, Archived, Setup, _rows

PARTS = 8


def job(home: Path, partitions: int = PARTS, size_max: int = 1 << 20, **options: Any) -> Archive:
    setup = {"preset": "balanced", "config": None, "tools": None, "format": "auto", **options}
    return Archive.of(home / "night", home / "table", partitions, size_max, Setup.of(**setup))


def run(job: Archive, tasks: int | None = None) -> Archived:
    """Does what an engine does. Only the first ``tasks`` partitions are done if it is broken off."""
    # A worker gets the job as bytes.
    remote = pickle.loads(pickle.dumps(job))

    def engine(plan: Any) -> list[Any]:
        return [remote.commit(plan.slice(number, 1)) for number in range(plan.num_rows)[:tasks]]

    return job.run(engine)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    record(tmp_path / "night")
    return tmp_path


def test_each_run_is_there_once(home: Path) -> None:
    done = run(job(home))
    found = read(home / "table")
    assert found == expected(home / "night")
    assert done.written == PARTS and done.kept == 0 and done.rows == len(found)
    status = {row["run"]: row["status"] for row in found}
    assert status["0.jsonl"] == status["team a/é.jsonl"] == status["x"] == "stuck"
    assert status["broken.jsonl"] == status["y"] == "unread"
    assert (status["1.jsonl"], status["partly.jsonl"], status["z"]) == ("clean", "partly", "clean")
    assert "notes.txt" not in status and len(status) == 46


def test_the_table_is_that_of_the_program(home: Path) -> None:
    run(job(home))
    (home / "night" / "more.parquet").unlink()
    run(job(home))
    scanned, part = of_program(home), pq.read_table(home / "table")
    assert scanned.schema.names == part.schema.names
    assert scanned.schema.types == part.schema.types
    assert rows(scanned) == read(home / "table")


def of_program(home: Path) -> Any:
    """The table of ``unstuck scan``."""
    command = [f"{sysconfig.get_path('scripts')}/unstuck", "scan", ".", "--format", "parquet", "-o", "../scan.parquet"]
    assert subprocess.run(command, cwd=home / "night", stderr=-3).returncode in (1, 3)
    table = pq.read_table(home / "scan.parquet")
    names = [name.removeprefix("./") for name in table["run"].to_pylist()]
    return table.set_column(0, "run", pa.array(names))


def test_columns_may_have_only_nulls() -> None:
    found = pa.table(scan_batches(pa.table({"run": pa.nulls(1), "body": [stuck("now")]})))
    assert set(found["run"].to_pylist()) == {None} and set(found["rule"].to_pylist()) == {"same-effect"}
    found = pa.table(scan_batches(pa.table({"run": ["a"], "body": pa.nulls(1), "error": pa.nulls(1)})))
    assert found["error"].to_pylist() == ["its body is null"]


def test_a_broken_job_goes_on(home: Path) -> None:
    with pytest.raises(RuntimeError, match=r"partitions \[3, 4, 5, 6, 7\] are missing: run the job again"):
        run(job(home), tasks=3)
    (home / "table" / ".part-00005-of-00008.parquet.0.unfinished").write_bytes(b"half")
    # A disk that was full, or a power cut.
    (home / "table" / "part-00001-of-00008.parquet").write_bytes(b"PAR1 half")
    # A footer that is broken.
    (home / "table" / "part-00002-of-00008.parquet").write_bytes(b"PAR1" + b"\xff" * 99 + b"\x50\0\0\0PAR1")
    assert run(job(home))[:2] == (7, 1)
    assert read(home / "table") == expected(home / "night")
    assert len(list((home / "table").iterdir())) == PARTS
    assert run(job(home)) == (0, PARTS, 0)


def test_only_the_partitions_of_changed_transcripts_are_done_again(home: Path) -> None:
    run(job(home))
    before = {path: path.stat().st_mtime_ns for path in (home / "table").iterdir()}
    (home / "night" / "1.jsonl").write_text(stuck("now"))
    (home / "night" / "new.jsonl").write_text(clean(3))
    (home / "night" / "2.jsonl").unlink()
    done = run(job(home))
    assert 1 <= done.written <= 3 and done.written + done.kept == PARTS
    assert read(home / "table") == expected(home / "night")
    after = {path: path.stat().st_mtime_ns for path in (home / "table").iterdir()}
    assert sum(before[path] == after[path] for path in before) == done.kept


def test_a_partition_without_transcripts_has_no_file(home: Path) -> None:
    run(job(home, 1000))
    for path in (home / "night").glob("?.jsonl"):
        path.unlink()
    run(job(home, 1000))
    assert read(home / "table") == expected(home / "night")


def test_other_options_do_all_partitions_again(home: Path) -> None:
    run(job(home))
    assert run(job(home, preset="openhands")).written == PARTS
    assert read(home / "table") == expected(home / "night", preset="openhands")


def test_a_configuration_is_read_on_the_driver(home: Path) -> None:
    (home / "policy.toml").write_text('preset = "openhands"\n')
    setup = Setup.of("balanced", home / "policy.toml", None, "auto")
    assert setup.config == 'preset = "openhands"\n'


def test_a_large_file_is_a_row_with_the_reason(home: Path) -> None:
    run(job(home, size_max=600))
    found = {row["run"]: row for row in read(home / "table")}
    error = found["38.jsonl"]["error"]
    assert found["38.jsonl"]["status"] == "unread"
    assert "bytes, but size_max is 600: scan it with `unstuck scan`" in error
    assert found["1.jsonl"]["error"] is None


def test_a_parquet_file_that_is_no_table_of_runs_is_a_row(home: Path) -> None:
    (home / "night" / "bad.parquet").write_bytes(b"PAR1")
    pq.write_table(pa.table({"run": ["a"]}), home / "night" / "other.parquet")
    run(job(home))
    found = {row["run"]: row["error"] for row in read(home / "table")}
    assert found["bad.parquet"].startswith("cannot be read: ")
    assert found["other.parquet"] == "cannot be read: no column body"


@pytest.mark.parametrize(
    "table",
    [
        {"run": [["a"]], "body": ["x"]},
        {"run": [{"a": 1}], "body": ["x"]},
        {"run": ["a"], "body": [["x"]]},
    ],
)
def test_columns_of_odd_types_are_a_row(home: Path, table: dict[str, Any]) -> None:
    pq.write_table(pa.table(table), home / "night" / "odd.parquet")
    run(job(home))
    found = {row["run"]: row for row in read(home / "table")}
    assert found["odd.parquet"]["status"] == "unread"
    assert found["odd.parquet"]["error"].startswith("cannot be read: ")
    assert found["0.jsonl"]["status"] == "stuck"


def test_names_in_a_table_that_are_not_utf8_stay_different(home: Path) -> None:
    path = home / "names.parquet"
    names = pa.array([b"\xfe", b"\xff", None, b"\xc3\xa9"])
    # The second column says that its bytes are UTF-8.
    for column in (names, names.cast(pa.string(), safe=False)):
        pq.write_table(pa.table({"run": column, "body": ["x"] * 4}), path)
        (batch,) = _rows(b"names.parquet", pa.OSFile(str(path)))
        assert batch["run"].to_pylist() == ["\\xfe", "\\xff", None, "é"]


def test_a_broken_page_is_a_row(home: Path) -> None:
    path = home / "night" / "page.parquet"
    pq.write_table(pa.table({"run": [str(n) for n in range(2000)], "body": ["x"] * 2000}), path)
    whole = bytearray(path.read_bytes())
    whole[40:90] = b"\xff" * 50
    path.write_bytes(whole)
    with pytest.raises(OSError):
        pq.read_table(path)
    run(job(home))
    found = {row["run"]: row for row in read(home / "table")}
    assert found["page.parquet"]["status"] == "unread"
    assert found["page.parquet"]["error"].startswith("cannot be read: ")
    assert found["0.jsonl"]["status"] == "stuck"


class Flaky:
    """A Parquet file on a network that fails after some reads."""

    def __init__(self, path: Path, reads: int) -> None:
        self.file = path.open("rb")
        self.reads = reads
        self.seek = self.file.seek
        self.tell = self.file.tell
        self.close = self.file.close

    @property
    def closed(self) -> bool:
        return self.file.closed

    def read(self, size: int) -> bytes:
        self.reads -= 1
        if self.reads < 0:
            raise OSError("the network is down")
        return self.file.read(size)


def test_an_error_of_the_file_system_is_no_row(home: Path) -> None:
    reads = 0
    while True:
        try:
            batches = list(_rows(b"more.parquet", Flaky(home / "night" / "more.parquet", reads)))
        except OSError as error:
            assert str(error) == "the network is down"
            reads += 1
        else:
            break
    assert reads > 1
    assert [run for batch in batches for run in batch["run"].to_pylist()] == ["x", "y", "z"]


@pytest.mark.skipif(sys.platform != "linux", reason="the file system has only names in UTF-8")
def test_a_name_that_is_not_utf8_is_a_run(home: Path) -> None:
    for name in (b"\xfe.jsonl", b"\xff.jsonl", b"\xff.parquet"):
        (home / "night" / os.fsdecode(name)).write_text(stuck("odd"))
    run(job(home))
    found = {row["run"]: row for row in read(home / "table")}
    assert found["\\xfe.jsonl"]["status"] == found["\\xff.jsonl"]["status"] == "stuck"
    assert found["\\xff.parquet"]["error"].startswith("cannot be read: ")
    assert run(job(home)) == (0, PARTS, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_links_are_those_of_the_program(home: Path) -> None:
    night = home / "night"
    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "x.jsonl").write_text(stuck("far"))
    (night / "circle").symlink_to(night)
    (night / "elsewhere").symlink_to(home / "elsewhere")
    (night / "link.jsonl").symlink_to(home / "elsewhere" / "x.jsonl")
    (night / "nowhere.jsonl").symlink_to(night / "nothing")
    (night / "self.jsonl").symlink_to("self.jsonl")
    os.mkfifo(night / "pipe.jsonl")
    (night / "more.parquet").unlink()
    run(job(home))
    found = {row["run"]: row["status"] for row in read(home / "table")}
    assert found == {row["run"]: row["status"] for row in of_program(home).to_pylist()}
    assert found["link.jsonl"] == "stuck"
    assert found["nowhere.jsonl"] == found["self.jsonl"] == "unread"


@pytest.mark.parametrize("table", ["night", "night/table", "night/a/b", "link", "link/table", "file"])
def test_a_table_among_the_transcripts_is_an_error(home: Path, table: str) -> None:
    (home / "link").symlink_to(home / "night")
    target = f"file://{home}/night/table" if table == "file" else home / table
    nested = Archive.of(home / "night", target, 1, 1 << 20, Setup.of("balanced", None, None, "auto"))
    with pytest.raises(ValueError, match="in the folder of the transcripts, .*: pass another folder for the table"):
        run(nested)
    assert not (home / "night" / "table").exists()


def test_a_table_beside_the_transcripts_is_fine(home: Path) -> None:
    beside = Archive.of(home / "night", home / "night-table", 1, 1 << 20, Setup.of("balanced", None, None, "auto"))
    assert run(beside).written == 1


def test_a_file_that_vanishes_is_a_row(home: Path) -> None:
    archive = job(home)

    def engine(plan: Any) -> list[Any]:
        (home / "night" / "1.jsonl").unlink()
        return [archive.commit(plan)]

    archive.run(engine)
    found = {row["run"]: row["status"] for row in read(home / "table")}
    assert found["1.jsonl"] == "unread"


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"partitions": 0}, ValueError, "partitions: expected 1 to 99999, not 0"),
        ({"size_max": 1 << 31}, ValueError, "size_max: expected 1 byte to 2 GiB"),
        ({"preset": "x"}, PolicyError, "no preset"),
        ({"format": "x"}, ValueError, "x"),
    ],
)
def test_a_wrong_option_is_an_error_on_the_driver(home: Path, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        job(home, **options)


def test_a_wrong_folder_is_an_error(home: Path) -> None:
    run(job(home))
    with pytest.raises(ValueError, match="has a table of 8 partitions: pass partitions=8, or another folder"):
        run(job(home, 9))
    (home / "empty").mkdir()
    empty = Archive.of(home / "empty", home / "other", 1, 1, Setup.of("balanced", None, None, "auto"))
    with pytest.raises(FileNotFoundError, match="no transcript in this folder"):
        run(empty)


def test_an_older_worker_is_an_error(home: Path) -> None:
    older = Archive(**{**vars(job(home)), "version": "0.0.1"})
    with pytest.raises(RuntimeError, match="install 0.0.1"):
        run(older)
