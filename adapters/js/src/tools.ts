/** Tools of the Vercel AI SDK and of Mastra: copies that are watched, and what their calls return. */

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

/** Passes the values of a streaming tool on. The last one is its result. */
export async function* streamed(
  values: AsyncIterable<unknown>,
  finish: (result: unknown) => void,
  fail: (error: unknown) => void,
  cancel: () => void,
): AsyncGenerator {
  let last: unknown;
  let isOpen = true;
  try {
    for await (last of values) yield last;
    isOpen = false;
    finish(last);
  } catch (error) {
    isOpen = false;
    fail(error);
    throw error;
  } finally {
    if (isOpen) cancel();
  }
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

/** Says if a tool returned a promise. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof propertyOf(value, "then") === "function";
}

/** Says if a tool returned a stream of values. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof propertyOf(value, Symbol.asyncIterator) === "function";
}
