// The part of the package `@strands-agents/sdk` that `strands.ts` runs, so that the build needs no framework.

declare module "@strands-agents/sdk" {
  export class TextBlock {
    constructor(text: string);
  }
  export class ToolResultBlock {
    constructor(fields: object);
    readonly toolUseId: string;
    readonly status: "success" | "error";
    readonly content: unknown[];
    readonly error?: Error;
  }
  class HookableEvent {
    readonly agent: { readonly cancelSignal?: AbortSignal };
  }
  export class MessageAddedEvent extends HookableEvent {
    readonly message: { readonly role: string; readonly content: { readonly type: string; readonly text?: string }[] };
  }
  export class BeforeToolsEvent extends HookableEvent {}
  export class BeforeToolCallEvent extends HookableEvent {
    readonly toolUse: { readonly name: string; readonly toolUseId: string; readonly input: unknown };
    cancel: boolean | string;
  }
  export class AfterToolCallEvent extends HookableEvent {
    readonly toolUse: { readonly name: string; readonly toolUseId: string; readonly input: unknown };
    result: ToolResultBlock;
  }
  export class AfterToolsEvent extends HookableEvent {
    endTurn: boolean | string | unknown[];
  }
}
