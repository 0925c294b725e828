"""Reads the reports of `unstuck scan` with the programs that others use, and compares them with its JSON Lines.

Usage: check.py traces FOLDER            write hostile traces
       check.py FORMAT FOLDER [METADATA] check the report of this format in FOLDER, beside `report.jsonl`

METADATA is the output of `cargo metadata` of a package that depends on `serde-sarif`, which ships the schema.
"""

import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

# Text that ends, opens or escapes something in one of the formats.
HOSTILE = {
    "script": "</script><script>alert(1)</script>",
    "ansi": "\x1b[31mred\x1b]0;title\x07\x9b2J",
    "bidi": "a\u202eb\u2066c\u200bd\ufeff",
    "cdata": "]]></failure><!-- -->&lt;",
    "null": "a\x00b\x01\x0b\ufffe\uffff",
    "formula": "=HYPERLINK(\"http://a\",\"b\")",
    "command": "%0A::error::x\r\n::set-output name=a::b",
    "table": "| a | `b` | \\| ```\n~~~\n# c",
    "mention": "@everyone #123 owner/repo#1 GH-1 https://a.b www.a.b [a](http://b) ![a](b) $x$",
    "quotes": "\"'\\,;{0}{{",
    "surrogate": "\U0001f600\U000e0041e" + "\u0301" * 50,
    "long": "x" * 1_000_000,
}


def traces(folder: Path) -> None:
    """Writes a trace for each hostile text, which is in every field, and files that are no traces."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in HOSTILE.items():
        call = {"type": "call", "tool": text, "args": {text: text}, "result": text, "is_error": True}
        said = {"type": "message", "role": "assistant", "text": text}
        # A trace is recognised by its beginning.
        first = {"type": "call", "tool": "a", "args": {}, "result": "b", "is_error": False}
        records = [{"session": text[:1000]}, first]
        records += [{**call, "worker": text}] * 6 + [{**said, "worker": text}] * 6
        lines = "\n".join(json.dumps(record) for record in records)
        (folder / f"{name}.jsonl").write_text(lines + "\n")
    many = ({"type": "call", "tool": f"t{n % 7}", "args": {"n": n * 7919 % 101}, "result": str(n % 13)} for n in range(100_000))
    (folder / "many.jsonl").write_text("".join(json.dumps(call) + "\n" for call in many))
    (folder / "empty.jsonl").write_text("")
    (folder / "no trace ]]> & `|`.jsonl").write_text("x\n")
    good = (folder / "quotes.jsonl").read_text()
    (folder / "half.jsonl").write_text(good + "{\"type\":\n")


def runs(folder: Path) -> list[dict]:
    """The runs of the scan."""
    return [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]


def loops(run: dict) -> Counter:
    """The loops of a run. A loop has a finding for each rung, and only the first one has the early message."""
    return Counter({finding["loop"]: 1 for finding in run["findings"]})


def equal(what: str, found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"{what}: {found!r}, but the JSON Lines have {expected!r}")


def holds(what: str, condition: bool) -> None:
    if not condition:
        sys.exit(what)


def junit(folder: Path) -> None:
    """Reads the report with junitparser, and with a strict parser of XML."""
    import junitparser

    path = folder / "report.junit"
    suites = list(junitparser.JUnitXml.fromfile(str(path)))
    equal("suites", len(suites), 1)
    cases = list(suites[0])
    stuck = [run for run in runs(folder) if run["findings"]]
    failed = [case for case in cases if any(isinstance(r, junitparser.Failure) for r in case.result)]
    errors = [case for case in cases if any(isinstance(r, junitparser.Error) for r in case.result)]
    equal("failures", len(failed), len(stuck))
    equal("attribute failures", suites[0].failures, len(failed))
    equal("attribute errors", suites[0].errors, len(errors))
    equal("attribute tests", suites[0].tests, len(cases))
    holds("fewer cases than runs", len(cases) >= len(runs(folder)))
    for case, run in zip(failed, stuck):
        equal("the rule", case.result[0].type, run["findings"][0]["rule"])
        for loop in list(loops(run))[:100]:
            holds(f"{case.name}: no {loop}", loop in case.result[0].text)
    root = ElementTree.parse(path).getroot()
    for case in root.iter("testcase"):
        holds(f"attributes: {case.attrib}", {"name", "classname"} <= set(case.attrib) <= {"name", "classname", "time"})
        holds(f"{case.get('name')}: several results", len(case) <= 1)
        for result in case:
            expected = set() if result.tag == "system-out" else {"type", "message"}
            equal(result.tag, set(result.attrib), expected)
    tags = Counter(element.tag for element in root.iter())
    holds(f"unknown elements: {tags}", set(tags) <= {
        "testsuites", "testsuite", "testcase", "failure", "error", "system-out"})


def sarif(folder: Path, metadata: Path) -> None:
    """Validates the report by the schema, and reads it with sarif-tools."""
    import jsonschema

    path = folder / "report.sarif"
    log = json.loads(path.read_text())
    packages = json.loads(metadata.read_text())["packages"]
    manifest = next(package["manifest_path"] for package in packages if package["name"] == "serde-sarif")
    schema = json.loads((Path(manifest).parent / "src/schema.json").read_text())
    jsonschema.validate(log, schema)
    run, = log["runs"]
    found = Counter()
    for result in run["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        found[unquote(uri)] += 1
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
        equal("the rule of the index", rule, result["ruleId"])
    expected = sum(len(loops(run)) for run in runs(folder))
    holds(f"{sum(found.values())} results for {expected} loops", sum(found.values()) >= expected)
    equal("files", len(found), sum(1 for run in runs(folder) if run["findings"]))
    invocation, = run["invocations"]
    holds("an input that was not read", invocation["executionSuccessful"] or invocation["toolExecutionNotifications"])
    summary = folder / "summary.txt"
    command = [sys.executable, "-m", "sarif", "summary", "--output", str(summary), str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    counts = [int(line.rsplit(": ", 1)[1]) for line in summary.read_text().splitlines()
              if line.lstrip().startswith(("error: ", "warning: ", "note: "))]
    holds(f"sarif summary: {counts}", sum(counts) >= len(run["results"]))


def csv_(folder: Path) -> None:
    """Reads the report with Python's csv."""
    with (folder / "report.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    for row in rows:
        holds(f"columns: {row}", None not in row and None not in row.values())
        holds(f"a formula: {row}", not any(value.startswith(("=", "+", "-", "@")) for value in row.values()))
    stuck = [row for row in rows if row["status"] == "stuck"]
    expected = sum((loops(run) for run in runs(folder)), Counter())
    equal("loops", set(row["loop"] for row in stuck), set(expected))
    equal("clean runs", sum(row["status"] in ("clean", "partly") for row in rows),
          sum(not run["findings"] for run in runs(folder)))
    costs = [row for row in stuck if row["calls_after"]]
    equal("rows with costs", len(costs), sum(bool(run["findings"]) for run in runs(folder)))


def markdown(folder: Path) -> None:
    """Checks that the table has a row for each loop, and that nothing outside of code is of a recording."""
    text = (folder / "report.markdown").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| <code>")]
    expected = sum((loops(run) for run in runs(folder)), Counter())
    equal("rows", len(rows), len(expected))
    equal("details", text.count("\n<details>\n"), len(expected))
    equal("ends of details", text.count("\n</details>\n"), len(expected))
    holds("too long", len(text.encode()) < 1 << 20)


def github(folder: Path) -> None:
    """Checks that every line is a command, with at most ten of each level."""
    lines = (folder / "report.github").read_text().splitlines()
    levels = Counter(line.removeprefix("::").split(" ")[0].split("::")[0] for line in lines)
    holds(f"lines: {levels}", set(levels) <= {"error", "warning", "notice"} and levels["notice"] == 1)
    stuck = sum(bool(run["findings"]) for run in runs(folder))
    equal("errors", levels["error"], min(stuck, 10))


CHECKS = {"junit": junit, "csv": csv_, "markdown": markdown, "github": github}

if __name__ == "__main__":
    match sys.argv[1:]:
        case ["traces", folder]:
            traces(Path(folder))
        case ["sarif", folder, metadata]:
            sarif(Path(folder), Path(metadata))
        case [name, folder]:
            CHECKS[name](Path(folder))
        case _:
            sys.exit(__doc__)
