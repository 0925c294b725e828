export default function (pi) {
  // The arguments of calls that have begun, and the calls whose events are complete.
  const begun = new Map();
  const announced = new Set();
  // The text with which the model's answer ends.
  let last;

  const tell = (ctx, event) =>
    ask({ ...event, session: ctx.sessionManager.getSessionId(), cwd: ctx.cwd });

  // Shows a line to the user, in a terminal.
  const show = (ctx, line) => {
    if (line && ctx.hasUI) quietly(() => ctx.ui.notify(line, "warning"));
  };

  // Reports the result of a call. Returns its content with a note, or `undefined` without one.
  const after = async (ctx, { toolCallId, toolName, content, isError }, args) => {
    const output = textOf(content);
    const event = { event: "after", call: toolCallId, tool: toolName, args, output, failed: isError };
    const answer = await tell(ctx, event);
    show(ctx, answer.person);
    if (answer.stop) quietly(() => ctx.abort());
    const words = answer.stop ?? answer.tell;
    return words && [...content, { type: "text", text: words }];
  };

  pi.on("input", async ({ text, source }, ctx) => {
    if (source !== "extension") await tell(ctx, { event: "prompt", text });
  });

  pi.on("tool_execution_start", ({ toolCallId, args }) => {
    begun.set(toolCallId, args);
  });

  pi.on("tool_call", async ({ toolCallId, toolName, input }, ctx) => {
    announced.add(toolCallId);
    const event = { event: "before", call: toolCallId, tool: toolName, args: input };
    const answer = await tell(ctx, event);
    show(ctx, answer.person);
    if (answer.stop) return { block: true, reason: answer.stop, terminate: true };
    if (answer.refuse) return { block: true, reason: answer.refuse };
  });

  pi.on("tool_result", async (event, ctx) => {
    const content = await after(ctx, event, event.input);
    if (content) return { content };
  });

  pi.on("message_end", async ({ message }, ctx) => {
    if (message.role === "assistant") {
      last = textOf(message.content.filter(({ type }) => type === "text"));
      if (message.stopReason === "aborted") await tell(ctx, { event: "interrupted" });
    } else if (message.role === "toolResult") {
      const args = begun.get(message.toolCallId);
      begun.delete(message.toolCallId);
      // An unknown tool or invalid arguments cause no other event.
      if (announced.delete(message.toolCallId)) return;
      const content = await after(ctx, message, args);
      if (content) return { message: { ...message, content } };
    }
  });

  pi.on("agent_settled", async (_, ctx) => {
    if (last !== undefined) await tell(ctx, { event: "idle", text: last });
    last = undefined;
  });

  pi.on("session_compact", (_, ctx) => tell(ctx, { event: "compacted" }).then(() => {}));

  // The conversation goes on from another point, without what came after that.
  pi.on("session_tree", (_, ctx) => tell(ctx, { event: "began" }).then(() => {}));

  pi.on("session_shutdown", async ({ reason }, ctx) => {
    if (reason !== "reload") await tell(ctx, { event: "ended" });
    await Promise.all(running);
  });
}
