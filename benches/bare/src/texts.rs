//! Arguments and results of a fixed length, each with a unique number.

/// The number of texts of each kind. No window holds as many, so a text that returns is new.
pub(crate) const TEXTS: usize = 100;

/// The length of every call's arguments, in bytes.
const ARGUMENTS_LENGTH: usize = 200;

/// The length of every call's result, in bytes.
const RESULT_LENGTH: usize = 500;

/// The arguments of calls, as JSON.
pub static ARGUMENTS: [&str; TEXTS] = texts(&ARGUMENTS_BYTES);

/// The results of calls, which are lines of a program.
pub static RESULTS: [&str; TEXTS] = texts(&RESULTS_BYTES);

static ARGUMENTS_BYTES: [[u8; ARGUMENTS_LENGTH]; TEXTS] = numbered([
    br#"{"path":"src/part/unit_00.rs","offset":120,"limit":1.5e2,"all":false,"pattern":"fn \\w+\\(\"","reason":""#,
    b"to see who else calls this before it is changed ",
    br#""}"#,
]);

static RESULTS_BYTES: [[u8; RESULT_LENGTH]; TEXTS] = numbered([
    b"//! Unit 00.\n\nuse crate::part::{Part, Weight};\n\n",
    b"    let total = parts.iter().map(Part::weight).sum::<u64>();\n",
    b"\n",
]);

/// Returns texts that consist of the opening, repetitions of the filling, and the closing. The number
/// replaces the `00` in the opening.
const fn numbered<const LENGTH: usize>(parts: [&[u8]; 3]) -> [[u8; LENGTH]; TEXTS] {
    let [opening, filling, closing] = parts;
    let mut texts = [[0; LENGTH]; TEXTS];
    let (mut number, mut digits) = (0, *b"00");
    while number < TEXTS {
        let (mut n, mut at) = (0, 0);
        while n < LENGTH {
            texts[number][n] = if n < opening.len() {
                opening[n]
            } else if n < LENGTH - closing.len() {
                filling[(n - opening.len()) % filling.len()]
            } else {
                closing[n + closing.len() - LENGTH]
            };
            if at == 0 && n > 0 && texts[number][n] == b'0' && texts[number][n - 1] == b'0' {
                at = n;
            }
            n += 1;
        }
        [texts[number][at - 1], texts[number][at]] = digits;
        digits = if digits[1] < b'9' { [digits[0], digits[1] + 1] } else { [digits[0] + 1, b'0'] };
        number += 1;
    }
    texts
}

/// Converts the texts to `str` at compile time.
const fn texts<const LENGTH: usize>(
    bytes: &'static [[u8; LENGTH]; TEXTS],
) -> [&'static str; TEXTS] {
    let (mut texts, mut number) = ([""; TEXTS], 0);
    while number < TEXTS {
        let Ok(text) = str::from_utf8(&bytes[number]) else { panic!("a text is not UTF-8") };
        texts[number] = text;
        number += 1;
    }
    texts
}
