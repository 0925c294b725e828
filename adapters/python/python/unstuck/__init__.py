"""Notices when an agent that calls tools is stuck, and gets it out.

>>> from unstuck import Guard
>>> guard = Guard()  # one for each agent in each session
>>> before = guard.before("read_file", {"path": "src/mian.rs"})
>>> before.action
'proceed'
>>> guard.after(before.ticket, "no such file", error=True).message is None
True

``README.md`` of the package has the frameworks and the reference.
"""

from ._escalation import Escalation
from ._guards import Call, Guard, Guards, Stuck
from ._unstuck import (
    Batches,
    Decision,
    Finding,
    PolicyError,
    Run,
    Statistics,
    Ticket,
    fingerprint,
    normalize,
    presets,
    scan,
    scan_batches,
)
from ._words import Action, Answer, Kind

__all__ = [
    "Action",
    "Answer",
    "Batches",
    "Call",
    "Decision",
    "Escalation",
    "Finding",
    "Guard",
    "Guards",
    "Kind",
    "PolicyError",
    "Run",
    "Statistics",
    "Stuck",
    "Ticket",
    "fingerprint",
    "normalize",
    "presets",
    "scan",
    "scan_batches",
]
