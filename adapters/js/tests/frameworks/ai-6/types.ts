// What a user writes, with the types of the Vercel AI SDK 6.

import { generateText, type LanguageModel, stepCountIs, streamText, tool, ToolLoopAgent } from "ai";
import { unstuck } from "unstuck/ai";
import { z } from "zod";

declare const model: LanguageModel;

const watch = unstuck({
  preset: "balanced",
  observe: true,
  escalateTo: model,
  onEscalate: async ({ finding }) => (finding.tool === "read_file" ? "go on" : undefined),
  collapse: true,
});
const read_file = tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => path.length });
const tools = { read_file };

export async function three(): Promise<number | undefined> {
  const result = await generateText({ model, prompt: "…", ...watch({ tools }), stopWhen: stepCountIs(50) });
  const [first] = result.staticToolResults;
  return first?.output;
}

export async function stream(): Promise<string | undefined> {
  const result = streamText({
    model,
    prompt: "…",
    ...watch({ tools, session: "chat 1", prepareStep: ({ stepNumber }) => ({ temperature: stepNumber }) }),
    onStepFinish: ({ staticToolCalls }) => console.log(staticToolCalls[0]?.input.path),
  });
  const [first] = await result.staticToolCalls;
  return first?.input.path;
}

export async function agent(): Promise<string | undefined> {
  const spread = new ToolLoopAgent({ model, ...watch({ tools }), instructions: "…" });
  const whole = new ToolLoopAgent(watch({ model, tools, stopWhen: stepCountIs(50) }));
  const [first] = (await whole.generate({ prompt: "…" })).staticToolCalls;
  const [second] = await (await spread.stream({ prompt: "…" })).staticToolCalls;
  return first?.input.path ?? second?.input.path;
}

// The types of tools are inferred, and not `any`.
export async function strict(): Promise<void> {
  const result = await generateText({ model, prompt: "…", ...watch({ tools }) });
  // @ts-expect-error The tool has no such input.
  console.log(result.staticToolCalls[0]?.input.file);
}
