// A user's lines, which compile against the types of the framework.

import { createDeepAgent } from "deepagents";
import { createAgent, initChatModel } from "langchain";

import { unstuckMiddleware } from "unstuck/langchain";

export const agent = createAgent({ model: "openai:gpt-5", tools: [], middleware: [unstuckMiddleware()] });
export const escalating = createAgent({
  model: "openai:gpt-5-mini",
  tools: [],
  middleware: [unstuckMiddleware({ escalateTo: await initChatModel("openai:gpt-5"), collapse: true })],
});
export const deep = createDeepAgent({ middleware: [unstuckMiddleware({ stateless: true })] });
