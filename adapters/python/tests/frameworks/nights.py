"""The parts that the tests of archives share: a folder of transcripts, its findings, and workers that die."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from unstuck import scan_batches
from unstuck._archives import Archive

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
ARCHIVES = re.search(r"^## Archives\n(.*?)^## ", TEXT, re.M | re.S)
assert ARCHIVES is not None
EXAMPLES = re.findall(r"^### (\w+).*?\n```python\n(.*?)^```", ARCHIVES[1], re.M | re.S)

CALL = '{"type":"call","tool":"%s","args":{"path":"%s"},"result":"%s","is_error":%s}\n'


def stuck(tool: str, calls: int = 6) -> str:
    return CALL % (tool, "a", "no such file", "true") * calls


def clean(calls: int) -> str:
    return "".join(CALL % ("read", number, number, "false") for number in range(calls))


def record(folder: Path, runs: int = 40) -> Path:
    """Writes transcripts: good ones, stuck ones, a broken one, one in a folder below, and a table of some more."""
    (folder / "team a").mkdir(parents=True)
    for number in range(runs):
        text = stuck(f"tool{number}") if number % 3 == 0 else clean(number + 1)
        (folder / f"{number}.jsonl").write_text(text)
    (folder / "team a" / "é.jsonl").write_text(stuck("é"))
    (folder / "broken.jsonl").write_text("not a run")
    (folder / "partly.jsonl").write_text(clean(3) + "{broken\n")
    (folder / "notes.txt").write_text("not a transcript")
    table = {"run": ["x", "y", "z"], "body": [stuck("x").encode(), None, clean(2).encode()]}
    pq.write_table(pa.table(table), folder / "more.parquet")
    return folder


def bodies(folder: Path) -> Any:
    """The transcripts of a folder as a table."""
    runs, texts = [], []
    for path in sorted(folder.rglob("*.jsonl")):
        runs.append(path.relative_to(folder).as_posix())
        texts.append(path.read_bytes())
    files = pa.table({"run": runs, "body": pa.array(texts, pa.binary())})
    tables = [pq.read_table(path) for path in folder.rglob("*.parquet")]
    return pa.concat_tables([files, *tables])


def expected(folder: Path, **options: Any) -> list[dict[str, Any]]:
    """The rows of all runs, each by itself, in the order of the runs."""
    runs = bodies(folder)
    of_run = [pa.table(scan_batches(runs.slice(n, 1), **options)).to_pylist() for n in range(runs.num_rows)]
    return sorted((row for rows in of_run for row in rows), key=lambda row: row["run"])


def rows(table: Any) -> list[dict[str, Any]]:
    """The rows of a table in the order of the runs, and within a run as they come."""
    return sorted(table.to_pylist(), key=lambda row: row["run"])


def read(folder: Path) -> list[dict[str, Any]]:
    """The rows of a table in a folder."""
    return rows(ds.dataset(folder, format="parquet").to_table())


class Dying(Archive):
    """An archive whose workers die once after a commit and once before one, when the folder `deaths` exists."""

    def commit(self, tasks: Any) -> Any:
        self._die("before")
        done = super().commit(tasks)
        self._die("after")
        return done

    def _die(self, when: str) -> None:
        try:
            (Path(self.target).parent / "deaths" / when).touch(exist_ok=False)
        except (FileExistsError, FileNotFoundError):
            return
        os.kill(os.getpid(), signal.SIGKILL)


class Failing(Archive):
    """An archive whose file system fails once."""

    def commit(self, tasks: Any) -> Any:
        try:
            (Path(self.target).parent / "deaths" / "error").touch(exist_ok=False)
        except FileExistsError:
            return super().commit(tasks)
        raise OSError("the network is down")
