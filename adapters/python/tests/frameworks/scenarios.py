"""The scenarios that each integration passes, with a scripted model that stands in for a real one."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import pytest

import unstuck

MISSING = {"path": "missing.txt"}
"""The arguments of a call of ``read_file`` that fails."""

NOTE = "[unstuck] You have made the same `read_file` call 3 times in a row"
REFUSAL = "[unstuck] This call was not run. You have made the same `read_file` call 6 times in a row"
STOP = "[unstuck] This call was not run. You have made the same `read_file` call 8 times in a row"
DONE = "done"
"""The last answer of each script."""

Turn = str | list[dict[str, str]]
"""A turn of the model: text, or the arguments of the calls of ``read_file`` that it issues together."""


@dataclass
class Played:
    """What one run did."""

    requests: list[str] = field(default_factory=list)
    """The messages of each request to the model, as text. Ids that differ in each run are left out."""
    ran: list[str] = field(default_factory=list)
    """The paths that the tool was asked for, if it ran."""
    end: str = ""
    """The last text of the run, or the message of the exception that ended it."""


class FileMissing(Exception):
    """Raised by the tool where the framework turns exceptions into results."""


def read_file(path: str) -> str:
    """The work of the tool. It raises for names that begin with ``missing``."""
    if path.startswith("missing"):
        raise FileMissing(f"no such file: {path}")
    return f"content of {path}"


def failing(times: int) -> list[Turn]:
    """The same failing call in ``times`` turns, and the last answer."""
    return [*([MISSING] for _ in range(times)), DONE]


HEALTHY: list[Turn] = [
    [{"path": "a.txt"}],
    [{"path": "b.txt"}, {"path": "c.txt"}],
    [MISSING],
    [{"path": "d.txt"}],
    DONE,
]


class Scenarios:
    """The tests of an integration. A subclass plays scripts; it overrides a test that its framework cannot
    pass by one that pins what happens there instead."""

    tool = "read_file"
    """The name of the tool, as the framework reports it."""

    failures_max = 9
    """The number of equal failing calls that the framework itself allows, or enough to be refused."""

    def play(self, *scripts: list[Turn], guarded: bool = True, **options: Any) -> list[Played]:
        """Plays each script in a run of its own, at the same time, with one shared agent and adapter.

        The ``options`` are those of the classes below."""
        raise NotImplementedError

    def about(self, message: str) -> str:
        return message.replace("read_file", self.tool)

    def play_one(self, script: list[Turn], *, guarded: bool = True) -> Played:
        (played,) = self.play(script, guarded=guarded)
        return played

    def test_the_model_reads_the_note(self) -> None:
        played = self.play_one(failing(3))
        assert len(played.requests) == 4
        assert self.about(NOTE) not in played.requests[2]
        assert self.about(NOTE) in played.requests[3]
        assert "no such file: missing.txt" in played.requests[3]
        assert played.end == DONE

    def test_a_repeated_failing_call_is_refused(self) -> None:
        played = self.play_one(failing(6))
        assert played.ran == ["missing.txt"] * 5
        assert self.about(REFUSAL) not in played.requests[5]
        assert self.about(REFUSAL) in played.requests[6]
        assert played.end == DONE

    def test_the_run_ends(self) -> None:
        played = self.play_one(failing(12))
        assert len(played.requests) == 8
        assert played.ran == ["missing.txt"] * 5
        assert played.end.startswith(self.about(STOP))

    def test_a_healthy_run_is_untouched(self) -> None:
        watched, alone = self.play_one(HEALTHY), self.play_one(HEALTHY, guarded=False)
        assert len(alone.requests) == 5
        assert (watched.requests, watched.end) == (alone.requests, alone.end)
        assert sorted(watched.ran) == sorted(alone.ran)

    def test_concurrent_runs_do_not_mix(self) -> None:
        # The runs fail at different steps, so one guard for all would count them all.
        a, b = [{"path": "a.txt"}], [{"path": "b.txt"}]
        played = self.play(failing(2), [a, *failing(2)], [a, b, *failing(2)], failing(3))
        assert [self.about(NOTE) in run.requests[-1] for run in played] == [False, False, False, True]

    def test_parallel_calls_are_one_step(self) -> None:
        played = self.play_one([[MISSING] * 4, DONE])
        assert played.ran == ["missing.txt"] * 4
        assert len(played.requests) == 2
        assert "unstuck" not in played.requests[-1]

    def test_three_steps_of_parallel_calls_are_three(self) -> None:
        played = self.play_one([[MISSING] * 2, [MISSING] * 2, [MISSING] * 2, DONE])
        assert "[unstuck]" not in played.requests[2]
        assert self.about(NOTE) in played.requests[3]

    @pytest.mark.parametrize("method", ["before", "after"])
    def test_a_defect_lets_calls_run(
        self, method: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("a defect")

        monkeypatch.setattr(unstuck.Guard, method, broken)
        with caplog.at_level(logging.ERROR, logger="unstuck"):
            played = self.play_one(failing(self.failures_max))
        assert played.ran == ["missing.txt"] * self.failures_max
        assert played.end == DONE
        assert "unstuck" not in played.requests[-1]
        assert [record.name for record in caplog.records].count("unstuck") == 1


class TakesMessages(Scenarios):
    """The tests of a framework in which one run may get several messages of the user: ``play`` takes the
    number of them as ``times``."""

    def test_a_new_message_of_the_user_lifts_the_refusal(self) -> None:
        (played,) = self.play([*failing(6), *failing(1)], times=2)
        assert played.ran == ["missing.txt"] * 6


class SeesUnknownTools(Scenarios):
    """The tests of a framework that shows calls of unknown tools: ``play`` takes the name of the tool that
    the model calls as ``called``."""

    def test_an_unknown_tool_is_a_failing_call(self) -> None:
        (played,) = self.play(failing(6), called="write_file")
        assert NOTE.replace("read_file", "write_file") in played.requests[3]
        assert REFUSAL.replace("read_file", "write_file") in played.requests[6]
