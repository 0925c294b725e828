"""Makes the labelled runs again from the repositories that published them. `SOURCES.md` lists these.

    make.py clone CLONES        clones what is missing as CLONES/OWNER/NAME; files come later, as they are needed
    make.py runs CLONES RUNS    writes the runs as native traces, RUNS/FILE for each label

`runs` reads each file at the commit below, whatever is checked out, and leaves out the runs of a repository that is not
in CLONES. It needs Python 3.9 and git.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import convert

LABELS = Path(__file__).with_name("labels.jsonl")

# The commit that is read, by repository.
COMMITS = {
    "MinorJerry/WebVoyager": "5a7896738c10bfb8b9edccce6bb0e0411f8ae569",
    "OpenBMB/ToolBench": "d56fdd89faf8c91fa135090b212bb9057ee5cfc2",
    "SWE-agent/SWE-agent": "9b1232c24e81b40d0992de10334b37677ef16f35",
    "SWE-bench/SWE-smith": "cf2e649d1eb41cd467421210da7ab8d67e47161e",
    "THUNLP-MT/StableToolBench": "aa4ed9f4737ad98bd706663f01d63623c3427812",
    "ag2ai/Agents_Failure_Attribution": "f4d2b6da464a826580e59b3a0eae15ea2d642d7c",
    "badlogic/pi-mono": "83378aad7e74a0e2bb8f37c007a9685fb4609d8a",
    "noahshinn/reflexion": "218cf0ef1df84b05ce379dd4a8e47f17766733a0",
    "princeton-nlp/intercode": "c3e46d827cfc9d4c704ec078f7abf9f41e3191d8",
    "sierra-research/tau-bench": "59a200c6d575d595120f1cb70fea53cef0632f6b",
    "xingyaoww/mint-bench": "3f7f12c10bf763be1e6dbdeb42feb57624121f61",
}

# What reads a run, by the first folder of a label's file.
READERS = {
    "intercode": convert.intercode,
    "mint": convert.mint,
    "pi-mono": convert.pi,
    "reflexion-alfworld-memory": convert.alfworld_memory,
    "reflexion-hotpot": convert.hotpot,
    "swe-agent": convert.swe_agent,
    "swe-smith": convert.swe_agent,
    "tau-bench": convert.tau_bench,
    "toolbench": convert.tool_bench,
    "webvoyager": convert.web_voyager,
    "who-and-when": convert.who_and_when,
}


def clone(clones: Path) -> None:
    for repository in COMMITS:
        if not (clones / repository).exists():
            url = f"https://github.com/{repository}"
            command = ["git", "clone", "--quiet", "--no-checkout", "--filter=blob:none", url, str(clones / repository)]
            subprocess.run(command, check=True)


def runs(clones: Path, folder: Path) -> None:
    labels = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    present = [label for label in labels if (clones / label["repository"]).is_dir()]
    for label in present:
        write(folder / label["file"], label, records(clones, label))
    print(f"wrote {len(present)} of {len(labels)} runs to {folder}")
    missing = sorted({label["repository"] for label in labels if label not in present})
    if missing:
        raise SystemExit(f"not in {clones}, so their runs are missing: {', '.join(missing)}")


def records(clones: Path, label: dict) -> list[convert.Record]:
    """The records of a run, which has as many calls as the label says."""
    text = published(clones / label["repository"], COMMITS[label["repository"]], label["path"])
    made = READERS[Path(label["file"]).parts[0]](text, label.get("item"))
    calls = sum(record["type"] == "call" for record in made)
    if calls != label["calls"]:
        raise SystemExit(f"{label['file']}: {calls} calls, but its label says {label['calls']}")
    return made


@lru_cache(maxsize=1)
def published(repository: Path, commit: str, path: str) -> str:
    """The text of a file at a commit. Runs of the same file follow each other, so the last one is kept."""
    shown = subprocess.run(["git", "-C", str(repository), "show", f"{commit}:{path}"], stdout=subprocess.PIPE)
    if shown.returncode != 0:
        raise SystemExit(f"{repository} does not have {path} at {commit}: clone the repository with its history")
    return shown.stdout.decode("utf-8", "replace")


def write(file: Path, label: dict, made: list[convert.Record]) -> None:
    header = {name: label[name] for name in ("repository", "path", "item") if name in label}
    lines = [json.dumps(record, ensure_ascii=False) for record in [header, *made]]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "clone":
        clone(Path(sys.argv[2]))
    elif len(sys.argv) == 4 and sys.argv[1] == "runs":
        runs(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        raise SystemExit(__doc__)
