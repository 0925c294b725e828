"""An MCP server whose tools do what a proxy has to cope with."""

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("sample")
# What reached the server, in the order in which it did.
seen: list[str] = []
changed = anyio.Condition()
second = anyio.Event()


async def see(what: str) -> None:
    async with changed:
        seen.append(what)
        changed.notify_all()


@server.tool()
async def read(path: str) -> str:
    """Finds the same thing each time."""
    await see(f"read {path}")
    return f"what is in {path}"


@server.tool()
async def lookup(table: str) -> str:
    """Fails the same way each time."""
    await see(f"lookup {table}")
    raise ToolError(f"no such table: {table}")


@server.tool()
async def big(size: int) -> str:
    """Says a lot."""
    await see("big")
    return "é\n" * size


@server.tool()
async def length(text: str) -> int:
    """Is told a lot."""
    await see("length")
    return len(text)


@server.tool()
async def wait(context: Context) -> str:
    """Says that it has begun, and never ends by itself."""
    try:
        await context.report_progress(1, 2)
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await see("wait ended")
    return "never said"


@server.tool()
async def pair(which: str) -> str:
    """Answers its second call before its first."""
    await see(f"pair {which}")
    if which == "first":
        await second.wait()
    else:
        second.set()
    return which


@server.tool()
async def reached(until: str) -> list[str]:
    """What reached the server, once that holds what is waited for."""
    async with changed:
        while until not in seen:
            await changed.wait()
        return list(seen)


if __name__ == "__main__":
    server.run()
