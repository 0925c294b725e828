/**
 * The engine: the functions of the WebAssembly file, which is loaded when the first of them is used.
 *
 * Node, Bun and Deno read it from a JavaScript module, as base 64: bundlers lose files that a package names by address.
 * In browsers the module is loaded by `init`. Workers of Cloudflare compile nothing at run time, so their bundler takes
 * the file itself.
 */

import small from "#engine";
import full from "#full";

import * as fullGlue from "./glue/full.js";
import * as smallGlue from "./glue/engine.js";

/**
 * A WebAssembly file: its bytes, compressed by gzip and in base 64; a function that loads that text; or the module that a
 * bundler made of the file.
 */
export type Source = string | WebAssembly.Module | (() => Promise<string>);

/** The options of {@link init}. */
export interface InitOptions {
  full?: boolean | undefined;
  module?: WebAssembly.Module | undefined;
  fullModule?: WebAssembly.Module | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

interface Glue {
  initSync(options: { module: WebAssembly.Module | Bytes }): unknown;
}

/** A file, and its state. */
class File<G extends Glue> {
  #isLoaded = false;
  #loading: Promise<void> | undefined;

  constructor(
    private readonly glue: G,
    private readonly source: Source,
    private readonly how: string,
  ) {}

  /** Returns the functions of the file. */
  get(): G {
    if (!this.#isLoaded) {
      const file = typeof this.source === "string" ? unpackedNow(this.source) : this.source;
      if (file === undefined || typeof file === "function") {
        throw new Error(`unstuck: the engine is not loaded; call ${this.how} first`);
      }
      this.#use(file);
    }
    return this.glue;
  }

  /** Loads the file without blocking, unless it is loaded. */
  async load(module?: WebAssembly.Module): Promise<void> {
    if (this.#isLoaded) return;
    this.#loading ??= (async () => {
      const { source } = this;
      if (module !== undefined) this.#use(module);
      else if (source instanceof WebAssembly.Module) this.#use(source);
      else this.#use(await WebAssembly.compile(await unpacked(typeof source === "string" ? source : await source())));
    })();
    try {
      await this.#loading;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }

  #use(module: WebAssembly.Module | Bytes): void {
    // It may have been loaded by a call meanwhile.
    if (this.#isLoaded) return;
    this.glue.initSync({ module });
    this.#isLoaded = true;
  }
}

/** Unpacks a file at once, where Node's `zlib` is. */
function unpackedNow(packed: string): Bytes | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => Zlib | undefined } };
  return process?.getBuiltinModule?.("node:zlib")?.gunzipSync(decoded(packed));
}

interface Zlib {
  gunzipSync(bytes: Bytes): Bytes;
}

function unpacked(packed: string): Promise<ArrayBuffer> {
  const bytes = new Blob([decoded(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(bytes).arrayBuffer();
}

function decoded(base64: string): Bytes {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

const SMALL = new File(smallGlue, small, "`await init()`");
const FULL = new File(fullGlue, full, '`await init({ full: true })`');

/** Returns the functions of the engine. */
export const engine = (): typeof smallGlue => SMALL.get();

/** Returns the functions of the engine that also reads policies and recorded runs. */
export const fullEngine = (): typeof fullGlue => FULL.get();

/**
 * Loads the engine. Browsers need this before everything else; in Node, Bun, Deno and workers of Cloudflare, it is
 * loaded when it is first used.
 *
 * With `full`, the file that reads policies, declared tools and recorded runs is loaded, too. `module` and `fullModule`
 * are the two files as modules of WebAssembly, for a place where no other way works.
 */
export async function init(options: InitOptions = {}): Promise<void> {
  const { full = false, module, fullModule } = options;
  await SMALL.load(module);
  if (full || fullModule !== undefined) await FULL.load(fullModule);
}
