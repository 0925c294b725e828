export default new URL("../dist/unstuck.wasm", import.meta.url);
