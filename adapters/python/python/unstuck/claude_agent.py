"""Hooks for the Claude Agent SDK. Each session has a guard of its own, and so has each subagent in it."""

from __future__ import annotations

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
    }


class _Hooks:
    def __init__(self, preset: str, options: dict[str, Any]) -> None:
        self._sessions = Sessions(preset, **options)

    async def prompt(self, input: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        fields = cast("dict[str, Any]", input)
        self._sessions.user_message(_session(fields), str(fields.get("prompt", "")))
        return {}

    async def before(self, input: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        return await self._before(cast("dict[str, Any]", input)) or {}

    async def after(self, input: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        return await self._after(cast("dict[str, Any]", input)) or {}

    @fails_open
    async def _before(self, fields: dict[str, Any]) -> HookJSONOutput | None:
        decision = self._sessions.before(
            _session(fields), fields["tool_name"], fields["tool_input"], id=fields["tool_use_id"]
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


def _session(fields: dict[str, Any]) -> str:
    return f"{fields['session_id']}|{fields.get('agent_id') or ''}"


def _ended(output: HookJSONOutput, decision: Decision) -> HookJSONOutput:
    if not decision.ends_run:
        return output
    return cast(
        "HookJSONOutput", {**output, "continue_": False, "stopReason": decision.message or "The run ends here."}
    )
