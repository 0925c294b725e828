// A user's lines, which compile against the types of the framework.

import type { Plugin } from "@opencode-ai/plugin";

import { Unstuck as unstuck } from "unstuck/opencode";

export const Default: Plugin = unstuck;
export const Unstuck: Plugin = (input) => unstuck(input, { preset: "strict" });
