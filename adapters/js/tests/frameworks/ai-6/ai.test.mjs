// The Vercel AI SDK 6.

import { MockLanguageModelV3 } from "ai/test";

import { cases } from "./ai.mjs";

cases("AI SDK 6", MockLanguageModelV3);
