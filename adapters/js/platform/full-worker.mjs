export { default } from "../dist/unstuck-full.wasm";
