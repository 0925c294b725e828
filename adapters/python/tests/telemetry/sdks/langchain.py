"""LangChain's agents, with the instrumentation of OpenInference."""

from __future__ import annotations

import itertools
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.memory import InMemorySaver
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from scenarios import HELPER, MAIN, Args, FileMissing, tools
from scenarios import Agent as Player

_ids = itertools.count()


def instrument(provider: TracerProvider, content: bool) -> None:
    LangChainInstrumentor().instrument(tracer_provider=provider)


def reads(outcome: str | Exception) -> str:
    return str(outcome)


class Scripted(BaseChatModel):
    player: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        turn = self.player.answer()
        if isinstance(turn, str):
            answer = AIMessage(turn)
        else:
            calls = [
                ToolCall(name=tool, args=args, id=f"c{next(_ids)}", type="tool_call") for tool, args in turn
            ]
            answer = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


def build(player: Player) -> Any:
    async def call(tool: str, args: Args) -> str:
        try:
            return await player.call(tool, args)
        except FileMissing as error:
            raise ToolException(str(error)) from error

    made = [
        StructuredTool.from_function(coroutine=function, handle_tool_error=True) for function in tools(call)
    ]
    return create_agent(
        Scripted(player=player), made, name=player.name, checkpointer=InMemorySaver()
    )


async def talk(players: dict[str, Player], prompts: list[str]) -> None:
    agent = build(players[MAIN])
    if HELPER in players:
        helper = build(players[HELPER])

        async def ask(question: str) -> str:
            players[HELPER].told(question)
            return await invoke(helper, question, players[HELPER])

        players[MAIN].ask = ask
    for prompt in prompts:
        players[MAIN].told(prompt)
        await invoke(agent, prompt, players[MAIN])


async def invoke(agent: Any, prompt: str, player: Player) -> str:
    thread = player.conversation if player.name == MAIN else f"{player.conversation}/{player.name}"
    config = {"configurable": {"thread_id": thread}, "recursion_limit": 100}
    result = await agent.ainvoke({"messages": [HumanMessage(prompt)]}, config)
    return str(result["messages"][-1].content)
