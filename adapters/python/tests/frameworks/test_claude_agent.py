"""The Claude Agent SDK, with the program that it carries and a scripted model on loopback."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool
from mcp.types import ToolAnnotations
from scenarios import NOTE, FileMissing, Played, Scenarios, Turn, failing
from scenarios import read_file as work

from unstuck.claude_agent import hooks

TOOL = "mcp__files__read_file"
_ids = itertools.count()


def blocks(message: Any) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def text(block: Any) -> str:
    if block["type"] == "tool_use":
        return f"call: {block['input']}"
    if block["type"] == "tool_result":
        content = block["content"]
        return content if isinstance(content, str) else "\n".join(map(text, content))
    return str(block.get("text", block["type"]))


@contextmanager
def endpoint(scripts: dict[str, list[Turn]], played: dict[str, Played], called: str) -> Iterator[str]:
    """Serves scripts by the wire of Anthropic's messages. The last ``play N`` of a request names one."""

    class Endpoint(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if "count_tokens" in self.path:
                return self.send("application/json", json.dumps({"input_tokens": 1}))
            if not any(known["name"] == TOOL for known in body.get("tools", [])):
                return self.stream([{"type": "text", "text": "a title"}])
            told = "\n".join(text(block) for message in body["messages"] for block in blocks(message))
            name = re.findall(r"play \d+", told)[0]
            played[name].requests.append(told)
            turn = scripts[name][len(played[name].requests) - 1]
            if isinstance(turn, str):
                return self.stream([{"type": "text", "text": turn}])
            call = {"type": "tool_use", "name": called}
            self.stream({**call, "id": f"toolu_{next(_ids)}", "input": args} for args in turn)

        def stream(self, content: Any) -> None:
            usage = {"input_tokens": 1, "output_tokens": 1}
            message = {"id": f"msg_{next(_ids)}", "type": "message", "role": "assistant", "model": "m"}
            message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
            events: list[Any] = [{"type": "message_start", "message": message}]
            reason = "end_turn"
            for index, block in enumerate(content):
                if block["type"] == "text":
                    start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
                else:
                    reason = "tool_use"
                    start = {**block, "input": {}}
                    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                events += [
                    {"type": "content_block_start", "index": index, "content_block": start},
                    {"type": "content_block_delta", "index": index, "delta": delta},
                    {"type": "content_block_stop", "index": index},
                ]
            stop = {"stop_reason": reason, "stop_sequence": None}
            events += [{"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]
            self.send(
                "text/event-stream",
                "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events),
            )

        def send(self, kind: str, body: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class TestClaudeAgent(Scenarios):
    tool = TOOL
    is_parallel = True

    @pytest.fixture(autouse=True)
    def _home(self, tmp_path: Path) -> None:
        self.home = tmp_path

    def play(self, *scripts: list[Turn], guarded: bool = True, called: str = TOOL) -> list[Played]:
        played = {f"play {i}": Played() for i in range(len(scripts))}
        watch = hooks() if guarded else None

        async def run(url: str, name: str) -> None:
            @tool(
                "read_file",
                "Reads a file.",
                {"path": str},
                annotations=ToolAnnotations(readOnlyHint=self.is_parallel),
            )
            async def read_file(args: dict[str, Any]) -> dict[str, Any]:
                played[name].ran.append(args["path"])
                try:
                    return {"content": [{"type": "text", "text": work(args["path"])}]}
                except FileMissing as error:
                    return {"content": [{"type": "text", "text": str(error)}], "is_error": True}

            options = ClaudeAgentOptions(
                hooks=watch,
                mcp_servers={"files": create_sdk_mcp_server("files", tools=[read_file])},
                allowed_tools=[TOOL],
                tools=[],
                setting_sources=[],
                system_prompt="-",
                cwd=self.home,
                env={
                    "ANTHROPIC_BASE_URL": url,
                    "ANTHROPIC_API_KEY": "none",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "CLAUDE_CONFIG_DIR": str(self.home / name),
                    "DISABLE_AUTOUPDATER": "1",
                    "DISABLE_TELEMETRY": "1",
                },
            )
            async for message in query(prompt=name, options=options):
                if isinstance(message, ResultMessage):
                    played[name].end = message.result or ""
                    self.result = message

        async def run_all(url: str) -> None:
            await asyncio.gather(*(run(url, name) for name in played))

        with endpoint(dict(zip(played, scripts, strict=True)), played, called) as url:
            asyncio.run(run_all(url))
        return list(played.values())

    def test_the_run_ends(self) -> None:
        # The result has no text. It says that a hook ended the run; the reason is in the refusal before it.
        played = self.play_one(failing(12))
        assert len(played.requests) == 8
        assert played.ran == ["missing.txt"] * 5
        assert played.end == ""
        assert self.result.terminal_reason == "hook_stopped"

    def test_calls_of_one_answer_that_run_in_turn_are_one_step(self) -> None:
        self.is_parallel = False
        self.test_parallel_calls_are_one_step()
        self.test_three_steps_of_parallel_calls_are_three()

    def test_an_unknown_tool_is_a_failing_call(self) -> None:
        (played,) = self.play(failing(12), called="write_file")
        assert NOTE.replace("read_file", "write_file") in played.requests[3]
        assert len(played.requests) == 8
        assert self.result.terminal_reason == "hook_stopped"
