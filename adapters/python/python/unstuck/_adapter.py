"""What the integrations share: the guards of their sessions, and the rule that our defects let calls run.

Frameworks share the objects that hold hooks between runs, users and threads. So an integration finds its guard by the
id of the run or, where there is none, by an object that lives as long as the run.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import weakref
from collections.abc import Callable, Coroutine, Sequence
from threading import Lock
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from . import Decision, Guard, Guards, Ticket

_P = ParamSpec("_P")
_R = TypeVar("_R")
_W = TypeVar("_W", bound="Watching")

_log = logging.getLogger("unstuck")


class Sessions:
    """The guards of many sessions. Its methods never raise: a call that cannot be judged runs.

    Takes the options of ``Guards``. A wrong option is an error here, not later.
    """

    def __init__(self, preset: str = "balanced", **options: Any) -> None:
        self._guards = Guards(preset, **options)
        self._has_logged = False

    def guard(self, session: str) -> Guard:
        """Returns the guard of a session. This method alone may raise."""
        return self._guards.get(session)

    def before(
        self, session: str, tool: str, args: object, *, id: str | None = None, step: object = None
    ) -> Decision | None:
        """Judges a call before it runs. Calls with the same ``step``, of any type, were issued together."""
        try:
            number = None if step is None else step_number(str(step))
            return self._guards.get(session).before(tool, args, id=id or None, step=number)
        except Exception as defect:
            self.failed(defect)
            return None

    def after(
        self, session: str, call: Ticket | str | None, result: object, *, error: bool = False
    ) -> Decision | None:
        """Reports the result of a call."""
        try:
            return self._guards.get(session).after(call, result, error=error)
        except Exception as defect:
            self.failed(defect)
            return None

    def cancelled(self, session: str, call: Ticket | str | None) -> None:
        """Takes back a call that was broken off."""
        try:
            self._guards.get(session).cancelled(call)
        except Exception as defect:
            self.failed(defect)

    def refused(self, session: str, call: Ticket | str | None) -> Decision | None:
        """Reports that somebody else refused the call."""
        try:
            return self._guards.get(session).refused(call)
        except Exception as defect:
            self.failed(defect)
            return None

    def text_turn(self, session: str, text: str) -> Decision | None:
        """Reports a turn of the agent without a call."""
        try:
            return self._guards.get(session).text_turn(text)
        except Exception as defect:
            self.failed(defect)
            return None

    def user_message(self, session: str, text: str) -> None:
        """Reports a message of the user."""
        try:
            self._guards.get(session).user_message(text)
        except Exception as defect:
            self.failed(defect)

    def failed(self, defect: Exception) -> None:
        """Logs the first defect of this object. The host goes on as if nothing had been watched."""
        if not self._has_logged:
            self._has_logged = True
            _log.error("unstuck failed; calls run unwatched", exc_info=defect)


class Watching(Protocol):
    """An object whose hooks fail open."""

    _sessions: Sessions


def fails_open(
    hook: Callable[Concatenate[_W, _P], Coroutine[Any, Any, _R]],
) -> Callable[Concatenate[_W, _P], Coroutine[Any, Any, _R | None]]:
    """Lets an asynchronous hook return None, which means "go on", if the hook itself is defective."""

    async def open(self: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> _R | None:
        try:
            return await hook(self, *args, **kwargs)
        except Exception as defect:
            self._sessions.failed(defect)
            return None

    functools.update_wrapper(open, hook)
    return open


class Identities:
    """Session ids for objects that have no id of their own, such as the agent or the context of a run.

    An address alone does not do: it is used again after its object is gone.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._last = 0
        self._lock = Lock()

    def of(self, owner: object) -> str:
        """Returns the id of ``owner``. An object that cannot be referenced weakly has its address as id."""
        address = id(owner)
        with self._lock:
            known = self._known.get(address)
            if known is not None and known[0]() is owner:
                return known[1]
            try:
                reference = weakref.ref(owner, lambda gone: self._forget(address, gone))
            except TypeError:
                return f"{type(owner).__name__}@{address:x}"
            self._last += 1
            name = f"{type(owner).__name__}#{self._last}"
            self._known[address] = (reference, name)
            return name

    def _forget(self, address: int, gone: weakref.ref[Any]) -> None:
        # This runs whenever an object goes, perhaps within `of`. So it takes no lock.
        known = self._known.get(address)
        if known is not None and known[0] is gone:
            del self._known[address]


def step_number(key: str) -> int:
    """Returns the number of the step that ``key`` names."""
    return int.from_bytes(hashlib.blake2b(key.encode(errors="replace"), digest_size=8).digest(), "big")


def text_of(content: object) -> object:
    """Returns the text of content blocks, joined. Other content, such as an image, is returned as it is."""
    if not isinstance(content, Sequence) or isinstance(content, (str, bytes)):
        return content
    texts = [_block_text(block) for block in content]
    known = [text for text in texts if text is not None]
    return "\n".join(known) if len(known) == len(texts) else content


def _block_text(block: object) -> str | None:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, dict) else getattr(block, "text", None)
    return text if isinstance(text, str) else None
