// A user's lines, which compile against the types of the framework.

import { Agent } from "@strands-agents/sdk";

import { UnstuckPlugin } from "unstuck/strands";

export const agent = new Agent({ tools: [], plugins: [new UnstuckPlugin({ preset: "strict" })] });
