"""Someone else who looks at a loop, and calls that only repeat."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import weakref
from typing import Any

import pytest

from unstuck import Decision, Escalation, Guard, Guards

QUESTION = "[unstuck] The model that works here is stuck, and you take its next turn. It was told: You have made the same"


def fail(guard: Guard, times: int, target: str = "all") -> list[Decision]:
    """Makes equal failing calls. Returns the decisions on the results, and on the calls that did not run."""
    decisions = []
    for _ in range(times):
        before = guard.before("bash", f"make {target}")
        ran = not before.blocked
        decisions.append(guard.after(before.ticket, f"no rule for {target}", error=True) if ran else before)
    return decisions


def test_by_default_nobody_is_asked() -> None:
    assert [one.question for one in fail(Guard(), 8)] == [None] * 8


def test_a_decision_has_the_question_once_and_a_session_at_most_so_many() -> None:
    guard = Guard(escalate=2)
    asked = [[one.question for one in fail(guard, 7, target)] for target in "abc"]
    assert [sum(question is not None for question in loop) for loop in asked] == [1, 1, 0]
    question = asked[0][4]
    assert question is not None and question.startswith(QUESTION)
    assert question.endswith("What would you do instead?")


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("answer", "actions"),
    [
        (None, ["block", "block"]),
        ("go on", ["proceed", "proceed"]),
        ("stop", ["stop", "stop"]),
    ],
)
def test_the_answer_of_a_function_holds(answer: Any, actions: list[str], is_async: bool) -> None:
    seen: list[Escalation] = []

    def asked(escalation: Escalation) -> Any:
        seen.append(escalation)
        return answer

    async def asked_later(escalation: Escalation) -> Any:
        await asyncio.sleep(0)
        return asked(escalation)

    guard = Guard(on_escalate=asked_later if is_async else asked)
    decisions = fail(guard, 6)
    assert [one.action for one in decisions[4:]] == actions
    assert [one.action for one in decisions[:4]] == ["proceed", "proceed", "nudge", "nudge"]
    (escalation,) = seen
    assert (escalation.finding.laps, escalation.excerpt) == (5, "no rule for all")
    assert escalation.question.startswith(QUESTION)


def test_in_an_event_loop_an_answer_counts_from_when_it_comes() -> None:
    async def asked(_: Escalation) -> Any:
        await asyncio.sleep(0)
        return "stop"

    async def run() -> list[str]:
        guard = Guard(on_escalate=asked)
        early = fail(guard, 5)[-1]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return [early.action, fail(guard, 1)[0].action]

    assert asyncio.run(run()) == ["block", "stop"]


def test_a_host_with_a_loop_of_its_own_asks_and_answers() -> None:
    guard = Guard(escalate=1)
    decision = fail(guard, 5)[-1]
    assert guard.answered(decision, None).action == "block"
    stopped = guard.answered(decision, "stop")
    assert (stopped.ends_run, stopped.question) == (True, None)
    with pytest.raises(ValueError, match="'go on', 'stop' or None"):
        guard.answered(decision, "perhaps")  # type: ignore[arg-type]
    # A decision without a loop stays as it is.
    assert guard.answered(guard.before("bash", "ls"), "stop").action == "proceed"


def test_a_function_that_raises_is_an_error_of_the_host() -> None:
    def asked(_: Escalation) -> Any:
        raise KeyError("ours")

    guard = Guard(on_escalate=asked)
    with pytest.raises(KeyError, match="ours"):
        fail(guard, 5)
    assert guard.before("bash", "make all").blocked


def agreeing(_: Escalation) -> Any:
    return "go on"


def test_a_copy_asks_the_same_function_and_knows_what_was_asked() -> None:
    for copied in (copy.copy, lambda guard: pickle.loads(pickle.dumps(guard))):
        assert fail(copied(Guard(on_escalate=agreeing)), 5)[-1].action == "proceed"
        guard = Guard(escalate=1)
        assert fail(guard, 5)[-1].question is not None
        assert all(one.question is None for one in fail(copied(guard), 7, "other"))
    guards = Guards(on_escalate=agreeing)
    assert fail(guards.get("a"), 5)[-1].action == "proceed"


def test_a_function_that_holds_its_guard_is_collected() -> None:
    class Holder:
        def asked(self, _: Escalation) -> Any:
            return None

    holder: Any = Holder()
    holder.guard = Guard(on_escalate=holder.asked)
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


def test_calls_that_only_repeat_are_named_by_the_ids_of_the_host() -> None:
    guard = Guard()
    ids = [f"c{n}" for n in range(5)]
    for id in ids:
        guard.after(guard.before("read_file", {"path": "a"}, id=id).ticket, "no such file", error=True)
    written = [f"w{n}" for n in range(4)]
    for id in written:
        guard.after(guard.before("write_file", {"path": "a"}, id=id).ticket, "written")
    assert guard.repeated([*ids, *written, "unknown"]) == ["c1", "c2", "c3"]
    # An id that comes twice in the context of the host names no call.
    assert guard.repeated([*ids, "c2"]) == ["c1", "c3"]
    assert guard.repeated([]) == []
