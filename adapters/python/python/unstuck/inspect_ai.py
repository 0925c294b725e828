"""An approver for Inspect.

It keeps no state: it rebuilds the guard from the history of the sample at each call. An approver sees a call
before it runs and cannot change a result, so the model reads refusals but no notes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from inspect_ai.approval import Approval, Approver, approver
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall, ToolCallView

from . import Decision, Guard
from ._adapter import step_number

__all__ = ["replay", "unstuck"]

_log = logging.getLogger("unstuck")


@approver
def unstuck(
    preset: str = "balanced", *, otherwise: Literal["approve", "escalate"] = "approve", **options: Any
) -> Approver:
    """Refuses calls that keep failing, and terminates samples that are stuck.

    Takes the options of ``unstuck.Guard``. With ``otherwise="escalate"``, the next approver of the policy
    decides about all other calls.

    >>> eval(task, approval=[ApprovalPolicy(unstuck(), "*")])  # doctest: +SKIP
    """
    Guard(preset, **options)  # A wrong option is an error here.
    has_logged = False

    async def approve(
        message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]
    ) -> Approval:
        nonlocal has_logged
        try:
            decision = _judged(Guard(preset, **options), call, history)
        except Exception:
            if not has_logged:
                has_logged = True
                _log.error("unstuck failed; calls run unwatched", exc_info=True)
            return Approval(decision=otherwise)
        if not decision.blocked:
            return Approval(decision=otherwise)
        return Approval(
            decision="terminate" if decision.ends_run else "reject", explanation=decision.message
        )

    return approve


def _judged(guard: Guard, call: ToolCall, history: Sequence[ChatMessage]) -> Decision:
    for _ in replay(guard, history):
        pass
    turns = (message for message in reversed(history) if isinstance(message, ChatMessageAssistant))
    return guard.before(call.function, call.arguments, step=_step(next(turns, None)))


def replay(
    guard: Guard, messages: Sequence[ChatMessage]
) -> Iterator[tuple[ChatMessage, ToolCall | None, Decision]]:
    """Reports a history to a new guard, and yields each message with its call and the decision about it.

    Calls without a result, such as those that wait for approval, are left out.
    """
    answers = {m.tool_call_id: m for m in messages if isinstance(m, ChatMessageTool)}
    for message in messages:
        if isinstance(message, ChatMessageUser):
            yield message, None, guard.user_message(message.text)
        if not isinstance(message, ChatMessageAssistant):
            continue
        if not message.tool_calls:
            yield message, None, guard.text_turn(message.text)
            continue
        calls = [call for call in message.tool_calls if call.id in answers]
        tickets = []
        for call in calls:
            decision = guard.before(call.function, call.arguments, step=_step(message))
            tickets.append(decision.ticket)
            yield message, call, decision
        for call, ticket in zip(calls, tickets, strict=True):
            answer = answers[call.id]
            if answer.error is None:
                decision = guard.after(ticket, answer.text)
            elif answer.error.type == "approval":
                decision = guard.refused(ticket)
            elif answer.error.type == "cancelled":
                decision = guard.cancelled(ticket)
            else:
                decision = guard.after(ticket, answer.error.message, error=True)
            yield answer, call, decision


def _step(turn: ChatMessageAssistant | None) -> int | None:
    return None if turn is None or turn.id is None else step_number(turn.id)
