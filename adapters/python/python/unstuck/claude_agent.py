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
        self._batches_of(_session(cast("dict[str, Any]", input))).ended += 1
        return {}

    @fails_open
    async def _before(self, fields: dict[str, Any]) -> HookJSONOutput | None:
        session = _session(fields)
        batches = self._batches_of(session)
        batches.calls += 1
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
