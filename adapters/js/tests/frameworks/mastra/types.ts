// What a user writes, with the types of Mastra.

import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { UnstuckProcessor } from "unstuck/mastra";
import { z } from "zod";

const read_file = createTool({
  id: "read_file",
  description: "Reads a file.",
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => path,
});

export async function three(): Promise<string> {
  const inputProcessors = [new UnstuckProcessor({ preset: "balanced", observe: true })];
  const agent = new Agent({
    id: "files",
    name: "files",
    instructions: "Read files.",
    model: "openai/gpt-5",
    tools: { read_file },
    inputProcessors,
  });
  const result = await agent.generate("…", { maxSteps: 50 });
  return result.tripwire?.reason ?? result.text;
}

export async function perCall(agent: Agent): Promise<string> {
  const result = await agent.stream("…", { inputProcessors: [new UnstuckProcessor()] });
  return result.text;
}
