"""Google's Agent Development Kit with its older keys, which `ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN` selects."""

from sdks.google_adk import instrument, reads, talk

__all__ = ["instrument", "reads", "talk"]
