//! Arguments and results of a fixed length, each with a number in it that tells it from the others.

/// How many there are of each: more than any window holds, so that each is new when it comes again.
pub(crate) const TEXTS: usize = 100;

/// The length of every call's arguments, in bytes.
const ARGUMENTS_LENGTH: usize = 200;

/// The length of every call's result, in bytes.
const RESULT_LENGTH: usize = 500;

/// The arguments of calls, which is JSON.
pub static ARGUMENTS: [&str; TEXTS] = texts(&ARGUMENTS_BYTES);

/// The results of calls, lines of a program.
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

/// Texts of the opening, as much as there is room for of the filling, over and over, and the
/// closing; the number stands where the opening has `00`.
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

/// The same, checked to be text before the program runs.
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
