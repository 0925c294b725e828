"""A stuck detector for the OpenHands SDK, in place of its own.

The SDK shows a detector the events of a conversation between two turns. So the detector cannot refuse a
call: it ends the run at the call that should have been refused.
"""

from __future__ import annotations

from typing import Any

from openhands.sdk.conversation import LocalConversation
from openhands.sdk.conversation.stuck_detector import StuckDetector
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    Event,
    MessageEvent,
    ObservationEvent,
    UserRejectObservation,
)

from . import Decision
from ._adapter import Sessions, text_of

__all__ = ["UnstuckDetector", "watch"]


def watch(conversation: Any, preset: str = "balanced", **options: Any) -> UnstuckDetector:
    """Replaces the stuck detector of a local conversation. Takes the options of ``unstuck.Guards``.

    >>> conversation = Conversation(agent=agent, workspace=".")  # doctest: +SKIP
    >>> detector = watch(conversation)  # doctest: +SKIP

    :raises TypeError: The conversation runs on a server, whose detector cannot be replaced from here.
    """
    if not isinstance(conversation, LocalConversation):
        raise TypeError(f"expected a LocalConversation, not {type(conversation).__name__}")
    detector = UnstuckDetector(conversation.state, preset, **options)
    conversation._stuck_detector = detector
    return detector


class UnstuckDetector(StuckDetector):
    """Judges the events of a conversation. Events from before its time count, but cause no note."""

    def __init__(self, state: Any, preset: str = "balanced", **options: Any) -> None:
        super().__init__(state)
        self._sessions = Sessions(preset, **options)
        self._session = str(state.id)
        self._seen = 0
        self._stop: str | None = None
        self._read()

    @property
    def reason(self) -> str | None:
        """The loop that ended the run, or None."""
        return self._stop

    def get_action_error_nudge(self) -> str | None:
        """Returns the notes about the events since the last question. The model reads them as a message."""
        notes = self._read()
        return "\n\n".join(notes) if notes and self._stop is None else None

    def is_stuck(self) -> bool:
        """Returns whether the run ends."""
        self._read()
        return self._stop is not None

    def _read(self) -> list[str]:
        notes = []
        try:
            count = len(self.state.events)
            for index in range(self._seen, count):
                self._seen = index + 1
                decision = self._judged(self.state.events[index])
                if decision is not None and decision.message is not None:
                    notes.append(decision.message)
        except Exception as defect:
            self._sessions.failed(defect)
        return notes

    def _judged(self, event: Event) -> Decision | None:
        session = self._session
        if isinstance(event, ActionEvent):
            # The raw arguments also have a summary and a risk, in other words each time.
            args: object = event.tool_call.arguments
            if event.action is not None:
                args = event.action.model_dump(mode="json", exclude={"kind"})
            before = self._sessions.before(
                session, event.tool_name, args, id=event.tool_call_id, step=event.llm_response_id
            )
            if before is not None and before.blocked:
                # The message says that the call was not run, but it was: the detector sees it too late.
                self._stop = str(before.finding or "a call that keeps coming back as it did before")
            return None
        if isinstance(event, ObservationEvent):
            seen = event.observation
            has_failed = seen.is_error or getattr(seen, "exit_code", None) not in (None, 0, -1)
            text = text_of(list(seen.to_llm_content))
            decision = self._sessions.after(session, event.tool_call_id, text, error=has_failed)
        elif isinstance(event, AgentErrorEvent):
            decision = self._sessions.after(session, event.tool_call_id, event.error, error=True)
        elif isinstance(event, UserRejectObservation):
            decision = self._sessions.refused(session, event.tool_call_id)
        elif isinstance(event, MessageEvent):
            decision = self._said(event)
        else:
            return None
        if decision is not None and decision.ends_run:
            self._stop = decision.message or "The run ends here."
        return decision

    def _said(self, event: MessageEvent) -> Decision | None:
        text = text_of(list(event.llm_message.content))
        if not isinstance(text, str):
            return None
        if event.source == "agent":
            return self._sessions.text_turn(self._session, text)
        if event.source == "user":
            self._stop = None
            self._sessions.user_message(self._session, text)
        return None
