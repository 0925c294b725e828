// A module of its own, so that bundlers load it when it is needed. Browsers compile it beside other work.
export default async () => (await import("../dist/esm/glue/engine-packed.js")).default;
