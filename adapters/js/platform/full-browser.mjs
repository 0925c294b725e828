export default new URL("../dist/unstuck-full.wasm", import.meta.url);
