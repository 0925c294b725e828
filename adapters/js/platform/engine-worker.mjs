// Workers of Cloudflare compile no WebAssembly at run time. Their bundler does it.
export { default } from "../dist/unstuck.wasm";
