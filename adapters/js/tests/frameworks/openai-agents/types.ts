// What a user writes, with the types of the OpenAI Agents SDK.

import { Agent, run, Runner, tool } from "@openai/agents";
import { Unstuck } from "unstuck/openai-agents";
import { z } from "zod";

const watch = new Unstuck({ preset: "balanced", observe: true });
const read_file = tool({
  name: "read_file",
  description: "Reads a file.",
  parameters: z.object({ path: z.string() }),
  execute: async ({ path }) => path,
  errorFunction: watch.errorFunction,
});

export async function three(): Promise<string | undefined> {
  const agent = new Agent({ name: "files", tools: watch.tools([read_file]) });
  const result = await run(agent, "…", watch.runConfig());
  return result.finalOutput;
}

export async function more(): Promise<string | undefined> {
  const agent = new Agent<{ user: string }>({ name: "files", tools: watch.tools([read_file]) });
  const runner = new Runner(watch.runConfig({ workflowName: "files" }));
  const result = await runner.run(agent, "…", { context: { user: "me" }, maxTurns: 50 });
  const streamed = await run(agent, "…", { stream: true, context: { user: "me" }, ...watch.runConfig() });
  await streamed.completed;
  return result.finalOutput ?? streamed.finalOutput;
}
