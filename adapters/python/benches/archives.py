"""Measures engines over an archive of transcripts on this machine, and compares their tables with the table of `scan`.

    archives.py make FOLDER GIGABYTES SOURCES…    writes an archive that varies these recorded runs
    archives.py measure FOLDER OUTPUT UNSTUCK     prints the figures, `figure<TAB>what<TAB>value` a line

The other commands do the work that `measure` measures, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PARTITIONS = 64

# The disk space in bytes that the tables and the logs of the engines need beside the archive.
SPARE = 3e9

# The files that are no transcripts beside those that are.
LISTS = ("labels.jsonl", "expected.jsonl")

# The identifiers of a run, which are varied so that no two runs are equal.
IDS = re.compile(rb"(toolu_|call_|chatcmpl-|msg_|(?<=[^0-9a-f])[0-9a-f]{8}-(?=[0-9a-f]{4}-))")


# The archive


def make(folder: str, gigabytes: str, *sources: str) -> None:
    """Writes transcripts of the sizes that sessions have: half of them below 350 KB, one of a hundred above 3 MB.

    The share of each format is its share of the recorded runs.
    """
    target, left = Path(folder), float(gigabytes) * 1e9
    target.mkdir(parents=True)
    free = shutil.disk_usage(target).free
    if left + SPARE > free:
        raise SystemExit(f"{(left + SPARE) / 1e9:.0f} GB are needed, but {free / 1e9:.0f} GB are free: make less")
    kinds: dict[tuple[Path, str], list[list[bytes]]] = {}
    for path in sorted(file for source in sources for file in Path(source).rglob("*.json*")):
        if path.name not in LISTS and not path.parent.name.startswith("hooks"):
            text = IDS.sub(rb"\1\0", path.read_bytes())
            # Only JSON Lines can be continued with the lines of another run.
            kinds.setdefault((path.parent, path.suffix), []).append(text.split(b"\0"))
    chance, number = random.Random(24), 0
    weights = [sum(len(b"".join(parts)) for parts in runs) for runs in kinds.values()]
    while left > 0:
        [((_, suffix), runs)] = chance.choices(list(kinds.items()), weights)
        size, pieces = chance.lognormvariate(11.9, 1.4), []
        while not pieces or (size > 0 and suffix == ".jsonl"):
            parts = chance.choice(runs)
            pieces.append(f"{number:08x}{len(pieces):04x}".encode().join(parts))
            size -= len(pieces[-1])
        file = target / f"{number % 256:02x}" / f"{number:08x}{suffix}"
        file.parent.mkdir(exist_ok=True)
        left -= file.write_bytes(b"".join(pieces))
        number += 1
    print(number)


# The engines


def spark(folder: str, output: str) -> None:
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    from unstuck import spark

    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    started()
    spark.archive(session, folder, output, partitions=PARTITIONS)
    session.stop()


def ray(folder: str, output: str) -> None:
    # Without clusters, its servers listen on the loopback interface only.
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")
    import ray

    from unstuck.ray import archive

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 << 20,
        logging_level="ERROR",
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    started()
    archive(folder, output, partitions=PARTITIONS)
    ray.shutdown()


def duckdb(folder: str, output: str) -> None:
    import duckdb

    from unstuck import scan_batches

    started()
    duckdb.sql("SET threads = 2")
    # One query for each folder below, because a query keeps the files of a batch in memory.
    tables = []
    for below in sorted(Path(folder).iterdir()):
        runs = duckdb.sql(
            f"SELECT filename[{len(folder) + 2}:] AS run, content AS body FROM read_blob('{below}/*')"
        )
        tables.append(pa.table(scan_batches(runs.to_arrow_reader(16))))
    write(pa.concat_tables(tables), output)


def polars(folder: str, output: str) -> None:
    import polars

    from unstuck import scan_batches

    started()
    frames = []
    for below in sorted(Path(folder).iterdir()):
        files = sorted(below.iterdir())
        runs = {"run": [str(file.relative_to(folder)) for file in files], "body": [file.read_bytes() for file in files]}
        frames.append(polars.DataFrame(scan_batches(polars.DataFrame(runs))))
    Path(output).mkdir(parents=True)
    polars.concat(frames).write_parquet(f"{output}/table.parquet")


def write(table: Any, output: str) -> None:
    Path(output).mkdir(parents=True)
    pq.write_table(table, f"{output}/table.parquet")


def started() -> None:
    """Tells the measuring process that the engine is ready."""
    print("started", flush=True)


# The measurement


class Measured:
    """A process with all that it started: its time, and the memory that all of them have at a time.

    At the end of the `with` block, and after ``limit`` seconds, all of them are killed.
    """

    def __init__(self, command: list[str], limit: float, cwd: str | None = None) -> None:
        self.begin = time.monotonic()
        self.command = command
        self.limit = limit
        self.ready: float | None = None
        self.peak = 0
        self.process = subprocess.Popen(
            command, cwd=cwd, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, start_new_session=True
        )
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._watch, self._listen)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Measured:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
            self.process.wait()

    def kill(self) -> None:
        for pid in reversed(self.family()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def wait(self, codes: tuple[int, ...] = (0,)) -> float:
        """Returns the seconds of the work, without the start of the engine."""
        try:
            code = self.process.wait(self.left())
        except subprocess.TimeoutExpired:
            raise SystemExit(f"{self} has not ended after {self.limit:.0f} s") from None
        end = time.monotonic()
        for thread in self._threads:
            thread.join(10)
        if code not in codes:
            raise SystemExit(f"{self} ended with {code}")
        return end - (self.ready or self.begin)

    def left(self) -> float:
        """Returns the seconds that are left."""
        return max(0, self.begin + self.limit - time.monotonic())

    def poll(self) -> None:
        """Waits for a moment, in which the process must not end."""
        if self.process.poll() is not None:
            raise SystemExit(f"{self} ended too early")
        if self.left() == 0:
            raise SystemExit(f"{self} came to nothing in {self.limit:.0f} s")
        time.sleep(0.02)

    def __str__(self) -> str:
        return " ".join(self.command)

    def startup(self) -> float:
        return (self.ready or self.begin) - self.begin

    def family(self) -> list[int]:
        """Returns the process and its descendants."""
        children: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(stat.parent.name))
        family = [self.process.pid]
        for pid in family:
            family.extend(children.get(pid, []))
        return family

    def _watch(self) -> None:
        while self.process.poll() is None:
            self.peak = max(self.peak, sum(map(memory, self.family())))
            # Looking more often would take a tenth of the processors.
            time.sleep(1)

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line == "started\n":
                self.ready = time.monotonic()


def memory(pid: int) -> int:
    """Returns the memory of a process in bytes, with its share of shared pages."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss: +(\d+) kB", text, re.M)
    return int(found[1]) * 1024 if found else 0


def measure(folder: str, output: str, unstuck: str) -> None:
    folder = os.path.realpath(folder)
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    figure("archive", f"{size / 1e9:.2f} GB, {len(files)} runs, the largest of {max_size(files) / 1e6:.0f} MB")
    shutil.rmtree(output, ignore_errors=True)
    Path(output).mkdir(parents=True)
    scan = [unstuck, "scan", ".", "--jobs", "2", "--format", "parquet", "-o", f"{output}/scan.parquet"]
    with Measured(scan, 120 + size / 20e6, cwd=folder) as process:
        seconds = process.wait((0, 1, 3))
    speed("scan --jobs 2", process, seconds, size)
    expected = rows(f"{output}/scan.parquet")
    status = dict(zip(expected["run"].to_pylist(), expected["status"].to_pylist()))
    if len(status) != len(files):
        raise SystemExit("scan: not each run is in the table")
    counts = ", ".join(f"{number} {word}" for word, number in sorted(Counter(status.values()).items()))
    figure("table", f"{expected.num_rows} rows: {counts}")
    # An engine that scans on one thread takes twice as long.
    limit = 120 + 6 * seconds
    for engine in ("spark", "ray", "duckdb", "polars"):
        with Measured(command(engine, folder, f"{output}/{engine}"), limit) as process:
            speed(engine, process, process.wait(), size)
        compare(engine, expected, f"{output}/{engine}")
    for engine in ("spark", "ray"):
        what, table = f"{engine}, a worker killed", f"{output}/{engine}-worker"
        with Measured(command(engine, folder, table), limit) as process:
            killed = kill_a_worker(process, folder, Path(table))
            process.wait()
        compare(what, expected, table)
        figure(what, killed)
        what, table = f"{engine}, the job killed", f"{output}/{engine}-job"
        with Measured(command(engine, folder, table), limit) as process:
            progress(process, Path(table))
            process.kill()
            process.wait((-signal.SIGKILL,))
        kept = len(parts(Path(table)))
        with Measured(command(engine, folder, table), limit) as process:
            process.wait()
        compare(what, expected, table)
        figure(what, f"a restart kept {kept} of {PARTITIONS} partitions")
    figure("all tables", "equal to scan's, row by row")


def command(engine: str, folder: str, output: str) -> list[str]:
    return [sys.executable, __file__, engine, folder, output]


def parts(table: Path) -> list[Path]:
    return list(table.glob("part-*"))


def progress(process: Measured, table: Path) -> None:
    """Waits until a quarter of the partitions is there."""
    while len(parts(table)) < PARTITIONS / 4:
        process.poll()


def kill_a_worker(process: Measured, folder: str, table: Path) -> str:
    """Kills a worker that reads a transcript."""
    progress(process, table)
    while True:
        for pid in process.family():
            with suppress(FileNotFoundError, ProcessLookupError):
                names = [os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
                if any(name.startswith(f"{folder}/") for name in names):
                    line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    os.kill(pid, signal.SIGKILL)
                    return f"`{line.strip()[-40:]}` after {len(parts(table))} of {PARTITIONS} partitions"
        process.poll()


def rows(path: str) -> Any:
    """Returns a table in the order of the runs, and within a run as its rows come."""
    table = pq.read_table(path)
    names = pa.array([name.removeprefix("./") for name in table["run"].to_pylist()])
    table = table.set_column(0, "run", names).append_column("row", pa.array(range(len(names))))
    return table.sort_by([("run", "ascending"), ("row", "ascending")]).drop_columns("row").combine_chunks()


def compare(what: str, expected: Any, path: str) -> None:
    found = rows(path).select(expected.schema.names).cast(expected.schema)
    if found.equals(expected):
        return
    for one, other in zip(expected.to_pylist(), found.to_pylist()):
        if one != other:
            raise SystemExit(f"{what}: {json.dumps(other)} instead of {json.dumps(one)}")
    raise SystemExit(f"{what}: {found.num_rows} rows instead of {expected.num_rows}")


def speed(what: str, process: Measured, seconds: float, size: int) -> None:
    startup = f", start {process.startup():.1f} s" if process.ready else ""
    figure(what, f"{size / seconds / 1e6:.0f} MB/s, {seconds:.1f} s, {process.peak / 1e6:.0f} MB of memory{startup}")


def max_size(files: list[Path]) -> int:
    return max(path.stat().st_size for path in files)


def figure(what: str, value: str) -> None:
    print(f"figure\t{what}\t{value}", flush=True)


if __name__ == "__main__":
    commands = {one.__name__: one for one in (make, measure, spark, ray, duckdb, polars)}
    commands[sys.argv[1]](*sys.argv[2:])
