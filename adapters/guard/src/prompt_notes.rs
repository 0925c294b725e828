//! Texts for the system prompt, which explain to a model in advance how loops are handled.

/// A paragraph for the description of a tool whose calls are guarded.
pub const TOOL_NOTE: &str = "Repeating a call that returned the same result, or failed the same \
                             way, is noticed and finally blocked. Before you call this tool again, \
                             check whether the last answer changed anything, whether another tool \
                             fits better, and whether you are done. If nothing changed, change the \
                             arguments or the approach, ask the user, or say what you tried.";

/// A paragraph for a system prompt: which loops are noticed, what the model will read, and what it should
/// do then.
pub const SYSTEM_NOTE: &str = "Your tool calls are watched for loops: the same call again with the same result, a few calls \
     in turns, near-variants that meet one error, tests that keep failing alike, talk without \
     action. When you seem stuck you will read a note that begins with [unstuck] and says what \
     repeats. Take it seriously: do not make that call again; read the last error anew, question \
     what you assumed, and try another way, ask the user, or say plainly what you tried and what \
     blocks you. If it goes on, the call \
     is blocked; then your work may be undone so that you start over, or the run is stopped. After \
     starting over, take another approach than before. Polling whose answer moves, paging through \
     different items, and running tests again after a change are fine.";
