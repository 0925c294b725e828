// The part of the package `langchain` that `langchain.ts` runs, so that the build needs no framework.

declare module "langchain" {
  interface Fields {
    content: unknown;
    tool_call_id: string;
    name?: string | undefined;
    status?: "success" | "error" | undefined;
    [field: string]: unknown;
  }
  export class ToolMessage {
    constructor(fields: Fields);
    readonly type: "tool";
    static isInstance(message: unknown): message is ToolMessage;
  }
  export class HumanMessage {
    constructor(text: string);
    readonly type: "human";
  }
  export class AIMessage {
    constructor(text: string);
    readonly type: "ai";
  }
}
