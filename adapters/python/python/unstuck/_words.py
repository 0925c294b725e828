"""The words of decisions and findings."""

from typing import Literal

Action = Literal["proceed", "nudge", "warn", "block", "start_over", "stop"]
"""What to do, the mildest first."""

Kind = Literal["streak", "recurrence", "cycle", "text", "echo"]
"""The way in which something recurs."""

Answer = Literal["go on", "stop"]
"""What somebody says about a loop: it is none, or the run ends."""
