// A user's lines, which compile against the types of the framework.

import { createDeepAgent } from "deepagents";
import { createAgent } from "langchain";

import { unstuckMiddleware } from "unstuck/langchain";

export const agent = createAgent({ model: "openai:gpt-5", tools: [], middleware: [unstuckMiddleware()] });
export const deep = createDeepAgent({ middleware: [unstuckMiddleware({ stateless: true })] });
