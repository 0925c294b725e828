//! Requests with the spans of agents' sessions, in protobuf.

/// The beginning of the traffic, in seconds since 1970.
const BEGIN: u64 = 1_780_000_000;

/// The sessions of agents. Each has spans of its model and its tools, and every tenth repeats one call.
pub(crate) struct Traffic {
    sessions: u64,
    /// The number of the first session.
    pub(crate) first: u64,
    /// The number of the next span.
    next: u64,
    /// The time in seconds since the beginning.
    pub(crate) now: u64,
}

impl Traffic {
    pub(crate) const fn new(sessions: u64) -> Self {
        Self { sessions, first: 0, next: 0, now: 0 }
    }

    /// Returns whether the span of each session in this round is a call. The others are answers of models.
    pub(crate) const fn is_call(round: u64) -> bool {
        !round.is_multiple_of(3)
    }

    /// Returns a request with so many spans, one of each session in turn.
    pub(crate) fn request(&mut self, spans: u64) -> Vec<u8> {
        let spans = (0..spans).fold(Message::default(), |all, _| all.message(2, &self.span()));
        Message::default().message(1, &Message::default().message(2, &spans)).0
    }

    fn span(&mut self) -> Message {
        let number = self.next;
        self.next += 1;
        let session = self.first + number % self.sessions;
        let round = number / self.sessions;
        let begin = (BEGIN + self.now) * 1_000_000_000 + number * 1_000;
        let trace = (0x5b << 120 | u128::from(session)).to_be_bytes();
        let span = Message::default()
            .bytes(1, trace)
            .bytes(2, (number + 1).to_be_bytes())
            .bytes(4, (u64::MAX - session).to_be_bytes())
            .time(7, begin)
            .time(8, begin + 500)
            .text("gen_ai.agent.name", "coder")
            .text("gen_ai.conversation.id", &format!("session-{session}"));
        if !Self::is_call(round) {
            return span
                .bytes(5, "chat model-x")
                .text("gen_ai.operation.name", "chat")
                .text("gen_ai.request.model", "model-x")
                .text("gen_ai.provider.name", "vendor")
                .text("gen_ai.response.id", &format!("answer-{number}"))
                .integer("gen_ai.usage.input_tokens", 9_000 + round)
                .integer("gen_ai.usage.output_tokens", 120);
        }
        let call = if session.is_multiple_of(10) { 0 } else { round };
        let command =
            format!("cargo test --package part-{call} --lib -- --nocapture\",\"timeout\":120");
        let log = "a line of the log\n".repeat(30);
        let output = format!("running 1 test\ntest part_{call}::works ... FAILED\n{log}");
        span.bytes(5, "execute_tool bash")
            .text("gen_ai.operation.name", "execute_tool")
            .text("gen_ai.tool.name", "bash")
            .text("gen_ai.tool.type", "function")
            .text("gen_ai.tool.call.id", &format!("call_{number:016x}"))
            .text("gen_ai.tool.call.arguments", &format!("{{\"command\":\"{command}}}"))
            .text("gen_ai.tool.call.result", &output)
    }
}

/// A message of protobuf that is written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn time(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Self {
        self.varint(field << 3 | 2);
        self.varint(value.as_ref().len() as u64);
        self.0.extend(value.as_ref());
        self
    }

    fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// Adds an attribute of a span.
    fn attribute(self, key: &str, value: &Self) -> Self {
        self.message(9, &Self::default().bytes(1, key).message(2, value))
    }

    fn text(self, key: &str, value: &str) -> Self {
        self.attribute(key, &Self::default().bytes(1, value))
    }

    fn integer(self, key: &str, value: u64) -> Self {
        let mut number = Self::default();
        number.varint(3 << 3);
        number.varint(value);
        self.attribute(key, &number)
    }
}
