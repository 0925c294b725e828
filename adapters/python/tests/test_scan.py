"""The scan of recorded runs, and the installed program."""

import html.parser
import io
import json
import os
import pathlib
import shutil
import subprocess
import sysconfig

import pytest
from unstuck import Guard, PolicyError, presets, scan, scan_batches

ROOT = pathlib.Path(__file__).resolve().parents[3]
RUNS = ROOT / "adapters/trace/runs"
STUCK = b"".join(
    b'{"type":"call","tool":"<b>","args":{"c":"<i>&"},"result":"no","is_error":true}\n'
    for _ in range(6)
)


def program():
    """The program that the wheel has installed beside this interpreter."""
    folder = sysconfig.get_path("scripts")
    found = shutil.which("unstuck", path=folder)
    if found is None:
        pytest.skip(f"no program `unstuck` in {folder}: install the wheel")
    return found


def of_program(*args):
    command = [program(), "scan", "--format", "jsonl", *map(str, args)]
    return [json.loads(line) for line in subprocess.run(command, stdout=-1).stdout.splitlines()]


def same(runs, lines):
    """Asserts that the runs have the findings of the program."""
    assert len(runs) == len(lines) > 0
    for run, line in zip(runs, lines, strict=True):
        assert run.path == line["path"]
        assert (run.format, run.session, run.calls) == tuple(
            line[key] for key in ("format", "session", "calls")
        )
        found = [
            (one.rule, one.kind, one.action, one.id, one.period, one.laps, one.confidence, one.message)
            for one in run.findings
        ]
        keys = ("rule", "kind", "action", "loop", "period", "laps", "confidence", "message")
        assert found == [tuple(one[key] for key in keys) for one in line["findings"]], run.path
        causes = [line_of.get("cause") or {} for line_of in line["findings"]]
        assert [(one.cause_kind, one.cause) for one in run.findings] == [
            (cause.get("kind"), cause.get("text")) for cause in causes
        ]
        places = [(one.first, one.at) for one in run.findings]
        assert places == [
            (one["first_message"], one["at_message"])
            if "at_message" in one
            else (one["first_call"], one["at_call"])
            for one in line["findings"]
        ]


def test_the_program_is_native():
    said = subprocess.run([program(), "--version"], stdout=-1, check=True).stdout
    assert said.startswith(b"unstuck ")
    assert pathlib.Path(program()).read_bytes()[:2] != b"#!"


@pytest.mark.parametrize("preset", ["balanced", "openhands"])
def test_the_findings_are_those_of_the_program(preset):
    same(scan(RUNS, preset), of_program(RUNS, "--preset", preset))


@pytest.mark.parametrize("labels", ["traces", "traces-modern"])
def test_the_findings_in_all_labelled_runs_are_those_of_the_program(labels):
    folder = ROOT.parent / "shared" / labels
    if not folder.is_dir():
        folder = ROOT.parents[1] / "shared" / labels
    if not folder.is_dir():
        pytest.skip("the labelled runs are not in ../shared")
    files = sorted(path for path in folder.rglob("*.json*") if path.name != "labels.jsonl")
    assert len(files) > 50
    runs = scan(files)
    lines = {line["path"]: line for line in of_program(*files)}
    read = [run for run in runs if run.error is None]
    assert {run.path for run in read} == set(lines)
    same(read, [lines[run.path] for run in read])
    # Nothing is found in the sessions of strong agents.
    assert any(run.stuck for run in read) == (labels == "traces")
    assert not all(run.stuck for run in read)


def test_bytes_are_one_run():
    (run,) = scan(STUCK)
    assert (run.path, run.error, run.format, run.calls, run.stuck) == (None, None, "native", 6, True)
    first = run.findings[0]
    assert (first.action, first.at, first.calls) == ("nudge", 2, [0, 1, 2])
    assert first.proof[0] == (0, "<b>", '{"c":"<i>&"}')


def test_one_path_or_many_are_read(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(STUCK)
    (tmp_path / "b.jsonl").write_bytes(STUCK)
    a, b = tmp_path / "a.jsonl", str(tmp_path / "b.jsonl")
    assert [len(scan(runs)) for runs in (a, b, [a, b], (path for path in [a]), tmp_path, [])] == [
        1, 1, 2, 1, 2, 0,
    ]


def test_a_run_that_cannot_be_read_says_why(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(STUCK)
    (tmp_path / "b.jsonl").write_text("not a run")
    good, bad = scan(tmp_path)
    assert good.stuck and not bad.stuck
    assert bad.error and bad.format is None and bad.error in repr(bad)
    (run,) = scan(STUCK + b"{broken\n")
    assert run.skipped == 1 and "line 7" in run.problems[0]


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"runs": "none.jsonl"}, FileNotFoundError, "no such file or folder: none.jsonl"),
        ({"runs": 3}, TypeError, "not int"),
        ({"runs": [None]}, TypeError, "not NoneType"),
        ({"runs": STUCK, "preset": "x"}, PolicyError, "no preset"),
        ({"runs": STUCK, "format": "x"}, ValueError, "x"),
    ],
)
def test_a_wrong_argument_says_what_is_wrong(options, error, message):
    with pytest.raises(error) as raised:
        scan(**options)
    assert message in str(raised.value)


def test_a_policy_is_applied():
    assert not scan(STUCK, tools={"<b>": {"exempt": True}})[0].stuck
    assert {name for name in presets() if scan(STUCK, name)[0].stuck} >= {"balanced", "openhands"}


def test_a_false_positive_of_a_recorded_run_is_not_found_again():
    guard = Guard()
    guard.false_positive(scan(STUCK)[0].findings[0])
    for _ in range(9):
        before = guard.before("<b>", {"c": "<i>&"})
        assert guard.after(before.ticket, "no", error=True).action == "proceed"


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], set(), io.StringIO()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.write(data)


def test_notebooks_show_tables_without_markup_of_the_run():
    (run,) = scan(STUCK)
    for shown in (run, run.findings[0]):
        tags = Tags(shown._repr_html_())
        assert tags.open == []
        assert tags.seen <= {"p", "b", "table", "tr", "th", "td"} and "td" in tags.seen
        assert '{"c":"<i>&"}' in tags.text.getvalue()
    guard = Guard()
    for _ in range(3):
        decision = guard.after(guard.before("read", {}).ticket, "same")
    assert Tags(decision.finding._repr_html_()).text.getvalue().count("read") == 4


def test_secrets_in_arguments_are_masked():
    (run,) = scan(STUCK.replace(b"<i>&", b"curl -H 'Authorization: Bearer hunter2hunter2'"))
    (finding, *_) = run.findings
    for shown in (str(finding.proof), finding._repr_html_(), run._repr_html_()):
        assert "Authorization" in shown and "hunter2" not in shown


@pytest.fixture(scope="module")
def crowded():
    """A run with two workers more than can be followed at a time."""
    return b"".join(
        b'{"type":"call","tool":"t","args":{},"result":"no","worker":"%d"}\n' % worker
        for worker in [*range(100_001), 0]
    )


def test_workers_beyond_the_limit_are_given_up_loudly(crowded):
    (run,) = scan(crowded)
    assert run.problems[0].startswith("2 workers had to be forgotten: at most 100000 are followed")


def test_values_are_shown_in_one_line():
    (run,) = scan(STUCK)
    assert repr(run).startswith("<Run bytes: stuck, 6 calls, ")
    shown = repr(run.findings[0])
    assert shown.startswith("<Finding same-effect: `<b>` 3 times in a row, failing alike; nudge at #2, loop ")


# Tables


@pytest.fixture(params=["pyarrow", "nanoarrow"])
def arrow(request):
    """Functions that make a table, and read one as rows."""
    library = pytest.importorskip(request.param)
    if request.param == "pyarrow":
        kinds = {str: library.string(), bytes: library.binary()}

        def make(columns):
            arrays = {name: library.array(v, kinds[type(v[0])]) for name, v in columns.items()}
            return library.table(arrays)

        return make, lambda batches: library.table(batches).to_pylist()

    kinds = {str: library.string(), bytes: library.binary()}

    def make(columns):
        schema = library.struct({name: kinds[type(v[0])] for name, v in columns.items()})
        arrays = [library.c_array(v, kinds[type(v[0])]) for v in columns.values()]
        length = len(arrays[0])
        return library.Array(
            library.c_array_from_buffers(schema, length, [None], children=arrays)
        )

    def rows(batches):
        stream = library.ArrayStream(batches)
        names = [field.name for field in stream.schema.fields]
        return [dict(zip(names, row.values(), strict=True)) for row in stream.read_all().to_pylist()]

    return make, rows


def test_a_table_of_runs_has_the_findings_of_its_runs(arrow):
    make, rows = arrow
    bodies = [STUCK, b"not a run", b'{"type":"call","tool":"ls","args":{}}\n']
    batches = scan_batches(make({"run": ["a", "b", "c"], "body": bodies, "more": ["", "", ""]}))
    found = rows(batches)
    assert rows(batches) == found and len(batches) == len(found)
    expected = [
        {
            "run": "a",
            "status": "stuck",
            "format": "native",
            "run_calls": 6,
            "rule": one.rule,
            "kind": one.kind,
            "action": one.action,
            "tool": one.tool,
            "worker": one.worker,
            "first": one.first,
            "last": one.last,
            "calls": one.calls,
            "finding_id": one.id,
            "tokens_after": None,
            "error": None,
        }
        for one in scan(STUCK)[0].findings
    ]
    assert found[:-2] == expected and expected
    unread, clean = ({key: value for key, value in row.items() if value is not None} for row in found[-2:])
    assert unread == {"run": "b", "status": "unread", "error": scan(b"not a run")[0].error}
    assert clean == {"run": "c", "status": "clean", "format": "native", "run_calls": 1}


def test_a_run_without_a_body_has_a_reason(arrow):
    make, rows = arrow
    columns = {"run": ["a", "b", "c"], "body": [STUCK, None, None], "error": ["", "too large", None]}
    found = [(row["run"], row["status"], row["error"]) for row in rows(scan_batches(make(columns)))]
    assert set(found[:-2]) == {("a", "stuck", None)}
    assert found[-2:] == [("b", "unread", "too large"), ("c", "unread", "its body is null")]
    (_, *_, found) = rows(scan_batches(make({"run": ["a", "b"], "body": [STUCK, None]})))
    assert found["error"] == "its body is null"


def test_what_a_run_spent_is_in_its_first_row(arrow):
    make, rows = arrow
    call = STUCK.splitlines()[0][:-1] + b',"tokens":{"input":3,"cached":0,"output":2}}\n'
    found = rows(scan_batches(make({"run": ["a"], "body": [call * 6 + b"{broken\n"]})))
    assert len(found) > 1 and found[0]["tokens_after"] > 0 and "line 7" in found[0]["error"]
    assert {(row["tokens_after"], row["error"]) for row in found[1:]} == {(None, None)}


@pytest.mark.skipif(not os.environ.get("UNSTUCK_EXHAUSTIVE"), reason="the same scan once more takes 16 seconds")
def test_workers_beyond_the_limit_are_an_error_in_a_table(arrow, crowded):
    make, rows = arrow
    (found,) = rows(scan_batches(make({"run": ["crowd"], "body": [crowded]})))
    assert found["run"] == "crowd" and found["status"] == "partly" and "had to be forgotten" in found["error"]


def test_a_table_without_the_columns_is_an_error(arrow):
    make, _ = arrow
    with pytest.raises(ValueError, match="no column `body`; there are: run, text"):
        scan_batches(make({"run": ["a"], "text": ["b"]}))
    with pytest.raises(TypeError, match="not dict"):
        scan_batches({"run": [], "body": []})


def test_text_is_a_body_as_well(arrow):
    make, rows = arrow
    assert rows(scan_batches(make({"run": ["a"], "body": [STUCK.decode()]})))
