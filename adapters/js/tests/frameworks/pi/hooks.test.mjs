// The handlers of the extension, called as pi calls them, with what pi does not send in a short run.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { unstuck } from "unstuck/pi";

let ids = 0;

/** An extension in one session. */
function extension() {
  const handlers = new Map();
  unstuck()({ on: (event, handler) => handlers.set(event, handler) });
  const context = { sessionManager: { getSessionId: () => "s" }, hasUI: false, abort() {} };
  const happen = (event, fields = {}) => handlers.get(event)(fields, context);
  return {
    handlers,
    happen,
    /** How many calls run, each in a turn of its own, if all fail. */
    async ran(count, name = () => `c${ids++}`) {
      let runs = 0;
      for (let call = 0; call < count; call += 1) {
        const toolCallId = name();
        const fields = { toolCallId, toolName: "read", args: { path: "x" }, input: { path: "x" } };
        const content = [{ type: "text", text: "no such file" }];
        await happen("turn_start");
        await happen("tool_execution_start", fields);
        const refusal = await happen("tool_call", fields);
        if (refusal === undefined) {
          runs += 1;
          await happen("tool_result", { ...fields, content, isError: true });
        }
        await happen("message_end", { message: { ...fields, role: "toolResult", content, isError: true } });
      }
      return runs;
    },
  };
}

test("a message with another image is a new one", async () => {
  const image = (data) => ({ type: "image", data, mimeType: "image/png" });
  for (const text of ["", "look"]) {
    const { happen, ran } = extension();
    await happen("input", { text, images: [image("AAAA")], source: "interactive" });
    assert.equal(await ran(6), 5);
    // The same again is no new message.
    await happen("input", { text, images: [image("AAAA")], source: "interactive" });
    assert.equal(await ran(1), 0);
    await happen("input", { text, images: [image("BBBB")], source: "interactive" });
    assert.equal(await ran(1), 1);
  }
});

test("a text is reported as ever", async () => {
  const { happen, ran } = extension();
  await happen("input", { text: "go", images: [], source: "interactive" });
  assert.equal(await ran(6), 5);
  await happen("input", { text: "go", source: "interactive" });
  await happen("input", { text: "from an extension", source: "extension" });
  assert.equal(await ran(1), 0);
  await happen("input", { text: "it is there now", source: "interactive" });
  assert.equal(await ran(1), 1);
});

test("an id may come again in each turn", async () => {
  assert.equal(await extension().ran(7, () => "call_0"), 5);
});

test("no handler throws, whatever it is given", async () => {
  const { handlers } = extension();
  const log = mock.method(console, "error", () => {});
  try {
    for (const handler of handlers.values()) {
      for (const fields of [undefined, {}, { message: { role: "toolResult" } }]) {
        assert.equal(await handler(fields, undefined), undefined);
      }
    }
    assert.equal(log.mock.callCount(), 1);
  } finally {
    log.mock.restore();
  }
});
