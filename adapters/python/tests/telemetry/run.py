"""Plays all scenarios under all SDKs, to files and to `unstuck watch`, and compares what is read from the spans.

    python run.py FOLDER UNSTUCK EVENTS

FOLDER has an environment for each `requirements` file, with the same name. Each environment plays the modules in
`sdks` whose names begin with its name, because an SDK may write its spans in two ways. UNSTUCK is the program, and
EVENTS the example `events` of `unstuck-trace`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    folder, unstuck, events = map(Path, sys.argv[1:])
    runs, findings = folder / "runs", folder / "findings.jsonl"
    findings.unlink(missing_ok=True)
    command = [unstuck, "watch", "--otlp", "127.0.0.1:0", "--findings", findings]
    watch = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert watch.stderr is not None
        line = watch.stderr.readline()
        address = re.search(r"http://[^/\s]+", line)
        if address is None:
            raise SystemExit(f"`unstuck watch` does not say its address: {line}")
        for requirements in sorted(HERE.glob("requirements-*.txt")):
            name = requirements.stem.removeprefix("requirements-")
            sdks = sorted(module.stem for module in (HERE / "sdks").glob(f"{name}*.py"))
            python = folder / name / "bin/python"
            subprocess.run([python, HERE / "play.py", "--receiver", address[0], runs, *sdks], check=True)
    finally:
        # It judges what still waits.
        watch.terminate()
        status = watch.wait()
    if status != 0:
        raise SystemExit(f"`unstuck watch` ended with {status}")
    ended = subprocess.run([sys.executable, HERE / "compare.py", runs, unstuck, events, findings])
    raise SystemExit(ended.returncode)


if __name__ == "__main__":
    main()
