export const Unstuck = async ({ client, directory }) => {
  // The parents of the sessions of subagents.
  const parents = new Map();
  // The text with which each session's answer ends.
  const texts = new Map();
  // The calls that have begun, and the answers to those that failed.
  const open = new Set();
  const failures = new Map();

  const tell = (session, event) => {
    let root = session;
    while (parents.has(root)) root = parents.get(root);
    const subagent = root === session ? undefined : session;
    return ask({ ...event, session: root, subagent, cwd: directory });
  };

  // Ends the turn. Waiting for that would wait for the very call that asks for it.
  const stop = (session) => {
    quietly(() => client.session.abort({ path: { id: session } }));
  };

  // Shows a line to the user, in a terminal.
  const show = (message) => {
    if (message) quietly(() => client.tui.showToast({ body: { message, variant: "warning" } }));
  };

  // A call that throws never reaches "tool.execute.after".
  const failed = ({ sessionID, callID, tool, state }) => {
    if (failures.has(callID)) return;
    open.delete(callID);
    const cancelled = state.metadata?.interrupted === true;
    const event = { event: "after", call: callID, tool, args: state.input, output: state.error };
    const answer = tell(sessionID, { ...event, failed: true, cancelled });
    failures.set(callID, answer);
    answer.then(({ stop: words, person }) => {
      show(person);
      if (words) stop(sessionID);
    });
  };

  return {
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      open.add(callID);
      const answer = await tell(sessionID, { event: "before", call: callID, tool, args });
      show(answer.person);
      if (answer.stop) stop(sessionID);
      const words = answer.stop ?? answer.refuse;
      if (words) throw new Error(words);
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
      open.delete(callID);
      // A tool of an MCP server has a list of content blocks instead of an output.
      const blocks = Array.isArray(result?.content) ? result.content : undefined;
      const output = blocks ? textOf(blocks) : result?.output;
      // opencode runs the tool "invalid" in place of one that does not exist.
      const failed = result?.isError === true || tool === "invalid";
      const exit = result?.metadata?.exit;
      const event = { event: "after", call: callID, tool, args, output, failed, exit };
      const answer = await tell(sessionID, event);
      show(answer.person);
      const words = answer.stop ?? answer.tell;
      if (words && blocks) blocks.push({ type: "text", text: words });
      else if (words) result.output = `${output}\n\n${words}`;
      if (answer.stop) stop(sessionID);
    },

    // What the model reads of a failed call is its error, which is stored without our note.
    "experimental.chat.messages.transform": async (_, { messages }) => {
      const errors = messages.flatMap(({ parts }) => parts).filter(isError);
      for (const part of errors) {
        if (open.has(part.callID)) failed(part);
        const answer = await failures.get(part.callID);
        const words = answer?.stop ?? answer?.tell;
        if (words) part.state.error += `\n\n${words}`;
      }
    },

    "chat.message": async ({ sessionID }, { parts }) => {
      const own = parts.filter(({ type, synthetic }) => type === "text" && !synthetic);
      if (own.length > 0) await tell(sessionID, { event: "prompt", text: textOf(own) });
    },

    event: async ({ event: { type, properties } }) => {
      const { info, part, sessionID } = properties ?? {};
      if (type === "message.part.updated") {
        if (isError(part)) failed(part);
        else if (part?.type === "text" && part.time?.end) texts.set(part.sessionID, part.text);
      } else if (type === "session.created" || type === "session.updated") {
        if (info?.parentID) parents.set(info.id, info.parentID);
      } else if (type === "session.deleted" && info) {
        await tell(info.id, { event: "ended" });
      } else if (type === "session.compacted") {
        await tell(sessionID, { event: "compacted" });
      } else if (type === "session.error" && properties.error?.name === "MessageAbortedError") {
        await tell(sessionID, { event: "interrupted" });
      } else if (type === "session.idle" && texts.has(sessionID)) {
        const text = texts.get(sessionID);
        texts.delete(sessionID);
        await tell(sessionID, { event: "idle", text });
      }
    },

    dispose: async () => {
      await Promise.all(running);
    },
  };
};

function isError(part) {
  return part?.type === "tool" && part.state?.status === "error";
}
