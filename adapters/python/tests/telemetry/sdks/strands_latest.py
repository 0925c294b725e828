"""Strands Agents with the latest conventions, which `OTEL_SEMCONV_STABILITY_OPT_IN` selects."""

from sdks.strands import instrument, reads, talk

__all__ = ["instrument", "reads", "talk"]
