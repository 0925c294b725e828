//! The kinds of volatile text, sets of them, the words that show them, and what stands at a position of a text.

use super::counter::Counter;
use crate::list::List;
use crate::words::lists;

lists! { "../words/numbers.toml":
    List [LABELS SPANS COSTS FORGERY]
    Texts [AHEAD BEHIND REQUESTS]
}

/// A kind of volatile text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Mask {
    /// Colours and other terminal controls: `ESC [ 31 m`, `ESC ] 0 ; title BEL`.
    Ansi,
    /// Two or more white spaces in a row. They become one line break if they contain one, and one
    /// space otherwise. White space at either end of the text disappears.
    Spaces,
    /// Clock times: `12:03:59.5`, `7:30 pm`, the time of `2026-05-28T14:38:00Z`, the seconds or milliseconds since
    /// 1970 in a member whose name says that it is a time, and any 13 digits that are the milliseconds of these years,
    /// unless their name says that they are an id or count something.
    Times,
    /// `2026-05-28`, `05/28/2026`, `May 28`, `28 May 2026`.
    Dates,
    /// `0.02s`, `3 minutes`, `1m 30s`, `250 ms`, and numbers without a unit whose label says that they
    /// are durations: `elapsed_ms=412`, `took 14`, `Wall time: 0.4`. A bare `5m` stays: it may be
    /// metres.
    Durations,
    /// `123e4567-e89b-12d3-a456-426614174000`.
    Uuids,
    /// Seven and more hexadecimal digits, letters and decimal digits among them: commits, checksums,
    /// container ids.
    Hashes,
    /// Hexadecimal addresses of six digits and more: `0x7ffd5e8a`.
    Addresses,
    /// Ids of processes, their groups and threads: `pid 4711`, `PGID: 4711`, `[4711] ` at the start of
    /// a line, `[1] 4711` on a line, `sshd[4711]:`, `==4711==`.
    Pids,
    /// The made-up part of a path under a temporary folder: `/tmp/tmpab12cd_x/out.txt`.
    TempPaths,
    /// Ports in local addresses: `localhost:54321`, `127.0.0.1:8080`, `[::1]:9000`.
    Ports,
    /// The inputs and outputs of a notebook, which it counts whatever the agent does: `In [12]:`.
    Inputs,
    /// The costs of a run, with their currency: `cost: $0.0123`, `"cost_usd": 0.012`, `$0.0123 spent`, `Remaining budget: $5`.
    /// `cost: 0.69` stays: it may be a model's loss.
    Costs,
    /// Tokens of a language model and shares of its context: `tokens left: 81022`, `81022 tokens`,
    /// `"total_tokens": 1234`, `context left: 83%`. `12 tokens` stays: a parser counts them, too.
    Tokens,
    /// Ids of requests, traces, sessions, messages and the like, by their label:
    /// `request_id=req_01H8`, `Chunk ID: 3fa9c1`. `user_id=17` stays, and so does an id without a
    /// decimal digit. Also references to elements in the snapshot of a page, `[ref=e12]` and `uid=3_17`, tokens
    /// against forged requests, `name="csrf" value="a1b2"`, `nonce="x7Q"`, versions of pages, `ETag: "33a6"`, and ULIDs.
    Ids,
    /// The number of a step, turn or attempt before its total: `[step 17/200]`, `turn 4 of 30`.
    /// `[17/200]` stays, and so does a step of a job: `step 3/10: linking`. Also the number of those that are left,
    /// `You have 6 steps left`, `Attempts remaining: 3`, and of a turn alone in brackets: `(iteration 4)`.
    Steps,
}

/// The names of the masks, in their order.
const NAMES: [&str; Mask::ALL.len()] = crate::phrases::texts![
    "ansi" "spaces" "times" "dates" "durations" "uuids" "hashes" "addresses" "pids" "temp-paths"
    "ports" "inputs" "costs" "tokens" "ids" "steps"
];

impl Mask {
    /// Every mask.
    pub const ALL: [Self; 16] = [
        Self::Ansi,
        Self::Spaces,
        Self::Times,
        Self::Dates,
        Self::Durations,
        Self::Uuids,
        Self::Hashes,
        Self::Addresses,
        Self::Pids,
        Self::TempPaths,
        Self::Ports,
        Self::Inputs,
        Self::Costs,
        Self::Tokens,
        Self::Ids,
        Self::Steps,
    ];

    /// The mask's one spelling, wherever it is written.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of masks.
///
/// ```
/// use unstuck_text::{Mask, Masks};
///
/// let masks = Masks::ALL.without(Mask::Hashes);
/// let masked = masks.show("commit 3f2a1bc at 12:03:59, 40 % done");
/// assert_eq!(masked.to_string(), "commit 3f2a1bc at <times>, 40 % done");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masks(u16);

impl Masks {
    /// No mask: every byte counts.
    pub const NONE: Self = Self(0);

    /// Every mask.
    pub const ALL: Self = {
        let (mut all, mut n) = (Self::NONE, 0);
        while n < Mask::ALL.len() {
            all = all.with(Mask::ALL[n]);
            n += 1;
        }
        all
    };

    /// These masks and `mask`.
    #[must_use]
    pub const fn with(self, mask: Mask) -> Self {
        Self(self.0 | mask.bit())
    }

    /// These masks but `mask`.
    #[must_use]
    pub const fn without(self, mask: Mask) -> Self {
        Self(self.0 & !mask.bit())
    }

    /// Returns whether `mask` is in the set.
    pub const fn contains(self, mask: Mask) -> bool {
        self.0 & mask.bit() != 0
    }

    /// These masks, in the order of [`Mask::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Mask> {
        Mask::ALL.into_iter().filter(move |mask| self.contains(*mask))
    }
}

/// Masks, and counters of the host's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masker<'p> {
    pub(super) masks: Masks,
    pub(super) counters: &'p [Counter<'p>],
}

impl Masker<'_> {
    /// Returns whether every byte counts.
    pub(super) const fn is_none(self) -> bool {
        self.masks.0 == Masks::NONE.0 && self.counters.is_empty()
    }
}

/// The text found at a position.
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) part: Part,
}

/// The meaning of a span: a number, white space, or masked text.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// A number that counts.
    Number,
    /// Only white space and terminal controls: the white space that is written for them.
    Blank(Option<u8>),
    /// Volatile text that this mask or a counter of the host covers.
    Masked(Option<Mask>),
}

impl Part {
    pub(super) const fn of(mask: Mask) -> Self {
        Self::Masked(Some(mask))
    }
}
