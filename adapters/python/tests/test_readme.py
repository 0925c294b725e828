"""The examples of the README. Those that need other packages have tests in `frameworks`."""

import pathlib
import re

import pytest

TEXT = (pathlib.Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
FRAMEWORKS = re.compile(r"^## (?:Frameworks|Archives)\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", FRAMEWORKS.sub("", TEXT), re.M | re.S)


@pytest.mark.parametrize("code, output", EXAMPLES)
def test_an_example_runs(code, output, capsys):
    exec(compile(code, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    assert shown.startswith(output)


def test_there_are_examples():
    assert len(EXAMPLES) >= 5
