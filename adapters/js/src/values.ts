/**
 * Values of JavaScript as text: arguments and results.
 *
 * A container becomes JSON. No value is an error: what is no JSON becomes the text that `README.md` documents.
 */

import { engine } from "./engine.js";

/** The deepest value that is handed to `JSON.stringify`. It recurses, and so does the check before it. */
const PLAIN_DEPTH_MAX = 64;

/** The deepest nesting that is written. A deeper container becomes {@link ELLIPSIS}. */
const DEPTH_MAX = 10_000;

/** Stands for a container inside itself, or one nested deeper than {@link DEPTH_MAX}. */
const ELLIPSIS = '"..."';

/** The largest number of times that one value may ask to be written as another, by `toJSON`. */
const STAND_INS_MAX = 8;

/** The first integer that is written in hexadecimal digits, as in Python. */
const INTEGER_END = 1n << 127n;

/** Returns the text of a value: text and bytes as they are, and containers as JSON. */
export function text(value: unknown): string {
  if (typeof value === "string") return wellFormed(value);
  if (isPlain(value, 0)) return JSON.stringify(value) ?? "null";
  const sorted = sort(value);
  return sorted.kind === "text" ? sorted.text : write(sorted);
}

/** Returns `text` with each lone surrogate written as its escape, for example `\ud83d`. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.replace(LONE, (lone) => `\\u${lone.charCodeAt(0).toString(16)}`);
}

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns whether `JSON.stringify` writes all of a value. It leaves much out in silence, such as the entries of a `Map`. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "undefined":
      return true;
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth === PLAIN_DEPTH_MAX) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (Array.isArray(value)) {
      return prototype === Array.prototype && value.every((item) => isPlain(item, depth + 1));
    }
    if (prototype !== Object.prototype && prototype !== null) return false;
    for (const key in value) if (!isPlain((value as Record<string, unknown>)[key], depth + 1)) return false;
    return true;
  } catch {
    return false;
  }
}

/** A value, sorted by the way in which it is written. */
type Sorted =
  | { kind: "json"; json: string }
  /** The text of a value that is no string. */
  | { kind: "text"; text: string }
  /** A container, with its items or pairs. */
  | { kind: "items"; holder: object; items: readonly unknown[] }
  | { kind: "pairs"; holder: object; pairs: readonly (readonly [unknown, unknown])[] };

/** Sorts a value of any type. A value whose own code fails is written as its type. */
function sort(value: unknown): Sorted {
  switch (typeof value) {
    case "string":
      return { kind: "text", text: wellFormed(value) };
    case "number":
      return { kind: "json", json: Number.isFinite(value) ? JSON.stringify(value) : `"${value}"` };
    case "bigint":
      return { kind: "json", json: integer(value) };
    case "boolean":
      return { kind: "json", json: String(value) };
    case "undefined":
      return { kind: "json", json: "null" };
    case "symbol":
      return { kind: "text", text: String(value) };
    case "function":
      return { kind: "text", text: `<function ${value.name}>` };
  }
  if (value === null) return { kind: "json", json: "null" };
  try {
    return sortObject(value as object);
  } catch {
    return { kind: "text", text: `<${typeName(value as object)}>` };
  }
}

function integer(value: bigint): string {
  const size = value < 0n ? -value - 1n : value;
  return size < INTEGER_END ? String(value) : `"${value < 0n ? "-" : ""}0x${(value < 0n ? -value : value).toString(16)}"`;
}

function sortObject(value: object): Sorted {
  let holder: unknown = value;
  for (let asked = 0; asked < STAND_INS_MAX; asked++) {
    if (typeof holder !== "object" || holder === null) return sort(holder);
    const known = builtIn(holder);
    if (known !== undefined) return known;
    const toJson: unknown = (holder as { toJSON?: unknown }).toJSON;
    if (typeof toJson !== "function") return sortByFields(holder);
    holder = Reflect.apply(toJson, holder, [""]) as unknown;
  }
  return { kind: "text", text: `<${typeName(value)}>` };
}

/** Sorts an object of a built-in class. */
function builtIn(value: object): Sorted | undefined {
  if (Array.isArray(value)) return { kind: "items", holder: value, items: value };
  if (value instanceof Error) return { kind: "text", text: `${value.name}: ${value.message}` };
  if (value instanceof Map) return { kind: "pairs", holder: value, pairs: [...value] };
  if (value instanceof Set) return { kind: "items", holder: value, items: ordered(value) };
  if (value instanceof ArrayBuffer) return { kind: "text", text: bytesText(new Uint8Array(value)) };
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    if (value instanceof Uint8Array || value instanceof DataView) {
      return { kind: "text", text: bytesText(new Uint8Array(buffer, byteOffset, byteLength)) };
    }
    return { kind: "items", holder: value, items: [...(value as unknown as Iterable<unknown>)] };
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return sort(value.valueOf());
  return undefined;
}

/** Sorts an object by its own fields. One without any has its own text or, if it has none, the name of its class. */
function sortByFields(value: object): Sorted {
  const keys = Object.keys(value);
  const { constructor, toString } = value as { constructor?: unknown; toString?: unknown };
  if (keys.length === 0 && constructor !== Object && constructor !== undefined) {
    const isTold = typeof toString === "function" && toString !== Object.prototype.toString;
    return { kind: "text", text: isTold ? wellFormed(String(value)) : `<${typeName(value)}>` };
  }
  const fields = keys.map((key) => [key, (value as Record<string, unknown>)[key]] as const);
  return { kind: "pairs", holder: value, pairs: fields.filter(([, field]) => field !== undefined) };
}

/** Returns the members of a set in an order that does not depend on when they were added. */
function ordered(members: Set<unknown>): unknown[] {
  const texts = [...members].map((member) => [text(member), member] as const);
  return texts.sort(([one], [other]) => (one < other ? -1 : Number(one > other))).map(([, member]) => member);
}

function bytesText(bytes: Uint8Array): string {
  return engine().text_of_bytes(bytes);
}

function typeName(value: object): string {
  try {
    const { constructor } = value;
    return typeof constructor === "function" ? constructor.name : "Object";
  } catch {
    return "Object";
  }
}

/** A container that is being written. */
interface Open {
  holder: object;
  end: "]" | "}";
  next: number;
  readonly length: number;
  at(index: number): readonly [string | undefined, unknown];
}

/** Writes a value as JSON. It keeps its own stack, so a value of any depth is written without recursion. */
function write(first: Sorted): string {
  const open: Open[] = [];
  const holders = new Set<object>();
  let json = "";
  const put = (value: Sorted): void => {
    if (value.kind === "json") json += value.json;
    else if (value.kind === "text") json += JSON.stringify(value.text);
    else if (holders.has(value.holder) || open.length === DEPTH_MAX) json += ELLIPSIS;
    else {
      json += value.kind === "items" ? "[" : "{";
      holders.add(value.holder);
      open.push(opened(value));
    }
  };
  put(first);
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    if (last.next === last.length) {
      json += last.end;
      holders.delete(last.holder);
      open.pop();
      continue;
    }
    if (last.next > 0) json += ",";
    const [key, item] = last.at(last.next++);
    if (key !== undefined) json += `${JSON.stringify(key)}:`;
    put(sort(item));
  }
  return json;
}

function opened(value: Extract<Sorted, { holder: object }>): Open {
  const { holder } = value;
  if (value.kind === "items") {
    const { items } = value;
    return { holder, end: "]", next: 0, length: items.length, at: (index) => [undefined, items[index]] };
  }
  const { pairs } = value;
  const at = (index: number): readonly [string, unknown] => {
    const [key, item] = pairs[index] ?? [undefined, undefined];
    return [text(key), item];
  };
  return { holder, end: "}", next: 0, length: pairs.length, at };
}
