// Judges runs in a thread of its own. The glue of the engine, with `initSync` and `Page`, comes before this.
let page;

// The next bytes of a file, for the engine. It is read in pieces, so that its size costs no memory.
class Source {
  constructor(file, tell) {
    this.file = file;
    this.at = 0;
    this.reader = new FileReaderSync();
    this.tell = tell;
  }

  read(into) {
    const piece = this.reader.readAsArrayBuffer(this.file.slice(this.at, this.at + into.length));
    into.set(new Uint8Array(piece));
    this.at += piece.byteLength;
    this.tell(this.at / this.file.size);
    return piece.byteLength;
  }
}

// Reads and judges one run, and tells how much of it is read. Returns what the page needs of it.
function judged({ name, file, broken }, shown, tell) {
  if (broken) {
    page.unread(name, broken);
    return { why: broken };
  }
  try {
    const part = page.take(name, new Source(file, tell));
    const { loops } = part;
    const result = shown ? { loops, json: part.json, html: part.html } : { loops };
    part.free();
    return result;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return { why: String(error) };
  }
}

function judge({ job, policy, full, shown, from, runs }) {
  if (from === 0) {
    page?.free();
    page = undefined;
    try {
      page = Page.of(policy, full);
    } catch ({ line, column, what, quote }) {
      postMessage({ job, kind: "wrong", line, column, what, quote });
      return;
    }
  }
  let [results, told] = [[], 0];
  for (const [at, run] of runs.entries()) {
    // The page has to know on which run the engine fails.
    postMessage({ job, kind: "next", place: from + at });
    const tell = (share) => {
      if (performance.now() - told < 100) return;
      postMessage({ job, kind: "some", results, share });
      [results, told] = [[], performance.now()];
    };
    const result = judged(run, shown, tell);
    results.push(result);
  }
  postMessage({ job, kind: "end", results, title: page.title(), overview: shown ? page.overview() : "" });
}

addEventListener("message", ({ data }) => {
  if (data.module) {
    initSync({ module: data.module });
    const policies = data.first ? Page.names().map((name) => ({ name, text: Page.text(name) })) : undefined;
    postMessage({ kind: "ready", policies });
  } else {
    judge(data);
  }
});
