/** Prompts and tools in the format that the Vercel AI SDK defines and Mastra uses as well. */

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

/** Says if the program broke the call off. A tool that exceeds its time limit has failed. */
export function isCancelled(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && propertyOf(signal.reason, "name") !== "TimeoutError";
}

/** Returns a property of any value, such as a result. A proxy that answers with an error has none. */
export function propertyOf(value: unknown, key: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  } catch {
    return undefined;
  }
}

/**
 * Returns a copy of a tool with another `execute`. The functions of the copy work on the tool itself, which may have
 * private fields that no copy has.
 */
export function copyWith<T extends object>(tool: T, execute: unknown): T {
  const copy = Object.create(Object.getPrototypeOf(tool)) as T;
  const own = { value: execute, enumerable: true, writable: true, configurable: true };
  Object.defineProperty(copy, "execute", own);
  let holder: object | null = tool;
  while (holder !== null && holder !== Object.prototype) {
    for (const key of Reflect.ownKeys(holder)) {
      const property = Object.getOwnPropertyDescriptor(holder, key);
      if (property === undefined || key === "constructor" || Object.hasOwn(copy, key)) continue;
      Object.defineProperty(copy, key, boundTo(tool, property));
    }
    holder = Object.getPrototypeOf(holder) as object | null;
  }
  return copy;
}

/** Returns a property whose functions work on `tool`. The copy of a frozen tool may be changed. */
function boundTo(tool: object, property: PropertyDescriptor): PropertyDescriptor {
  const bound = { ...property, configurable: true };
  if (bound.get) bound.get = bound.get.bind(tool);
  if (bound.set) bound.set = bound.set.bind(tool);
  if ("value" in bound) bound.writable = true;
  if (isBindable(bound.value)) bound.value = bound.value.bind(tool);
  return bound;
}

/** Says if a function has no properties of its own. `bind` loses them, and some schemas are such functions. */
function isBindable(value: unknown): value is (...args: never[]) => unknown {
  return typeof value === "function" && Reflect.ownKeys(value).every((key) => FUNCTION_KEYS.includes(key));
}

/** The properties that all functions have. */
const FUNCTION_KEYS: readonly PropertyKey[] = ["length", "name", "prototype", "arguments", "caller"];
