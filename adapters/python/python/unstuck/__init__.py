"""Notices when an agent that calls tools is stuck, and gets it out."""

from ._guards import Guard, Guards, Stuck
from ._unstuck import Decision, Finding, PolicyError, Statistics, Ticket

__all__ = [
    "Decision",
    "Finding",
    "Guard",
    "Guards",
    "PolicyError",
    "Statistics",
    "Stuck",
    "Ticket",
]
