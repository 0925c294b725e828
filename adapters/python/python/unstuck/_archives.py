"""Archives of recorded runs: the scan of batches of Arrow, and tables that are committed partition by partition.

Spark, Ray, DuckDB and Polars all pass columns of Arrow to a function, so one function serves them. The workers read and
write the files themselves. Spark would copy each body through the Java virtual machine, and its commit protocol is all
or nothing, so a job whose driver dies would lose all its work. Ray has no such protocol. A worker that runs twice
writes the same file twice.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import posixpath
import re
import stat
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from pathlib import PurePath, PurePosixPath
from typing import Any, NamedTuple, NoReturn

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.fs as pafs  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from . import scan_batches
from ._unstuck import is_transcript

__all__ = ["DDL", "Archive", "Archived", "Setup"]

# The columns of `scan_batches`, as Spark writes them.
DDL = (
    "run string, status string, format string, run_calls bigint, rule string, kind string, action string, "
    "tool string, worker string, first bigint, last bigint, calls array<bigint>, finding_id string, "
    "tokens_after bigint, error string"
)

# The key in the footer of a partition's file, under which its fingerprint stands.
_KEY = b"unstuck"

_RUNS = pa.schema({"run": pa.string(), "body": pa.large_binary(), "error": pa.string()})
_TASKS = pa.schema({
    "number": pa.int32(),
    "fingerprint": pa.string(),
    "names": pa.list_(pa.binary()),
    "sizes": pa.list_(pa.int64()),
})
_DONE = pa.schema({"number": pa.int32(), "rows": pa.int64()})

# File systems on which a file appears while it is written. On the others, the object stores, a file appears when
# it is complete.
_RENAMING = ("local", "hdfs")

# The errors of opening a file that another attempt would have, too. After others, the engine retries the task.
_LASTING = (errno.ENOENT, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENOTDIR)

# The errors of a broken Parquet file.
_BROKEN = (pa.ArrowException, OSError, LookupError, ValueError)


class Archived(NamedTuple):
    """The outcome of ``archive``."""

    written: int
    """The number of partitions that were written."""
    kept: int
    """The number of partitions that an earlier job had written."""
    rows: int
    """The number of rows in the partitions that were written."""


@dataclass(frozen=True)
class Setup:
    """The options of ``scan_batches``, for workers on other machines."""

    preset: str
    config: str | Mapping[str, Any] | None
    tools: Mapping[str, Any] | None
    format: str

    @classmethod
    def of(
        cls,
        preset: str,
        config: str | PathLike[str] | Mapping[str, Any] | None,
        tools: Mapping[str, Any] | None,
        format: str,
    ) -> Setup:
        """Checks the options on the driver, and reads the policy file there, because the workers may not have it."""
        if isinstance(config, PathLike):
            with open(config, encoding="utf-8") as file:
                config = file.read()
        setup = cls(preset, config, tools, format)
        setup.table(_RUNS.empty_table())
        return setup

    def table(self, runs: Any) -> Any:
        """Scans a table or a stream of runs. Returns the table of their findings."""
        found = scan_batches(
            runs, self.preset, config=self.config, tools=self.tools, format=self.format
        )
        return pa.table(found)

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Scans batch by batch, in little memory."""
        for batch in batches:
            yield from self.table(pa.Table.from_batches([batch])).to_batches()


class _File(NamedTuple):
    name: bytes
    size: int
    changed: int


@dataclass(frozen=True)
class Archive:
    """A folder of transcripts, and the folder of the table of their findings.

    The table has a file for each partition, and a transcript belongs to the partition that the checksum of its
    name says. A file appears only when it is complete, even if several workers write it. Its footer has
    the fingerprint of the options and the transcripts that it was made of, so a later job knows what is left to do.
    """

    folder: str
    target: str
    partitions: int
    size_max: int
    setup: Setup
    version: str

    @classmethod
    def of(
        cls, folder: str | PathLike[str], table: str | PathLike[str], partitions: int, size_max: int, setup: Setup
    ) -> Archive:
        if not 1 <= partitions <= 99_999:
            raise ValueError(f"partitions: expected 1 to 99999, not {partitions}")
        if not 1 <= size_max < 1 << 31:
            raise ValueError(f"size_max: expected 1 byte to 2 GiB, not {size_max}")
        return cls(_absolute(folder), _absolute(table), partitions, size_max, setup, version("unstuck"))

    # On the driver

    def run(self, engine: Callable[[Any], Iterable[Any]]) -> Archived:
        """Completes the table. ``engine`` gives each row of a plan to ``commit``, and returns the tables it got."""
        plan, kept = self._plan()
        done = engine(plan) if plan.num_rows else []
        finished = self._finished()
        lost = [
            task["number"]
            for task in plan.select(["number", "fingerprint"]).to_pylist()
            if finished.get(self._name(task["number"])) != task["fingerprint"]
        ]
        if lost:
            raise RuntimeError(f"{self.target}: the partitions {lost} are missing: run the job again")
        # A worker that was started twice has reported twice.
        rows = {row["number"]: row["rows"] for table in done for row in table.to_pylist()}
        return Archived(plan.num_rows, kept, sum(rows.values()))

    def _plan(self) -> tuple[Any, int]:
        """Returns the partitions that are left to do, one a row, and the number of finished ones.

        Removes the files that an interrupted job left, and partitions without transcripts.
        """
        if _is_inside(self.target, self.folder):
            raise ValueError(
                f"{self.target} is in the folder of the transcripts, {self.folder}, where a later job would scan it: "
                "pass another folder for the table, for example one beside the transcripts"
            )
        parts = self._parts()
        files, path = _file_system(self.target)
        files.create_dir(path, recursive=True)
        finished = self._finished()
        for name in finished.keys() - {self._name(number) for number in parts}:
            files.delete_file(posixpath.join(path, name))
        left = [
            {
                "number": number,
                "fingerprint": fingerprint,
                "names": [file.name for file in listed],
                "sizes": [file.size for file in listed],
            }
            for number, (fingerprint, listed) in sorted(parts.items())
            if finished.get(self._name(number)) != fingerprint
        ]
        return pa.Table.from_pylist(left, schema=_TASKS), len(parts) - len(left)

    def _parts(self) -> dict[int, tuple[str, list[_File]]]:
        """Returns the transcripts of each partition, with its fingerprint."""
        parts: dict[int, list[_File]] = {}
        for file in _listed(*_file_system(self.folder)):
            parts.setdefault(zlib.crc32(file.name) % self.partitions, []).append(file)
        if not parts:
            raise FileNotFoundError(f"{self.folder}: no transcript in this folder")
        options = [self.version, self.size_max, *map(str, vars(self.setup).values())]
        return {number: (_fingerprint(options, sorted(of)), sorted(of)) for number, of in parts.items()}

    def _finished(self) -> dict[str, str | None]:
        """Returns the files of the table with their fingerprints, and removes files that an interrupted job left."""
        files, folder = _file_system(self.target)
        finished = []
        for info in files.get_file_info(pafs.FileSelector(folder, allow_not_found=True)):
            if re.fullmatch(r"\.part-.*\.unfinished", info.base_name):
                files.delete_file(info.path)
            elif part := re.fullmatch(r"part-\d{5}-of-(\d{5})\.parquet", info.base_name):
                if int(part[1]) != self.partitions:
                    raise ValueError(
                        f"{self.target} has a table of {int(part[1])} partitions: "
                        f"pass partitions={int(part[1])}, or another folder"
                    )
                finished.append(info.base_name)

        def of(name: str) -> str | None:
            try:
                file = files.open_input_file(posixpath.join(folder, name))
            except FileNotFoundError:
                return None
            with file:
                source = _Source(file)
                try:
                    metadata = pq.ParquetFile(source.opened()).metadata.metadata or {}
                    return str(metadata.get(_KEY, b"").decode())
                except _BROKEN as error:
                    source.judge(error)
                    return None

        with ThreadPoolExecutor(16) as pool:
            return dict(zip(finished, pool.map(of, finished), strict=True))

    # On a worker

    def commit(self, tasks: Any) -> Any:
        """Scans partitions and writes a file for each. ``tasks`` has rows of the plan."""
        if self.version != version("unstuck"):
            raise RuntimeError(f"a worker has unstuck {version('unstuck')}: install {self.version}")
        done = []
        for task in tasks.to_pylist():
            runs = pa.RecordBatchReader.from_batches(_RUNS, self._runs(task["names"], task["sizes"]))
            found = self.setup.table(runs)
            metadata = {**(found.schema.metadata or {}), _KEY: task["fingerprint"].encode()}
            whole = pa.BufferOutputStream()
            pq.write_table(found.replace_schema_metadata(metadata), whole)
            self._put(self._name(task["number"]), whole.getvalue())
            done.append({"number": task["number"], "rows": found.num_rows})
        return pa.Table.from_pylist(done, schema=_DONE)

    def commit_batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Does the same as ``commit``, for Spark."""
        for batch in batches:
            yield from self.commit(pa.Table.from_batches([batch])).to_batches()

    def _runs(self, names: list[bytes], sizes: list[int]) -> Iterator[Any]:
        """Reads the transcripts, one at a time."""
        files, folder = _file_system(self.folder)
        for name, size in zip(names, sizes, strict=True):
            try:
                # The path is bytes, because a name on a local disk may not be UTF-8.
                file = files.open_input_file(posixpath.join(os.fsencode(folder), name))
            except OSError as error:
                if error.errno not in _LASTING:
                    raise
                yield _failed(name, f"cannot be read: {error}")
                continue
            with file:
                if name.endswith(b".parquet"):
                    yield from _rows(name, file)
                elif size > self.size_max:
                    yield _failed(
                        name, f"{size} bytes, but size_max is {self.size_max}: scan it with `unstuck scan`"
                    )
                else:
                    yield _run(name, file.read_buffer())

    def _put(self, name: str, content: Any) -> None:
        files, folder = _file_system(self.target)
        path = posixpath.join(folder, name)
        written = path
        if files.type_name in _RENAMING:
            written = posixpath.join(folder, f".{name}.{uuid.uuid4().hex}.unfinished")
        with files.open_output_stream(written) as stream:
            stream.write(content)
        if written != path:
            files.move(written, path)

    def _name(self, number: int) -> str:
        return f"part-{number:05}-of-{self.partitions:05}.parquet"


def _absolute(path: str | PathLike[str]) -> str:
    path = os.fspath(path)
    return path if "://" in path else os.path.abspath(path)


def _file_system(path: str) -> tuple[Any, str]:
    """Returns the file system of a URI or a path, and the path in it."""
    if "://" in path:
        files, path = pafs.FileSystem.from_uri(path)
        return files, path.rstrip("/")
    return pafs.LocalFileSystem(), path


def _is_inside(path: str, folder: str) -> bool:
    """Returns whether a path is a folder or something in it. Symbolic links count as their targets."""
    (files, path), (others, folder) = _file_system(path), _file_system(folder)
    if not files.equals(others):
        return False
    if files.type_name == "local":
        return PurePath(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    return PurePosixPath(path).is_relative_to(folder)


def _listed(files: Any, folder: str) -> Iterator[_File]:
    """Lists the transcripts and tables in a folder and below, as ``unstuck scan`` does."""
    if files.type_name == "local":
        yield from _on_disk(os.fsencode(folder))
        return
    for info in files.get_file_info(pafs.FileSelector(folder, recursive=True)):
        name = posixpath.relpath(info.path, folder).encode()
        if info.type == pafs.FileType.File and _is_read(name):
            yield _File(name, info.size, info.mtime_ns or 0)


def _on_disk(folder: bytes) -> Iterator[_File]:
    """Lists a local folder. A link to a file counts as its target. A link to a folder is not followed, because it
    may lead in a circle. A link that leads nowhere becomes an error when it is read."""
    for parent, _, names in os.walk(folder, onerror=_raise):
        for path in (os.path.join(parent, name) for name in names if _is_read(name)):
            name = os.path.relpath(path, folder).replace(os.fsencode(os.sep), b"/")
            try:
                status = os.stat(path)
            except OSError as error:
                if error.errno not in _LASTING:
                    raise
                yield _File(name, 0, 0)
                continue
            # Reading a pipe could wait forever.
            if stat.S_ISREG(status.st_mode):
                yield _File(name, status.st_size, status.st_mtime_ns)


def _raise(error: OSError) -> NoReturn:
    raise error


def _is_read(name: bytes) -> bool:
    """Returns whether a file in the folder is read, by its name."""
    return name.endswith(b".parquet") or is_transcript(_shown(name))


def _shown(name: bytes) -> str:
    r"""Returns a name as ``unstuck scan`` writes it: ``\xff`` for a byte that is not UTF-8, so names stay different."""
    return name.decode(errors="backslashreplace")


def _fingerprint(options: list[object], of: list[_File]) -> str:
    files = [(file.name.decode(errors="surrogateescape"), file.size, file.changed) for file in of]
    return hashlib.sha256(json.dumps([options, files]).encode()).hexdigest()


def _run(name: bytes, body: Any) -> Any:
    """Returns a batch with one run, without a copy of its body."""
    offsets = pa.py_buffer(b"".join(at.to_bytes(8, "little") for at in (0, body.size)))
    bodies = pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, body])
    return pa.record_batch([pa.array([_shown(name)]), bodies, pa.array([None], pa.string())], schema=_RUNS)


def _failed(name: bytes, why: str) -> Any:
    return pa.record_batch(
        [pa.array([_shown(name)]), pa.array([None], pa.large_binary()), pa.array([why])], schema=_RUNS
    )


def _rows(name: bytes, file: Any) -> Iterator[Any]:
    """Reads the runs of a table in a Parquet file. If a page is broken, the rows before it are kept."""
    source = _Source(file)
    try:
        table = pq.ParquetFile(source.opened())
        missing = {"run", "body"} - set(table.schema_arrow.names)
        if missing:
            raise pa.ArrowInvalid(f"no column {sorted(missing)[0]}")
        for batch in table.iter_batches(batch_size=16, columns=["run", "body"]):
            bodies = batch.column("body").cast(pa.large_binary())
            errors = pa.nulls(batch.num_rows, pa.string())
            yield pa.record_batch([_names(batch.column("run")), bodies, errors], schema=_RUNS)
    except _BROKEN as error:
        source.judge(error)
        yield _failed(name, f"cannot be read: {error}")


def _names(column: Any) -> Any:
    """Returns a column of names as text. Their bytes may not be UTF-8, even if the file says that they are."""
    names = column.cast(pa.string(), safe=False).cast(pa.binary()).to_pylist()
    return pa.array([None if name is None else _shown(name) for name in names], pa.string())


class _Source:
    """A file that notes whether reading it failed, because Parquet raises ``OSError`` for a broken page as well."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._has_failed = False

    def opened(self) -> Any:
        """Returns the file for Parquet."""
        return pa.PythonFile(self, mode="r")

    def judge(self, error: Exception) -> None:
        """Raises an error that does not prove that the file is broken, after which the engine retries the task."""
        if self._has_failed or isinstance(error, MemoryError):
            raise error

    # The methods that Arrow calls

    def read(self, size: int) -> Any:
        return self._noted(self._file.read, size)

    def seek(self, offset: int, whence: int = 0) -> Any:
        return self._noted(self._file.seek, offset, whence)

    def tell(self) -> Any:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()

    @property
    def closed(self) -> bool:
        return bool(self._file.closed)

    def _noted(self, action: Callable[..., Any], *arguments: int) -> Any:
        try:
            return action(*arguments)
        except OSError:
            self._has_failed = True
            raise
