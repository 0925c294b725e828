"""Measures engines over an archive of transcripts on this machine, and compares their tables with the table of `scan`.

    archives.py make FOLDER GIGABYTES SOURCES…    writes an archive that varies these recorded runs
    archives.py measure FOLDER OUTPUT UNSTUCK     prints the figures, `what<TAB>figure` a line

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
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PARTITIONS = 64

# The workers that an engine starts for `archive`, by their command lines.
WORKERS = {"spark": re.compile("pyspark.daemon"), "ray": re.compile("^ray::MapBatches")}

# The identifiers of a run, which are varied so that no two runs are equal.
IDS = re.compile(rb"(toolu_|call_|chatcmpl-|msg_|(?<=[^0-9a-f])[0-9a-f]{8}-(?=[0-9a-f]{4}-))")


# The archive


def make(folder: str, gigabytes: str, *sources: str) -> None:
    """Writes transcripts of the sizes that sessions have: half of them below 350 KB, one of a hundred above 3 MB."""
    chance = random.Random(24)
    kinds: dict[tuple[Path, str], list[list[bytes]]] = {}
    for path in sorted(file for source in sources for file in Path(source).rglob("*.json*")):
        if path.name != "labels.jsonl":
            text = IDS.sub(rb"\1\0", path.read_bytes())
            # Only JSON Lines can be continued with the lines of another run.
            kinds.setdefault((path.parent, path.suffix), []).append(text.split(b"\0"))
    left, number = int(float(gigabytes) * 1e9), 0
    weights = [sum(len(b"".join(parts)) for parts in runs) for runs in kinds.values()]
    while left > 0:
        [((_, suffix), runs)] = chance.choices(list(kinds.items()), weights)
        size, pieces = chance.lognormvariate(11.9, 1.4), []
        while not pieces or (size > 0 and suffix == ".jsonl"):
            parts = chance.choice(runs)
            pieces.append(f"{number:08x}{len(pieces):04x}".encode().join(parts))
            size -= len(pieces[-1])
        target = Path(folder, f"{number % 256:02x}", f"{number:08x}{suffix}")
        target.parent.mkdir(parents=True, exist_ok=True)
        left -= target.write_bytes(b"".join(pieces))
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
    """A process with all that it started: its time, and the memory that all of them have at a time."""

    def __init__(self, command: list[str], cwd: str | None = None) -> None:
        self.begin = time.monotonic()
        self.ready: float | None = None
        self.peak = 0
        self.process = subprocess.Popen(
            command, cwd=cwd, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, start_new_session=True
        )
        self._watching = threading.Thread(target=self._watch)
        self._watching.start()
        self._listening = threading.Thread(target=self._listen)
        self._listening.start()

    def wait(self, codes: tuple[int, ...] = (0,)) -> float:
        """Returns the seconds of the work, without the start of the engine."""
        code = self.process.wait()
        end = time.monotonic()
        self._watching.join()
        self._listening.join()
        if code not in codes:
            raise SystemExit(f"{self.process.args} ended with {code}")
        return end - (self.ready or self.begin)

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
            time.sleep(0.2)

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
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    figure("archive", f"{size / 1e9:.2f} GB, {len(files)} runs, the largest of {max_size(files) / 1e6:.0f} MB")
    shutil.rmtree(output, ignore_errors=True)
    Path(output).mkdir(parents=True)
    scan = Measured(
        [unstuck, "scan", ".", "--jobs", "2", "--format", "parquet", "-o", f"{output}/scan.parquet"], cwd=folder
    )
    speed("scan --jobs 2", scan, scan.wait((0, 1, 3)), size)
    expected = rows(f"{output}/scan.parquet")
    if len(set(expected["run"].to_pylist())) != len(files):
        raise SystemExit("scan: not each run is in the table")
    for engine in ("spark", "ray", "duckdb", "polars"):
        process = Measured(command(engine, folder, f"{output}/{engine}"))
        speed(engine, process, process.wait(), size)
        compare(engine, expected, f"{output}/{engine}")
    for engine, workers in WORKERS.items():
        table = f"{output}/{engine}-worker"
        process = Measured(command(engine, folder, table))
        killed = kill_a_worker(process, Path(table), workers)
        process.wait()
        compare(f"{engine}, a worker killed", expected, table)
        figure(f"{engine}, a worker killed", f"equal to scan; {killed}")
        table = f"{output}/{engine}-job"
        process = Measured(command(engine, folder, table))
        progress(process, Path(table))
        for pid in reversed(process.family()):
            os.kill(pid, signal.SIGKILL)
        process.wait((-signal.SIGKILL,))
        kept = len(list(Path(table).glob("part-*")))
        Measured(command(engine, folder, table)).wait()
        compare(f"{engine}, the job killed", expected, table)
        figure(f"{engine}, the job killed", f"equal to scan after a restart that kept {kept} of {PARTITIONS} partitions")


def command(engine: str, folder: str, output: str) -> list[str]:
    return [sys.executable, __file__, engine, folder, output]


def progress(process: Measured, table: Path) -> None:
    """Waits until a quarter of the partitions is there."""
    while len(list(table.glob("part-*"))) < PARTITIONS / 4:
        if process.process.poll() is not None:
            raise SystemExit(f"{process.process.args} ended too early")
        time.sleep(0.02)


def kill_a_worker(process: Measured, table: Path, workers: re.Pattern[str]) -> str:
    """Kills a worker that has no children, so one that does the work."""
    progress(process, table)
    family = process.family()
    found = []
    for pid in family:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        if workers.search(line) and "IDLE" not in line.upper():
            found.append((pid, line.strip()))
    if not found:
        raise SystemExit("no worker to kill")
    pid, line = found[-1]
    os.kill(pid, signal.SIGKILL)
    return f"killed `{line[-40:]}` after {len(list(table.glob('part-*')))} of {PARTITIONS} partitions"


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
    print(f"{what}\t{value}", flush=True)


if __name__ == "__main__":
    commands = {one.__name__: one for one in (make, measure, spark, ray, duckdb, polars)}
    commands[sys.argv[1]](*sys.argv[2:])
