"""Reads one run of an agent as a benchmark publishes it, and returns it as records of a native trace.

Each function takes the text of a published file and the `item` of a label, which says what run of the file is meant:
a key, an index from 0, or nothing if the file is one run. The records are described in
`adapters/trace/src/formats/native.rs`.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

Record = dict[str, Any]

# The longest text of a record, in bytes of UTF-8.
TEXT_MAX = 8 * 1024

MAIN = "main"


# Records


def message(role: str, text: str, worker: str = MAIN) -> Record:
    return {"type": "message", "role": role, "text": shortened(text), "worker": worker}


def call(tool: str, args: Any, worker: str = MAIN) -> Record:
    """A call without an answer: its result is empty until `answer` adds one."""
    return {"type": "call", "tool": tool, "args": args, "result": "", "is_error": False, "worker": worker}


def answer(record: Record, result: str, is_error: bool) -> None:
    """Adds the result to a call. A result that is cut keeps its length, and a digest that tells it from others."""
    record.update(result=shortened(result), is_error=is_error)
    whole = encoded(result)
    if len(whole) > TEXT_MAX:
        record.update(result_len=len(whole), result_sha=hashlib.sha256(whole).hexdigest()[:16])


def shortened(text: str) -> str:
    return encoded(text)[:TEXT_MAX].decode("utf-8", "ignore")


def encoded(text: str) -> bytes:
    """The text in UTF-8, which has no half surrogates."""
    return text.encode("utf-8", "replace")


# Failures that only the text of a result tells

FAILED_LINE = ("traceback (most recent", "bash: ", "sh: ", "error", "fatal: ", "exception")
FAILED_TEXT = ("command not found", "no such file or directory", "command execution failed")


def reads_failed(result: str) -> bool:
    """Whether the first 4,000 characters of a result look like a failure. This is a guess."""
    start = result[:4000].lower()
    return (
        any(line.startswith(FAILED_LINE) for line in start.split("\n"))
        or any(text in start for text in FAILED_TEXT)
        or re.search("returncode>[1-9]", start) is not None
    )


# Sources


def intercode(text: str, item: str) -> list[Record]:
    """InterCode: files of episodes by number, each with lists of actions, observations and thoughts."""
    episode = json.loads(text)[item]
    tool = {"ic_sql": "sql", "ic_python": "python"}.get(episode["environment"], "bash")
    turns = episode["turn_history"]
    thoughts, valid = turns.get("thoughts", []), turns["valid_action"]
    records = [message("user", episode["query"])]
    for turn, (action, observation) in enumerate(zip(turns["actions"], turns["observations"])):
        if turn < len(thoughts) and thoughts[turn]:
            records.append(message("assistant", thoughts[turn]))
        executed = re.fullmatch(r"execute\[(.*)\]", action, re.DOTALL)
        if action.strip() == "submit":
            record = call("submit", {"command": ""})
        else:
            record = call(tool, {"command": executed[1] if executed else action})
        result = observation if isinstance(observation, str) else json.dumps(observation)
        answer(record, result, valid[turn] is False or reads_failed(result))
        records.append(record)
    return records


def mint(text: str, item: int) -> list[Record]:
    """MINT: a line for each task. After the prompt, the assistant and the environment take turns."""
    history = json.loads(text.splitlines()[item])["state"]["history"]
    if history and history[0]["role"] == "user":
        history = history[1:]
    records, open_call = [], None
    for turn in history:
        content = turn["content"]
        if turn["role"] == "assistant":
            thought = re.sub(r"<(execute|solution)>.*?</\1>", "", content, flags=re.DOTALL).strip()
            if thought:
                records.append(message("assistant", thought))
            code, solution = tagged(content, "execute"), tagged(content, "solution")
            if code is not None:
                open_call = call("python", {"code": code})
                records.append(open_call)
            elif solution is not None:
                open_call = call("propose_solution", {"solution": solution})
                records.append(open_call)
        elif open_call:
            answer(open_call, content, reads_failed(content))
            open_call = None
        else:
            records.append(message("user", content))
    return records


def tagged(text: str, tag: str) -> str | None:
    found = re.search(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return found[1].strip() if found else None


def hotpot(text: str, item: int) -> list[Record]:
    """Reflexion on HotpotQA: a log of numbered thoughts, actions and observations. The item counts its questions."""
    run = re.split(r"^(?=Question: )", text, flags=re.MULTILINE)[item + 1]
    run = re.split(r"^(?:BEGIN TRIAL|Correct answer|-----)", run, flags=re.MULTILINE)[0]
    question, *steps = re.split(r"^(Thought|Action|Observation) (\d+): ?", run, flags=re.MULTILINE)
    records = [message("user", question.split("\n", 1)[0])]
    for kind, content in zip(steps[::3], steps[2::3]):
        content = content.removesuffix("\n")
        if kind == "Thought" and content:
            records.append(message("assistant", content))
        elif kind == "Action":
            named = re.match(r"(\w+)\[(.*)\]", content.strip(), re.DOTALL)
            tool, query = named.groups() if named else ("invalid", content)
            records.append(call(tool, {"q": query}))
        elif kind == "Observation":
            answer(records[-1], content, content.startswith(("Could not find", "Invalid")))
    return records


def alfworld_memory(text: str, item: str) -> list[Record]:
    """Reflexion on ALFWorld: what the agent told itself after each trial of an environment. There are no calls."""
    memory = next(entry["memory"] for entry in json.loads(text) if entry["name"] == item)
    return [message("assistant", told) for told in memory]


def swe_agent(text: str, _item: None) -> list[Record]:
    """SWE-agent and SWE-smith: thoughts, actions and observations. A command's first word is its tool."""
    records = []
    for step in json.loads(text)["trajectory"]:
        thought, action, observation = (step.get(field) or "" for field in ("thought", "action", "observation"))
        if thought.strip():
            records.append(message("assistant", thought))
        if action.strip():
            action = action.strip("\n")
            name = action.split()[0]
            tool = name if re.fullmatch(r"[A-Za-z_][\w.-]{0,30}", name) else "bash"
            record = call(tool, {"command": action})
            answer(record, observation, reads_failed(observation))
            records.append(record)
        elif observation:
            records.append(message("system", observation))
    return records


def tau_bench(text: str, item: int) -> list[Record]:
    """tau-bench: lists of chat messages with tool calls. An answer that begins with `Error` is a failure."""
    records, calls = [], {}
    for turn in json.loads(text)[item]["traj"]:
        role, content = turn["role"], turn.get("content")
        if role in ("user", "assistant") and content:
            records.append(message(role, content))
        for made in turn.get("tool_calls") or []:
            calls[made["id"]] = call(made["function"]["name"], json.loads(made["function"]["arguments"]))
            records.append(calls[made["id"]])
        if role == "tool":
            answer(calls[turn["tool_call_id"]], content, content.startswith("Error"))
    return records


def who_and_when(text: str, _item: None) -> list[Record]:
    """Who&When: histories of teams of agents. Those of Magentic-One name each message's sender in its role only."""
    history = json.loads(text)["history"]
    return captain_agent(history) if any("name" in turn for turn in history) else magentic_one(history)


def magentic_one(history: list[Record]) -> list[Record]:
    """An instruction of the orchestrator to an agent, with the agent's reply, is a call of that agent."""
    records, instruction = [], None
    for step, turn in enumerate(history):
        role, content = turn["role"], turn["content"]
        if role.startswith("Orchestrator (->"):
            instruction = content
        elif role.startswith("Orchestrator") or role == "human":
            records.append(message("user" if role == "human" else "assistant", content, "Orchestrator"))
        elif instruction is not None:
            record = call(role, {"instruction": instruction}, role)
            record["step"] = step
            answer(record, content, reads_failed(content))
            records.append(record)
            instruction = None
        else:
            records.append(message("assistant", content, role))
    return records


def captain_agent(history: list[Record]) -> list[Record]:
    """The terminal runs the code blocks of the message before, so they are a call of that message's author."""
    records = []
    for step, turn in enumerate(history):
        worker, content = author(turn), turn["content"]
        if worker == "Computer_terminal":
            blocks = re.findall(r"```\w*\n(.*?)```", history[step - 1]["content"], re.DOTALL)
            record = call("exec", {"code": "\n".join(blocks)}, author(history[step - 1]))
            record["step"] = step
            answer(record, content, "exitcode: 0" not in content)
            records.append(record)
        else:
            records.append(message("assistant" if step else "user", content, worker))
    return records


def author(turn: Record) -> str:
    return turn.get("name") or turn["role"]


def web_voyager(text: str, _item: None) -> list[Record]:
    """WebVoyager: chat messages. The text after `Action:` is a call, and the user's next message its result."""
    records, open_call = [], None
    for turn in json.loads(text):
        content = joined(turn["content"])
        if turn["role"] == "assistant":
            thought, _, action = content.partition("Action:")
            records.append(message("assistant", thought))
            if action.strip():
                open_call = call(action.split()[0].strip(";["), {"action": action.strip()})
                records.append(open_call)
        elif turn["role"] == "user" and open_call:
            answer(open_call, content, False)
            open_call = None
        elif turn["role"] == "user":
            records.append(message("user", content))
    return records


def tool_bench(text: str, _item: None) -> list[Record]:
    """ToolBench and StableToolBench: the last path of a search through function calls. Its prompts are left out."""
    generation = json.loads(text)["answer_generation"]
    records = [message("user", generation["query"])]
    for turn in generation["train_messages"][-1]:
        content, made = turn.get("content"), turn.get("function_call")
        if turn["role"] == "assistant":
            if content:
                records.append(message("assistant", content))
            if made:
                records.append(call(made["name"], arguments(made["arguments"])))
        elif turn["role"] == "function":
            last = next(record for record in reversed(records) if record["type"] == "call")
            answer(last, content, '"error"' in content and '"error": ""' not in content)
    return records


def arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"_raw": text}


def pi(text: str, _item: None) -> list[Record]:
    """pi: sessions in JSON Lines, of which the messages count."""
    records, calls = [], {}
    entries = (json.loads(line) for line in text.split("\n") if line)
    for turn in (entry["message"] for entry in entries if entry["type"] == "message"):
        if turn["role"] == "toolResult":
            answer(calls[turn["toolCallId"]], joined(turn["content"]), bool(turn.get("isError")))
        elif turn["role"] == "user":
            records.append(message("user", joined(turn["content"])))
        elif turn["role"] == "assistant":
            for part in turn["content"]:
                if part["type"] == "text" and part["text"].strip():
                    records.append(message("assistant", part["text"]))
                elif part["type"] == "toolCall":
                    calls[part["id"]] = call(part["name"], part["arguments"])
                    records.append(calls[part["id"]])
    return records


def joined(content: str | list[Record]) -> str:
    """The text of a message, which has parts or has not."""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
