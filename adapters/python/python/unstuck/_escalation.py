"""Someone else who looks at a loop before its calls are refused."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ._unstuck import Decision, Finding, Guard
from ._words import Answer

_EXCERPT_MAX = 1000
"""The most characters of a result that are shown."""

_open: set[asyncio.Task[None]] = set()
"""The tasks that wait for answers. The event loop itself does not keep them."""


@dataclass(frozen=True)
class Escalation:
    """A loop that somebody is asked about."""

    finding: Finding
    question: str
    """What the model was told, and what to do instead."""
    excerpt: str
    """The beginning of the latest result. It is empty if the latest call did not run."""


OnEscalate = Callable[[Escalation], Answer | None | Awaitable[Answer | None]]
"""Answers ``"go on"`` if it is no loop, ``"stop"`` to end the run, or ``None`` to leave it to the guard."""


def escalation(decision: Decision, result: object) -> Escalation | None:
    """Returns what somebody is asked about a decision, if they are. ``result`` is the text of the latest result."""
    if decision.question is None or decision.finding is None:
        return None
    return Escalation(decision.finding, decision.question, str(result)[:_EXCERPT_MAX])


def heard(guard: Guard, on_escalate: OnEscalate, decision: Decision, result: str) -> Decision:
    """Asks about a decision of ``guard`` that escalates. Returns the decision that holds.

    In a running event loop, an async answer counts from when it comes.
    """
    asked = escalation(decision, result)
    if asked is None:
        return decision
    answer = on_escalate(asked)
    if not inspect.isawaitable(answer):
        return guard.answered(decision, answer)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return guard.answered(decision, asyncio.run(_awaited(answer)))
    task = loop.create_task(_answered(guard, decision, answer))
    _open.add(task)
    task.add_done_callback(_open.discard)
    return decision


async def _awaited(answer: Awaitable[Answer | None]) -> Answer | None:
    return await answer


async def _answered(guard: Guard, decision: Decision, answer: Awaitable[Any]) -> None:
    guard.answered(decision, await answer)
