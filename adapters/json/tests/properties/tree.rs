//! JSON values as plain trees: written in any spelling, and one canonical text.

use std::fmt::Write as _;

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(Decimal),
    String(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// The number `digits` × 10^`exponent`, negative or not; zeros around the digits may be many.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    pub(crate) digits: String,
    pub(crate) exponent: i32,
}

impl Tree {
    /// A text that two trees share exactly when they mean the same.
    pub(crate) fn canonical(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(decimal) => decimal.canonical(),
            Self::String(text) => format!("{text:?}"),
            Self::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(Self::canonical).collect();
                format!("[{}]", elements.join(","))
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members
                    .iter()
                    .map(|(name, value)| format!("{name:?}:{}", value.canonical()))
                    .collect();
                members.sort();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// One of the many spellings of the tree, which `choices` picks.
    pub(crate) fn spelled(&self, choices: &mut Choices) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(decimal) => decimal.spelled(choices),
            Self::String(text) => quoted(text, choices),
            Self::Array(elements) => {
                let elements = elements.iter().map(|element| element.spelled(choices)).collect();
                listed('[', elements, ']', choices)
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members
                    .iter()
                    .map(|(name, value)| {
                        let name = quoted(name, choices);
                        let (before, after) = (choices.space(), choices.space());
                        format!("{name}{before}:{after}{}", value.spelled(choices))
                    })
                    .collect();
                choices.shuffle(&mut members);
                listed('{', members, '}', choices)
            }
        }
    }
}

impl Decimal {
    /// The digits without the zeros around them, and the exponent that goes with them.
    fn stripped(&self) -> (&str, i32) {
        let digits = self.digits.trim_end_matches('0');
        let zeros = i32::try_from(self.digits.len() - digits.len()).expect("few zeros");
        (digits.trim_start_matches('0'), self.exponent + zeros)
    }

    fn canonical(&self) -> String {
        match (self.negative, self.stripped()) {
            (_, ("", _)) => "0".to_owned(),
            (false, (digits, exponent)) => format!("{digits}e{exponent}"),
            (true, (digits, exponent)) => format!("-{digits}e{exponent}"),
        }
    }

    fn spelled(&self, choices: &mut Choices) -> String {
        let (digits, exponent) = self.stripped();
        if digits.is_empty() {
            return choices
                .pick(&["0", "-0", "0.0", "-0.00", "0e7", "-0E-12", "0.0e+0"])
                .to_owned();
        }
        // Zeros in front and behind, and a decimal point anywhere among the digits.
        let (before, after) = (choices.below(4), choices.below(4));
        let padded = format!("{}{digits}{}", "0".repeat(before), "0".repeat(after));
        let point = choices.below(padded.len() + 1);
        let (whole, fraction) = padded.split_at(point);
        let whole = whole.trim_start_matches('0');
        let mut text = String::from(if self.negative { "-" } else { "" });
        text.push_str(if whole.is_empty() { "0" } else { whole });
        if !fraction.is_empty() {
            write!(text, ".{fraction}").unwrap();
        }
        let shift = i32::try_from(fraction.len()).unwrap() - i32::try_from(after).unwrap();
        text.push_str(&spelled_exponent(exponent + shift, choices));
        text
    }
}

fn spelled_exponent(exponent: i32, choices: &mut Choices) -> String {
    if exponent == 0 && choices.below(2) == 0 {
        return String::new();
    }
    let sign = match exponent.signum() {
        -1 => "-",
        0 => choices.pick(&["", "+", "-"]),
        _ => choices.pick(&["", "+"]),
    };
    let letter = choices.pick(&["e", "E"]);
    let zeros = choices.pick(&["", "0", "000"]);
    format!("{letter}{sign}{zeros}{}", exponent.abs())
}

/// `text` as a JSON string, each character escaped or not as `choices` has it.
fn quoted(text: &str, choices: &mut Choices) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        let short = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '/' => "\\/",
            '\u{8}' => "\\b",
            '\u{C}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            _ => "",
        };
        let may_be_raw = !matches!(character, '"' | '\\' | ..='\u{1F}');
        match choices.below(4) {
            0 if !short.is_empty() => quoted.push_str(short),
            1.. if may_be_raw => quoted.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    match choices.below(2) {
                        0 => write!(quoted, "\\u{unit:04x}").unwrap(),
                        _ => write!(quoted, "\\u{unit:04X}").unwrap(),
                    }
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

/// `items` between brackets, with white space here and there.
fn listed(open: char, items: Vec<String>, close: char, choices: &mut Choices) -> String {
    let mut text = format!("{open}{}", choices.space());
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            write!(text, ",{}", choices.space()).unwrap();
        }
        write!(text, "{item}{}", choices.space()).unwrap();
    }
    text.push(close);
    text
}

/// A stream of choices that a seed determines: the `SplitMix64` generator.
#[derive(Clone, Debug)]
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let end = u64::try_from(end).expect("a length fits");
        usize::try_from((bits ^ (bits >> 31)) % end).expect("less than a length")
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn space(&mut self) -> &'static str {
        self.pick(&["", "", "", " ", "\n", "\t\r\n  "])
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
