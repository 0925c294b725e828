"""The OpenAI Agents SDK, with the instrumentation of OpenInference. Its model is asked over HTTP that goes nowhere."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx2
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI
from openinference.instrumentation import using_session
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from scenarios import HELPER, MAIN, Turn, tools
from scenarios import Agent as Player

_ids = itertools.count()


def instrument(provider: TracerProvider, content: bool) -> None:
    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


def reads(outcome: str | Exception) -> str:
    if isinstance(outcome, str):
        return outcome
    return "An error occurred while running the tool. Please try again."


def message(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, str):
        return {"role": "assistant", "content": turn}
    calls = [
        {
            "id": f"c{next(_ids)}",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(args)},
        }
        for tool, args in turn
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def scripted(player: Player) -> OpenAIChatCompletionsModel:
    def answer(_: httpx2.Request) -> httpx2.Response:
        turn = player.answer()
        reason = "stop" if isinstance(turn, str) else "tool_calls"
        choice = {"index": 0, "finish_reason": reason, "message": message(turn)}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        kind = {"id": "answer", "object": "chat.completion", "created": 0, "model": "scripted"}
        return httpx2.Response(200, json={**kind, "choices": [choice], "usage": usage})

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    openai = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9/v1", http_client=client)
    return OpenAIChatCompletionsModel("scripted", openai)


def build(player: Player) -> Agent[None]:
    functions = [function_tool(function) for function in tools(player.call)]
    return Agent(name=player.name, model=scripted(player), tools=list(functions))


async def talk(players: dict[str, Player], prompts: list[str]) -> None:
    agent = build(players[MAIN])
    if HELPER in players:
        helper = build(players[HELPER])

        async def ask(question: str) -> str:
            players[HELPER].told(question)
            return str((await Runner.run(helper, question, max_turns=50)).final_output)

        players[MAIN].ask = ask
    with using_session(players[MAIN].conversation):
        history: list[Any] = []
        for prompt in prompts:
            players[MAIN].told(prompt)
            history.append({"role": "user", "content": prompt})
            result = await Runner.run(agent, history, max_turns=50)
            history = result.to_input_list()
