"""The extension module, written in Rust."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, NoReturn, Protocol, final, type_check_only

from typing_extensions import Self, disjoint_base

from ._escalation import OnEscalate
from ._words import Action, Answer, Kind

__all__ = [
    "Batches",
    "Decision",
    "Finding",
    "Guard",
    "PolicyError",
    "Run",
    "Statistics",
    "Ticket",
    "fingerprint",
    "is_transcript",
    "normalize",
    "presets",
    "scan",
    "scan_batches",
]

class PolicyError(ValueError):
    """The setup of a guard or a scan is wrong, for example an unknown preset."""

@final
class Ticket:
    """The name of an announced call, for its result. It is valid for the guard that issued it."""

    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __eq__(self, other: object, /) -> bool:
        """Whether both name the same call."""

@final
class Decision:
    """What to do about a call, and why."""

    @property
    def action(self) -> Action:
        """What to do. It is ``"proceed"`` while the guard only observes."""

    @property
    def judged(self) -> Action:
        """What the guard would do if it did not only observe."""

    @property
    def blocked(self) -> bool:
        """Whether the announced call must not run: it is refused, or the run ends.

        After a result: whether the next such call will be refused.
        """

    @property
    def ends_run(self) -> bool:
        """Whether the run ends here, or starts over."""

    @property
    def message(self) -> str | None:
        """The text for the model: in place of a result if the call must not run, else a note to append.

        Most decisions have none.
        """

    @property
    def question(self) -> str | None:
        """What to ask someone else, such as a stronger model that takes the next turn.

        There is a question at the first decision to block a loop, as often as ``Guard(escalate=…)`` allows.
        """

    @property
    def finding(self) -> Finding | None:
        """The loop, if there is one."""

    @property
    def ticket(self) -> Ticket | None:
        """The name of the call, for ``Guard.after``. ``None`` if no call is watched."""

    def annotate(self, result: str) -> str:
        """Returns ``result`` with the message appended, if there is one."""

    def __bool__(self) -> NoReturn:
        """Raises ``TypeError``, because a decision is more than true or false."""

@final
class Finding:
    """A loop, and the calls that prove it. ``str(finding)`` says in one line what recurs."""

    @property
    def id(self) -> str:
        """The id of the loop: 16 hexadecimal digits, the same in every run with these calls."""

    @property
    def rule(self) -> str:
        """The name of the rule."""

    @property
    def kind(self) -> Kind:
        """The way in which the calls recur."""

    @property
    def action(self) -> Action:
        """What the rule asks for."""

    @property
    def tool(self) -> str:
        """The tool of the last call. It is empty for text."""

    @property
    def worker(self) -> str:
        """In a recorded run: the worker that is stuck."""

    @property
    def message(self) -> str:
        """The words for the model, without their sign. It is empty if they were said before."""

    @property
    def cause(self) -> str | None:
        """The cause and one way out, if the latest call failed and its answer tells why."""

    @property
    def cause_kind(self) -> str | None:
        """The kind of the cause, such as ``path_missing`` or ``program_missing``."""

    @property
    def period(self) -> int:
        """The number of calls in a lap: 1 except for cycles."""

    @property
    def laps(self) -> int:
        """The number of repetitions."""

    @property
    def confidence(self) -> int:
        """The confidence in percent."""

    @property
    def is_text(self) -> bool:
        """Whether text repeats, and not calls. The numbers below are then those of messages."""

    @property
    def first(self) -> int:
        """The number of the first call of the loop, counted from 0."""

    @property
    def at(self) -> int:
        """The number of the call at which the rule asked for its action."""

    @property
    def last(self) -> int:
        """The number of the last call of the loop."""

    @property
    def calls(self) -> list[int]:
        """The numbers of the calls that prove the loop, as far back as they are kept."""

    @property
    def proof(self) -> list[tuple[int, str | None, str]]:
        """In a recorded run: number, tool and the beginning of the arguments of each of these calls."""

    def _repr_html_(self) -> str: ...

@final
class Statistics:
    """Counts over the life of a guard."""

    @property
    def calls(self) -> int:
        """The number of calls and turns of text that were judged."""

    @property
    def loops(self) -> int:
        """The number of loops, each counted once in a run."""

    @property
    def blocked(self) -> int:
        """The number of calls that were refused."""

    @property
    def false_positives(self) -> int:
        """The number of findings that were reported as wrong."""

    @property
    def findings(self) -> dict[Kind, int]:
        """The number of judgements with a finding of each kind. A loop has many."""

    @property
    def actions(self) -> dict[Action, int]:
        """The number of judgements that asked for each action."""

@disjoint_base
class Guard:
    def __new__(
        cls,
        preset: str = "balanced",
        *,
        config: str | PathLike[str] | Mapping[str, Any] | None = None,
        tools: Mapping[str, Any] | None = None,
        budget: Mapping[str, Any] | None = None,
        observe: bool = False,
        escalate: int | None = None,
        on_escalate: OnEscalate | None = None,
        session: str | None = None,
        worker: str | None = None,
    ) -> Self: ...
    @property
    def session(self) -> str:
        """The name of the session."""

    @property
    def worker(self) -> str:
        """The name of the worker, which is ``"main"`` by default."""

    @property
    def statistics(self) -> Statistics:
        """The counts so far."""

    def before(
        self, tool: str, args: object, *, id: str | None = None, step: int | None = None
    ) -> Decision:
        """Judges a call before it runs.

        ``args`` is a dict, JSON text, or any other value. ``id`` is the host's id of the call: a call
        that comes twice with one id counts once. ``step`` is a number that only calls share that the
        model issued together; without it, the guard numbers the steps.

        If the decision is ``blocked``, the call must not run. It is recorded as refused already.
        """

    def after(self, call: Ticket | str | None, result: object, *, error: bool = False) -> Decision:
        """Reports the result of a call, by the ticket of its decision or by its id.

        ``error`` says that the call failed. A result of a call that is not open changes nothing.
        """

    def refused(self, call: Ticket | str | None) -> Decision:
        """Reports that somebody else refused the call. It counts as an attempt."""

    def cancelled(self, call: Ticket | str | None) -> Decision:
        """Takes a call back that never ran or was broken off."""

    def user_message(self, text: object = None) -> Decision:
        """Reports a message of the user. A new one starts everything afresh, and so does ``None``."""

    def text_turn(self, text: object) -> Decision:
        """Reports a turn of the agent without a call."""

    def spend(self, *, tokens: int = 0, dollars: float = 0.0) -> None:
        """Reports tokens and dollars that were spent of the budget. The guard counts calls and minutes itself."""

    def end_step(self) -> None:
        """Ends the step, because all calls that were issued together are announced."""

    def clear(self) -> None:
        """Forgets all calls and turns, because a new run begins. The statistics stay."""

    def false_positive(self, finding: Finding) -> None:
        """Reports that a finding was wrong. The loop is not found again."""

    def answered(self, decision: Decision, answer: Answer | None) -> Decision:
        """Takes in what somebody says about a decision with a question. Returns the decision that holds.

        ``"go on"`` silences the loop, and ``"stop"`` ends the run. ``None`` leaves the decision as it is.
        """

    def repeated(self, ids: Sequence[str]) -> list[str]:
        """Returns those of the ids whose calls only repeat, so that a host may leave them out of the context.

        Such a call stands between two equal calls, with the same result all three times. The first and the latest
        of a series are not among them, nor is a call that may change something and worked, nor an id that comes
        twice. The guard remembers 64 calls; one that was restored knows only those since then.
        """

    def save(self) -> bytes:
        """Returns the state of the guard: digests and names of tools, some KiB."""

    def __reduce__(self) -> tuple[Any, tuple[()], bytes]: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class Run:
    """A recorded run and its loops."""

    @property
    def path(self) -> str | None:
        """The file, or ``None`` for bytes."""

    @property
    def error(self) -> str | None:
        """The reason why nothing could be read, or ``None``."""

    @property
    def format(self) -> str | None:
        """The format of the file."""

    @property
    def session(self) -> str | None:
        """The name of the session, if the file has one."""

    @property
    def calls(self) -> int:
        """The number of calls."""

    @property
    def workers(self) -> int:
        """The number of workers that issued calls."""

    @property
    def errors(self) -> int | None:
        """The number of failed calls, or ``None`` if the format does not tell."""

    @property
    def skipped(self) -> int:
        """The number of lines that could not be read."""

    @property
    def problems(self) -> list[str]:
        """The reasons for the first of these lines."""

    @property
    def findings(self) -> list[Finding]:
        """The findings in their order: one for each loop and each action that it reached."""

    @property
    def stuck(self) -> bool:
        """Whether there is a finding."""

    def _repr_html_(self) -> str: ...

def scan(
    runs: str | PathLike[str] | bytes | Iterable[str | PathLike[str]],
    preset: str = "balanced",
    *,
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    tools: Mapping[str, Any] | None = None,
    format: str = "auto",
) -> list[Run]:
    """Reads recorded runs and finds their loops, as the program ``unstuck scan`` does.

    ``runs`` is a file, a folder of them, several of these, or the bytes of one run. A run that cannot
    be read has an ``error``.
    """

@type_check_only
class _Table(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class Batches:
    """The table of findings. Arrow, Polars, DuckDB and others read it as a stream.

    A run has a row for each of its findings, or one row if it has none. The columns are those of ``unstuck scan
    --format parquet``: ``run``, ``status`` (``stuck``, ``clean``, ``empty``, ``partly`` or ``unread``),
    ``format``, ``run_calls``, ``rule``, ``kind``, ``action``, ``tool``, ``worker``, ``first``, ``last``,
    ``calls``, ``finding_id``, ``tokens_after`` and ``error``. The last two stand in a run's first row only.
    """

    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns the capsule of a stream of Arrow."""

def scan_batches(
    runs: _Table,
    preset: str = "balanced",
    *,
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    tools: Mapping[str, Any] | None = None,
    format: str = "auto",
) -> Batches:
    """Finds the loops in recorded runs that are the rows of a table.

    ``runs`` has the columns ``run``, the name of a run, and ``body``, its text or bytes. A run that
    cannot be read is a row with an ``error``. If a body is null, the optional column ``error`` of ``runs`` has
    the reason. A stream is read batch by batch.
    """

def fingerprint(value: object) -> str:
    """Returns the digest of a value as 16 hexadecimal digits. Equal arguments have equal digests."""

def normalize(text: object) -> str:
    """Returns a result as results are compared, with a word in place of each volatile part."""

def is_transcript(name: str) -> bool:
    """Returns whether a file in a folder is read as a transcript, by its name."""

def presets() -> list[str]:
    """Returns the names of all presets, the default first."""
