"""Hooks for the Claude Agent SDK. Each session has a guard of its own, and so has each subagent in it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, cast

from claude_agent_sdk.types import HookContext, HookEvent, HookInput, HookJSONOutput, HookMatcher

from . import Decision
from ._adapter import Sessions, fails_open, text_of

__all__ = ["hooks"]


def hooks(preset: str = "balanced", **options: Any) -> dict[HookEvent, list[HookMatcher]]:
    """Returns hooks for ``ClaudeAgentOptions``. Takes the options of ``unstuck.Guards``.

    They add notes to the results of repeated calls, refuse calls that keep failing, and end stuck runs. To
    add hooks of your own, append matchers to the lists.

    >>> options = ClaudeAgentOptions(hooks=hooks())  # doctest: +SKIP
    """
    watch = _Hooks(preset, options)
    return {
        "UserPromptSubmit": [HookMatcher(hooks=[watch.prompt])],
        "PreToolUse": [HookMatcher(hooks=[watch.before])],
        "PostToolUse": [HookMatcher(hooks=[watch.after])],
        "PostToolUseFailure": [HookMatcher(hooks=[watch.after])],
        # The program knows this event; the SDK's type of events does not.
        cast("HookEvent", "PostToolBatch"): [HookMatcher(hooks=[watch.batch])],
    }


_SESSIONS_MAX = 1024
"""The largest number of sessions whose batches are counted."""

_FIRST_BATCH_MAX = 8
"""After so many calls without a batch, the program is too old to report any."""


class _Batches:
    """Counts the batches of a session: the calls that one answer of the model has.

    The program runs most tools of a batch one after the other, so a guard could not tell them from steps.
    """

    def __init__(self) -> None:
        self.ended = self.calls = 0
        self.has_result: dict[str, bool] = {}
        """The announced calls of this batch."""

    def are_reported(self) -> bool:
        return self.ended > 0 or self.calls <= _FIRST_BATCH_MAX


class _Hooks:
    def __init__(self, preset: str, options: dict[str, Any]) -> None:
        self._sessions = Sessions(preset, **options)
        self._batches: OrderedDict[str, _Batches] = OrderedDict()

    async def prompt(self, input: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        fields = cast("dict[str, Any]", input)
        self._sessions.user_message(_session(fields), str(fields.get("prompt", "")))
        return {}

    async def before(self, input: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        return await self._before(cast("dict[str, Any]", input)) or {}

    async def after(self, input: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        return await self._after(cast("dict[str, Any]", input)) or {}

    async def batch(self, input: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        return await self._batch(cast("dict[str, Any]", input)) or {}

    @fails_open
    async def _before(self, fields: dict[str, Any]) -> HookJSONOutput | None:
        session = _session(fields)
        batches = self._batches_of(session)
        batches.calls += 1
        batches.has_result[fields["tool_use_id"]] = False
        decision = self._sessions.before(
            session,
            fields["tool_name"],
            fields["tool_input"],
            id=fields["tool_use_id"],
            step=f"{session}/{batches.ended}" if batches.are_reported() else None,
        )
        if decision is None or not decision.blocked:
            return None
        output: HookJSONOutput = {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": decision.message or "",
            }
        }
        return _ended(output, decision)

    @fails_open
    async def _after(self, fields: dict[str, Any]) -> HookJSONOutput | None:
        session, call = _session(fields), fields["tool_use_id"]
        self._batches_of(session).has_result[call] = True
        if fields.get("is_interrupt"):
            self._sessions.cancelled(session, call)
            return None
        has_failed = fields["hook_event_name"] == "PostToolUseFailure"
        result = fields["error"] if has_failed else text_of(fields["tool_response"])
        decision = self._sessions.after(session, call, result, error=has_failed)
        if decision is None or decision.message is None:
            return None
        output: HookJSONOutput = (
            {
                "hookSpecificOutput": {
                    "hookEventName": "PostToolUseFailure",
                    "additionalContext": decision.message,
                }
            }
            if has_failed
            else {
                "hookSpecificOutput": {
                    "hookEventName": "PostToolUse",
                    "additionalContext": decision.message,
                }
            }
        )
        return _ended(output, decision)

    @fails_open
    async def _batch(self, fields: dict[str, Any]) -> HookJSONOutput | None:
        """Judges the calls of unknown tools, for which no other hook is called."""
        session = _session(fields)
        batches = self._batches_of(session)
        decisions: list[Decision | None] = []
        for call in fields.get("tool_calls") or []:
            id = call["tool_use_id"]
            if id in batches.has_result:
                if not batches.has_result[id]:
                    # Another hook or the user refused it, or this guard did, and then it knows.
                    decisions.append(self._sessions.refused(session, id))
                continue
            step = f"{session}/{batches.ended}"
            before = self._sessions.before(session, call["tool_name"], call["tool_input"], id=id, step=step)
            if before is not None and before.blocked:
                decisions.append(before)
            else:
                result = text_of(call.get("tool_response"))
                decisions.append(self._sessions.after(session, id, result, error=True))
        batches.ended += 1
        batches.has_result.clear()
        told = [decision for decision in decisions if decision is not None and decision.message is not None]
        if not told:
            return None
        output: HookJSONOutput = {
            "hookSpecificOutput": {
                "hookEventName": "PostToolBatch",
                "additionalContext": "\n\n".join(decision.message or "" for decision in told),
            }
        }
        ending = next((decision for decision in told if decision.ends_run), told[-1])
        return _ended(output, ending)

    def _batches_of(self, session: str) -> _Batches:
        batches = self._batches.pop(session) if session in self._batches else _Batches()
        self._batches[session] = batches
        if len(self._batches) > _SESSIONS_MAX:
            self._batches.popitem(last=False)
        return batches


def _session(fields: dict[str, Any]) -> str:
    return f"{fields['session_id']}|{fields.get('agent_id') or ''}"


def _ended(output: HookJSONOutput, decision: Decision) -> HookJSONOutput:
    if not decision.ends_run:
        return output
    return cast(
        "HookJSONOutput", {**output, "continue_": False, "stopReason": decision.message or "The run ends here."}
    )
