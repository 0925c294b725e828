export { default } from "../dist/unstuck.wasm";
