/** Prompts in the format that the Vercel AI SDK defines and Mastra uses as well. */

import type { Decision } from "./index.js";

/** A message of a prompt. */
export interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** The result of a call, as the model reads it. */
export interface ResultPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: Output;
}

/** The value of a result. */
export interface Output {
  readonly type: string;
  readonly value?: unknown;
}

/** Returns the results in a message. */
export function resultsOf(message: Message): ResultPart[] {
  if (message.role !== "tool" || !Array.isArray(message.content)) return [];
  return (message.content as ResultPart[]).filter((part) => part.type === "tool-result");
}

/**
 * Returns the results in messages by call id, the oldest first. An id may come again, because some providers number the
 * calls of each turn anew.
 */
export function resultsById(messages: readonly Message[]): Map<string, ResultPart[]> {
  const found = new Map<string, ResultPart[]>();
  for (const part of messages.flatMap(resultsOf)) {
    const results = found.get(part.toolCallId);
    if (results === undefined) found.set(part.toolCallId, [part]);
    else results.push(part);
  }
  return found;
}

/** Returns the ids of the calls in a message. */
export function callsOf({ role, content }: Message): string[] {
  if (role !== "assistant" || !Array.isArray(content)) return [];
  return (content as ResultPart[]).filter(({ type }) => type === "tool-call").map(({ toolCallId }) => toolCallId);
}

/** Returns the messages without the turns whose calls all have one of these ids, and without their results. */
export function withoutCalls(messages: readonly Message[], ids: readonly string[]): readonly Message[] {
  const turns = messages.map(callsOf).filter((calls) => calls.every((id) => ids.includes(id)));
  const gone = new Set(turns.flat());
  const isLeft = (message: Message): boolean => {
    const own = [...callsOf(message), ...resultsOf(message).map(({ toolCallId }) => toolCallId)];
    return own.length === 0 || own.some((id) => !gone.has(id));
  };
  return gone.size === 0 ? messages : messages.filter(isLeft);
}

/** What a decision adds to the result of a call, or says in its place. */
export interface Note {
  readonly decision: Decision;
  /** Says that the call was refused, and that the framework has no result of its own for it. */
  readonly isRefusal: boolean;
}

/** Returns the result of a call as the model should read it. */
export function withNote(output: Output, { decision, isRefusal }: Note): Output {
  const note = decision.message ?? "";
  if (isRefusal) return { type: "error-text", value: note };
  const { type, value } = output;
  if (type === "execution-denied") return output;
  if (type === "content" && Array.isArray(value)) {
    return { ...output, value: [...value, { type: "text", text: note }] };
  }
  // Providers send JSON as this text.
  const text = typeof value === "string" ? value : String(JSON.stringify(value));
  return { ...output, type: type.startsWith("error") ? "error-text" : "text", value: decision.annotate(text) };
}
