"""Plays the scenarios under SDKs: writes the spans that an SDK makes, and what a guard inside the run saw.

    python play.py [--receiver URL] [--scenario NAME] FOLDER SDK...

Each scenario runs in a process of its own. It writes FOLDER/spans/SDK-SCENARIO.jsonl by OpenTelemetry's own file
exporter, the run as a native trace to FOLDER/truth/SDK-SCENARIO.jsonl, and the guard's findings beside it. The same
spans go to the receiver by OTLP/HTTP.

To add an SDK, write a module in `sdks`, add its settings with and without content to `settings.json`, pin its versions
in a `requirements` file, and name it where `cargo xtask fleet sdks` lists the SDKs.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from scenarios import HELPER, MAIN, SCENARIOS, Agent, Scenario, World

from unstuck import Guard

BATCH = 7
"""The spans of a line, few enough that a parent often comes in a later line than its children."""

Cast = dict[str, Agent]
"""The agents of one conversation by their names."""


def provider(spans: Path, receiver: str | None) -> TracerProvider:
    """Returns the global provider, which writes to a file and sends to the receiver."""
    exporters: list[SpanExporter] = [FileSpanExporter(spans)]
    if receiver is not None:
        exporters.append(OTLPSpanExporter(f"{receiver}/v1/traces"))
    made = TracerProvider(resource=Resource.create({"service.name": "scenarios"}))
    for exporter in exporters:
        made.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=BATCH))
    trace.set_tracer_provider(made)
    return made


def cast(sdk: Any, label: str, scenario: Scenario) -> list[Cast]:
    """Returns the agents of each conversation, whose names are unique among all scenarios."""
    casts = []
    for conversation, script in scenario.conversations.items():
        session, world = f"{label}.{conversation}", World()
        casts.append(
            {
                name: Agent(
                    conversation=session,
                    name=name,
                    turns=list(turns),
                    world=world,
                    guard=Guard(observe=True, session=session, worker=name),
                    reads=sdk.reads,
                )
                for name, turns in script.items()
            }
        )
    return casts


async def perform(sdk: Any, scenario: Scenario, casts: list[Cast]) -> None:
    """Plays all conversations at the same time."""
    prompts = ["Find it.", *(f"Look again, please ({i})." for i in range(1, scenario.messages))]

    async def talk(agents: Cast) -> None:
        await sdk.talk(agents, prompts)
        if any(agent.turns for agent in agents.values()):
            raise RuntimeError("the run ended before its script")

    await asyncio.gather(*map(talk, casts))


def write(truth: Path, casts: list[Cast]) -> None:
    """Writes each conversation as a run of a native trace, and the findings of its guards beside it."""
    lines: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []
    for agents in casts:
        main, helper = agents[MAIN], agents.get(HELPER)
        lines.append({"session": main.conversation})
        for record in main.records:
            lines.append(record)
            if record.get("tool") == "ask_helper" and helper is not None:
                # The helper works while the call is open.
                lines += helper.records
        findings += [
            {"session": agent.conversation, **found} for agent in agents.values() for found in agent.findings
        ]
    truth.write_text("".join(json.dumps(line) + "\n" for line in lines))
    truth.with_suffix(".findings.json").write_text(json.dumps(findings, indent=1) + "\n")


def play(name: str, scene: str, folder: Path, receiver: str | None) -> None:
    """Plays one scenario under one SDK in this process."""
    scenario, label = SCENARIOS[scene], f"{name}-{scene}"
    spans, truth = (folder / kind / f"{label}.jsonl" for kind in ("spans", "truth"))
    for file in (spans, truth):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
    settings = json.loads(Path(__file__).with_name("settings.json").read_text())[name]
    os.environ |= settings["content" if scenario.content else "dark"]
    made = provider(spans, receiver)
    sdk = importlib.import_module(f"sdks.{name}")
    sdk.instrument(made, scenario.content)
    casts = cast(sdk, label, scenario)
    asyncio.run(perform(sdk, scenario, casts))
    made.shutdown()
    write(truth, casts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--receiver", metavar="URL")
    parser.add_argument("--scenario", choices=SCENARIOS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sdks", nargs="+")
    args = parser.parse_args()
    if args.scenario is not None:
        for name in args.sdks:
            play(name, args.scenario, args.folder, args.receiver)
        return
    options = [] if args.receiver is None else ["--receiver", args.receiver]
    for name in args.sdks:
        for scene in SCENARIOS:
            print(f"{name}: {scene}", flush=True)
            command = [sys.executable, __file__, *options, "--scenario", scene, str(args.folder), name]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
