//! What to tell a model beforehand: that loops are noticed, and what is done about them.

/// A sentence for the description of a tool, for hosts whose calls are guarded.
pub const TOOL_NOTE: &str = "Repeating a call that returned the same result, or failed the same \
                             way, is noticed and finally blocked: change the arguments or the \
                             approach instead.";

/// A paragraph for a system prompt: what is noticed, what the model will read, and what to do then.
pub const SYSTEM_NOTE: &str = "Your tool calls are watched for loops: the same call again with the same result, a few calls \
     in turns, near-variants that meet one error, tests that keep failing alike, talk without \
     action. When you seem stuck you will read a note that begins with [unstuck] and says what \
     repeats. Take it seriously: do not make that call again; read the last error anew, question \
     what you assumed, and try another way, or say plainly what blocks you. If it goes on, the call \
     is blocked, and then the run is stopped. Polling whose answer moves, paging through different \
     items, and running tests again after a change are fine.";
