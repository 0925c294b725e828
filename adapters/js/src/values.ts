/**
 * Values of JavaScript as text: arguments and results.
 *
 * A container becomes JSON. No value is an error: what is no JSON becomes the text that `README.md` documents.
 */

import { engine } from "./engine.js";

/** The deepest value that is handed to `JSON.stringify`. It recurses, and so does the check before it. */
const PLAIN_DEPTH_MAX = 64;

/** The most values inside one that is handed to `JSON.stringify`. */
const PLAIN_VALUES_MAX = 1 << 20;

/** The deepest nesting that is written. A deeper container becomes {@link ELLIPSIS}. */
const DEPTH_MAX = 10_000;

/**
 * The most values that are written. An object that is reached by many ways is written as often, so that the number of
 * values can be far larger than the number of objects.
 */
const VALUES_MAX = 1 << 18;

/**
 * The longest text that is read whole, in UTF-16 units. Of a longer one, the two ends are read: all of it would block
 * the program for seconds, and the memory of WebAssembly never shrinks.
 */
const TEXT_MAX = 1 << 22;

/** Stands for a container inside itself, or one nested deeper than {@link DEPTH_MAX}. */
const ELLIPSIS = '"..."';

/** The end of a text that has not all values. */
const CUT = " ...";

/** The largest number of times that one value may ask to be written as another, by `toJSON`. */
const STAND_INS_MAX = 8;

/** The first integer that is written in hexadecimal digits, as in Python. */
const INTEGER_END = 1n << 127n;

/** Stands for an item whose own code fails. */
const UNREADABLE = "<unreadable>";

/** Returns the text of a value: text and bytes as they are, and containers as JSON. It has some 25 MB at most. */
export function text(value: unknown): string {
  if (typeof value === "string") return readable(value);
  return json(value) ?? written(value);
}

/** Returns `text`, or its ends, with each lone surrogate written as its escape, for example `\ud83d`. */
function readable(text: string): string {
  const read = ends(text);
  return read.isWellFormed() ? read : read.replace(LONE, (lone) => `\\u${lone.charCodeAt(0).toString(16)}`);
}

/** Returns `text`, or the beginning, the length and the end of one that is too long. */
function ends(text: string): string {
  if (text.length <= TEXT_MAX) return text;
  return `${text.slice(0, TEXT_MAX / 2)}\n... ${text.length} characters ...\n${text.slice(-TEXT_MAX / 2)}`;
}

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns the JSON of a value, or `undefined` if `JSON.stringify` does not write all of it. */
function json(value: unknown): string | undefined {
  try {
    // A getter may return something else the second time.
    return isPlain(value, 0, { values: PLAIN_VALUES_MAX, characters: TEXT_MAX }) ? (JSON.stringify(value) ?? "null") : undefined;
  } catch {
    return undefined;
  }
}

/** What `JSON.stringify` may still be given. */
interface Budget {
  values: number;
  characters: number;
}

/** Returns whether `JSON.stringify` writes all of a value. It leaves much out in silence, such as the entries of a `Map`. */
function isPlain(value: unknown, depth: number, left: Budget): boolean {
  switch (typeof value) {
    case "string":
      left.characters -= value.length;
      return left.characters >= 0;
    case "boolean":
    case "undefined":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth === PLAIN_DEPTH_MAX) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    left.values -= value.length;
    const isAll = prototype === Array.prototype && left.values > 0;
    return isAll && value.every((item) => isPlain(item, depth + 1, left));
  }
  if (prototype !== Object.prototype && prototype !== null) return false;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  for (const key in value) {
    left.values -= 1;
    left.characters -= key.length;
    if (left.values < 0 || !isPlain((value as Record<string, unknown>)[key], depth + 1, left)) return false;
  }
  return true;
}

/** A value, sorted by the way in which it is written. */
type Sorted =
  | { kind: "json"; json: string }
  /** The text of a value that is no string. */
  | { kind: "text"; text: string }
  /** A container, with its items or pairs. */
  | { kind: "items"; holder: object; items: ArrayLike<unknown>; length: number }
  | { kind: "pairs"; holder: object; pairs: readonly (readonly [string, unknown])[] };

/** Sorts a value of any type. A value whose own code fails is written as its type. */
function sort(value: unknown): Sorted {
  try {
    return sortAny(value);
  } catch {
    return { kind: "text", text: `<${typeName(value as object)}>` };
  }
}

function sortAny(value: unknown): Sorted {
  switch (typeof value) {
    case "string":
      return { kind: "text", text: readable(value) };
    case "number":
      return { kind: "json", json: Number.isFinite(value) ? JSON.stringify(value) : `"${value}"` };
    case "bigint":
      return { kind: "json", json: integer(value) };
    case "boolean":
      return { kind: "json", json: String(value) };
    case "undefined":
      return { kind: "json", json: "null" };
    case "symbol":
      return { kind: "text", text: readable(String(value)) };
    case "function":
      return { kind: "text", text: `<function ${nameOf(value)}>` };
  }
  return value === null ? { kind: "json", json: "null" } : sortObject(value as object);
}

function integer(value: bigint): string {
  const size = value < 0n ? -value - 1n : value;
  if (size < INTEGER_END) return String(value);
  return JSON.stringify(ends(`${value < 0n ? "-" : ""}0x${(value < 0n ? -value : value).toString(16)}`));
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
  if (Array.isArray(value)) return listed(value, value);
  if (value instanceof Error) return { kind: "text", text: readable(`${value.name}: ${value.message}`) };
  if (value instanceof Map) return sortMap(value);
  if (value instanceof Set) return listed(value, ordered(firstOf(value)));
  if (value instanceof ArrayBuffer || (typeof SharedArrayBuffer === "function" && value instanceof SharedArrayBuffer)) {
    return { kind: "text", text: bytesText(new Uint8Array(value)) };
  }
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    if (value instanceof Uint8Array || value instanceof DataView) {
      return { kind: "text", text: bytesText(new Uint8Array(buffer, byteOffset, byteLength)) };
    }
    return listed(value, value as unknown as ArrayLike<unknown>);
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return sort(value.valueOf());
  return undefined;
}

function listed(holder: object, items: ArrayLike<unknown>): Sorted {
  return { kind: "items", holder, items, length: items.length };
}

/** Returns the members that are written, and one more. The iterator may be one of the host, and have no end. */
function firstOf<T>(members: Iterable<T>): T[] {
  const first: T[] = [];
  for (const member of members) if (first.push(member) > VALUES_MAX) break;
  return first;
}

/** Sorts a map: as an object, or as a list of pairs if a key is an object. */
function sortMap(map: Map<unknown, unknown>): Sorted {
  const entries = firstOf(map);
  if (entries.some(([key]) => isObject(key))) return listed(map, entries);
  return { kind: "pairs", holder: map, pairs: entries.map(([key, value]) => [text(key), value]) };
}

/** Sorts an object by its own fields. One without any has its own text. */
function sortByFields(value: object): Sorted {
  const keys = Object.keys(value);
  const { constructor, toString } = value as { constructor?: unknown; toString?: unknown };
  if (keys.length === 0 && constructor !== Object && constructor !== undefined) {
    const isTold = typeof toString === "function" && toString !== Object.prototype.toString;
    return { kind: "text", text: isTold ? readable(String(value)) : identity(value) };
  }
  const fields = keys.map((key) => [key, (value as Record<string, unknown>)[key]] as const);
  return { kind: "pairs", holder: value, pairs: fields.filter(([, field]) => field !== undefined) };
}

const IDENTITIES = new WeakMap<object, string>();
let identities = 0;

/** Returns a text of its own for an object that shows nothing of itself, such as a `Response`. */
function identity(value: object): string {
  let text = IDENTITIES.get(value);
  if (text === undefined) {
    identities += 1;
    text = `<${typeName(value)} ${identities}>`;
    IDENTITIES.set(value, text);
  }
  return text;
}

/** Returns the members of a set in an order that does not depend on when they were added, unless one is an object. */
function ordered(members: unknown[]): unknown[] {
  if (members.some(isObject)) return members;
  const texts = members.map((member) => [text(member), member] as const);
  return texts.sort(([one], [other]) => (one < other ? -1 : Number(one > other))).map(([, member]) => member);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function bytesText(bytes: Uint8Array): string {
  const told = (part: Uint8Array): string => engine().text_of_bytes(part);
  if (bytes.length <= TEXT_MAX) return told(bytes);
  const [first, last] = [bytes.subarray(0, TEXT_MAX / 2), bytes.subarray(-TEXT_MAX / 2)];
  return `${told(first)}\n... ${bytes.length} bytes ...\n${told(last)}`;
}

function typeName(value: object): string {
  try {
    const { constructor } = value;
    return typeof constructor === "function" ? nameOf(constructor) : "Object";
  } catch {
    return "Object";
  }
}

/** Returns the name of a function or a class. */
function nameOf(value: Function): string {
  try {
    const { name }: { name: unknown } = value;
    return typeof name === "string" ? readable(name) : "";
  } catch {
    return "";
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

/** Writes a value. It keeps its own stack, so a value of any depth is written without recursion. */
function written(value: unknown): string {
  const first = sort(value);
  if (first.kind === "text") return first.text;
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
  let values = 0;
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    if (last.next === last.length) {
      json += last.end;
      holders.delete(last.holder);
      open.pop();
      continue;
    }
    values += 1;
    if (values > VALUES_MAX || json.length > TEXT_MAX) return json + CUT;
    if (last.next > 0) json += ",";
    const [key, item] = last.at(last.next++);
    if (key !== undefined) json += `${JSON.stringify(readable(key))}:`;
    put(sort(item));
  }
  return json;
}

function opened(value: Extract<Sorted, { holder: object }>): Open {
  const { holder } = value;
  if (value.kind === "items") {
    const { items, length } = value;
    return { holder, end: "]", next: 0, length, at: (index) => [undefined, itemOf(items, index)] };
  }
  const { pairs } = value;
  return { holder, end: "}", next: 0, length: pairs.length, at: (index) => pairs[index] ?? ["", undefined] };
}

function itemOf(items: ArrayLike<unknown>, index: number): unknown {
  try {
    return items[index];
  } catch {
    return UNREADABLE;
  }
}
