"""Pydantic AI, with its own instrumentation."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from scenarios import HELPER, MAIN, Args, FileMissing, tools
from scenarios import Agent as Player


def instrument(provider: TracerProvider, content: bool) -> None:
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider, include_content=content))


def reads(outcome: str | Exception) -> str:
    return str(outcome)


def build(player: Player) -> Agent[None, str]:
    def model(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        turn = player.answer()
        if isinstance(turn, str):
            return ModelResponse(parts=[TextPart(turn)])
        return ModelResponse(parts=[ToolCallPart(tool, args) for tool, args in turn])

    async def call(tool: str, args: Args) -> str:
        try:
            return await player.call(tool, args)
        except FileMissing as error:
            raise ToolFailed(str(error)) from error

    return Agent(FunctionModel(model), name=player.name, tools=tools(call))


async def talk(players: dict[str, Player], prompts: list[str]) -> None:
    agent = build(players[MAIN])
    if HELPER in players:
        helper = build(players[HELPER])

        async def ask(question: str) -> str:
            players[HELPER].told(question)
            talk = players[HELPER].conversation
            return (await helper.run(question, conversation_id=talk)).output

        players[MAIN].ask = ask
    history: list[ModelMessage] = []
    for prompt in prompts:
        players[MAIN].told(prompt)
        talk = players[MAIN].conversation
        result = await agent.run(prompt, message_history=history, conversation_id=talk)
        history = result.all_messages()
