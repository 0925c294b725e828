"""Calls the tools of `server.py` through `unstuck mcp`, as an agent in a loop would.

Usage: client.py PROXY, where PROXY is the program `unstuck`.
"""

import os
import sys
from pathlib import Path

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult

SERVER = [sys.executable, str(Path(__file__).with_name("server.py"))]
SIGN = "[unstuck] "
# Enough for every loop to be blocked.
PATIENCE = 20
# For a proxy that lost a message: the test fails, and does not hang.
DEADLINE_SECONDS = 60


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if block.type == "text"]


def is_noted(result: CallToolResult) -> bool:
    return any(text.startswith(SIGN) for text in texts(result))


def is_blocked(result: CallToolResult) -> bool:
    return result.is_error and len(result.content) == 1 and is_noted(result)


async def until_blocked(client: Client, tool: str, arguments: dict) -> list[CallToolResult]:
    """The results of the same call, again and again, up to that of the first that is blocked."""
    results = []
    for _ in range(PATIENCE):
        results.append(await client.call_tool(tool, arguments))
        if is_blocked(results[-1]):
            return results
    raise AssertionError(f"{tool} was never blocked")


async def tools_are_listed(client: Client) -> None:
    names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == {"read", "lookup", "big", "length", "wait", "pair", "reached"}, names


async def a_failing_call_is_noted_then_blocked(client: Client) -> None:
    *ran, blocked = await until_blocked(client, "lookup", {"table": "users"})
    failure = "no such table: users"
    assert [is_noted(result) for result in ran[:3]] == [False, False, True], ran
    for result in ran:
        assert result.is_error and failure in texts(result)[0], result
    assert failure not in texts(blocked)[0], blocked
    await client.call_tool("read", {"path": "a.txt"})
    seen = (await client.call_tool("reached", {"until": "read a.txt"})).structured_content
    assert seen["result"].count("lookup users") == len(ran), seen


async def the_same_result_is_noted_and_else_unchanged(client: Client) -> None:
    # The client checks a structured result against the schema in the list of tools.
    await client.list_tools()
    ran = [await client.call_tool("read", {"path": "b.txt"}) for _ in range(PATIENCE)]
    assert any(is_noted(result) for result in ran), ran
    # Nor is it ever kept back: what other tools did in between is not seen here.
    for result in ran:
        assert not result.is_error, result
        assert texts(result)[0] == "what is in b.txt", result
        structured = dict(result.structured_content)
        note = structured.pop("unstuck_note", "")
        assert structured == {"result": "what is in b.txt"}, result
        assert note.startswith(SIGN) == is_noted(result), result


async def an_unknown_tool_is_noted(client: Client) -> None:
    for _ in range(3):
        try:
            told = "\n".join(texts(await client.call_tool("nonsense", {})))
        except MCPError as error:
            told = str(error)
    assert "nonsense" in told and SIGN in told, told


async def a_slow_call_is_cancelled(client: Client) -> None:
    async with anyio.create_task_group() as tasks:

        async def begun(*_: object) -> None:
            tasks.cancel_scope.cancel()

        tasks.start_soon(lambda: client.call_tool("wait", {}, progress_callback=begun))
    seen = await client.call_tool("reached", {"until": "wait ended"})
    assert "wait ended" in seen.structured_content["result"], seen


async def calls_are_answered_in_any_order(client: Client) -> None:
    answers = []

    async def call(which: str) -> None:
        answers.append(texts(await client.call_tool("pair", {"which": which})))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, "first")
        await client.call_tool("reached", {"until": "pair first"})
        tasks.start_soon(call, "second")
    # Which of the two its task got to see first is not for the proxy to say.
    assert sorted(answers) == [["first"], ["second"]], answers


async def long_messages_arrive(client: Client) -> None:
    size = 4 << 20
    assert texts(await client.call_tool("big", {"size": size})) == ["é\n" * size]
    assert texts(await client.call_tool("length", {"text": "x" * size})) == [str(size)]


# With the handshake of old, and without.
VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}

SCENES = [
    tools_are_listed,
    a_failing_call_is_noted_then_blocked,
    the_same_result_is_noted_and_else_unchanged,
    an_unknown_tool_is_noted,
    a_slow_call_is_cancelled,
    calls_are_answered_in_any_order,
    long_messages_arrive,
]


async def main(proxy: str) -> None:
    command = StdioServerParameters(
        command=proxy, args=["mcp", "--", *SERVER], env=dict(os.environ)
    )
    for mode, version in VERSIONS.items():
        for scene in SCENES:
            # A server each: what one scene repeats is nothing to the next.
            with anyio.fail_after(DEADLINE_SECONDS):
                async with Client(command, mode=mode) as client:
                    assert client.protocol_version == version, client.protocol_version
                    await scene(client)
            print(f"{version}: {scene.__name__.replace('_', ' ')}")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
