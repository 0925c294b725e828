// A user's lines, which compile against the types of the framework.

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import unstuckByDefault, { unstuck } from "unstuck/pi";

export const byDefault: ExtensionFactory = unstuckByDefault;
export default unstuck({ preset: "strict" }) satisfies ExtensionFactory;
