"""A scanner for Inspect Scout: finds the loops of recorded transcripts, from any source that Scout reads."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ChatMessage
from inspect_scout import Reference, Result, Scanner, Transcript, scanner

from . import Finding, Guard
from .inspect_ai import replay

__all__ = ["unstuck"]

_ACTIONS = ("proceed", "nudge", "warn", "block", "start_over", "stop")


@scanner(messages="all")
def unstuck(preset: str = "balanced", **options: Any) -> Scanner[Transcript]:
    """Finds loops. Takes the options of ``unstuck.Guard``.

    The value of a result is the number of loops, its answer the strongest action that a guard would have
    taken. It cites the calls of the first loop, and the metadata describe all of them.

    >>> status = scan([unstuck()], transcripts=transcripts_from("logs"))  # doctest: +SKIP
    """
    Guard(preset, **options)  # A wrong option is an error here.

    async def run(transcript: Transcript) -> Result:
        # The calls ran, whatever a guard would have said. One that only observes counts none as refused.
        guard = Guard(preset, **{**options, "observe": True})
        calls: list[ChatMessage] = []
        loops: dict[str, tuple[Finding, list[ChatMessage]]] = {}
        strongest = "proceed"
        for message, call, decision in replay(guard, transcript.messages):
            if call is not None and message.role == "assistant":
                calls.append(message)
            strongest = max(strongest, decision.judged, key=_ACTIONS.index)
            found = decision.finding
            if found is not None and decision.judged != "proceed":
                members = [calls[number] for number in found.calls if number < len(calls)]
                loops[found.id] = (found, members or [message])
        if not loops:
            return Result(value=0)
        findings = [found for found, _ in loops.values()]
        _, members = next(iter(loops.values()))
        cited = list({id(message): message for message in members}.values())
        labels = [f"[M{_number(transcript, message)}]" for message in cited]
        return Result(
            value=len(loops),
            answer=strongest,
            explanation=f"{'; '.join(map(str, findings))} {' '.join(labels)}",
            metadata={"loops": list(map(_fields, findings))},
            references=[
                Reference(type="message", cite=label, id=message.id or "")
                for label, message in zip(labels, cited, strict=True)
            ],
        )

    return run


def _number(transcript: Transcript, message: ChatMessage) -> int:
    return next(n for n, other in enumerate(transcript.messages, start=1) if other is message)


def _fields(found: Finding) -> dict[str, Any]:
    return {
        "loop": found.id,
        "rule": found.rule,
        "kind": found.kind,
        "tool": found.tool,
        "period": found.period,
        "laps": found.laps,
        "calls": found.calls,
    }
