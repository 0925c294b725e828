// A user's lines, which compile against the types of the framework.

import { query } from "@anthropic-ai/claude-agent-sdk";

import { hooks } from "unstuck/claude-agent";

export const run = query({ prompt: "Fix the tests.", options: { hooks: hooks({ preset: "strict" }) } });
