//! Lists of texts, of which several stand on a line.

/// Creates an array of texts.
macro_rules! texts {
    [$($text:literal)+] => { [$($text),+] };
}
pub(crate) use texts;
