//! Checked access to memory that C points at.
//!
//! No function here needs alignment, because C does not guarantee any for a cast pointer.

use core::ffi::c_char;
use core::fmt::{self, Write};
use core::ptr;
use core::slice;
use core::str;

use crate::status::unstuck_status_t as Status;

/// A type for which any bytes are a valid value.
///
/// # Safety
///
/// The type consists of integers and of arrays of integers.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for u64 {}

/// Returns the value at `place`.
///
/// # Safety
///
/// `place` is NULL, or points at a `T` that C may read.
pub(crate) unsafe fn read<T: Plain>(place: *const T) -> Result<T, Status> {
    if place.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    // SAFETY: it may be read, and any bytes are a `T`.
    Ok(unsafe { place.read_unaligned() })
}

/// The address of one `T` that is written later.
#[derive(Debug)]
pub(crate) struct Output<T>(*mut T);

impl<T> Output<T> {
    /// Creates an output at the address that C gives.
    ///
    /// # Safety
    ///
    /// `place` is NULL, or points at a `T` that C may write until the output is dropped.
    pub(crate) unsafe fn new(place: *mut T) -> Result<Self, Status> {
        if place.is_null() { Err(Status::UNSTUCK_NULL) } else { Ok(Self(place)) }
    }

    pub(crate) fn put(self, value: T) {
        // SAFETY: the caller of `new` guarantees that it may be written.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// Returns the `length` bytes from `start` on. `start` may be NULL if `length` is 0.
///
/// # Safety
///
/// `start` is NULL, or points at `length` bytes that C may read and that do not change while
/// they are used.
pub(crate) unsafe fn bytes<'c>(start: *const c_char, length: usize) -> Result<&'c [u8], Status> {
    if is_empty(start, length)? {
        return Ok(&[]);
    }
    // SAFETY: `start` is not NULL, so there are `length` bytes. No object of C is longer.
    Ok(unsafe { slice::from_raw_parts(start.cast(), length) })
}

/// Like [`bytes`], for writing.
///
/// # Safety
///
/// `start` is NULL, or points at `length` bytes that C may write, and that no other code uses
/// for as long.
pub(crate) unsafe fn room<'c>(start: *mut c_char, length: usize) -> Result<&'c mut [u8], Status> {
    if is_empty(start, length)? {
        return Ok(&mut []);
    }
    // SAFETY: `start` is not NULL, so there are `length` bytes. No object of C is longer.
    Ok(unsafe { slice::from_raw_parts_mut(start.cast(), length) })
}

/// Returns whether there are no bytes. Only then may `start` be NULL.
fn is_empty(start: *const c_char, length: usize) -> Result<bool, Status> {
    if length > 0 && start.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    isize::try_from(length).map(|length| length == 0).map_err(|_| Status::UNSTUCK_VALUE)
}

/// Returns the text from `start` to its NUL, without the NUL.
///
/// # Safety
///
/// `start` is NULL, or points at a text of C that ends with a NUL and does not change while it
/// is used.
pub(crate) unsafe fn text<'c>(start: *const c_char) -> Result<&'c str, Status> {
    if start.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    let mut length = 0_usize;
    // SAFETY: no byte before this one is NUL, so it belongs to the text.
    while unsafe { start.wrapping_add(length).read() } != 0 {
        length = length.wrapping_add(1);
    }
    // SAFETY: `length` bytes were read just now.
    let bytes = unsafe { slice::from_raw_parts(start.cast(), length) };
    str::from_utf8(bytes).map_err(|_| Status::UNSTUCK_NOT_UTF8)
}

/// Returns `text` padded with NULs, at least one. A text that is too long does not compile.
pub(crate) const fn padded<const N: usize>(text: &str) -> [u8; N] {
    assert!(text.len() < N, "the text and its NUL fit");
    let mut padded = [0; N];
    let (mut left, mut bytes): (&mut [u8], _) = (&mut padded, text.as_bytes());
    while let ([place, places @ ..], [byte, rest @ ..]) = (left, bytes) {
        *place = *byte;
        (left, bytes) = (places, rest);
    }
    padded
}

/// Returns the text at `place`, or NULL if there is none.
pub(crate) fn text_at<const N: usize>(texts: &'static [[u8; N]], place: usize) -> *const c_char {
    texts.get(place).map_or(ptr::null(), |text| text.as_ptr().cast())
}

/// A buffer for text with the rules of `snprintf`: it keeps as much as fits, always ends with a NUL, and
/// counts the whole length.
#[derive(Debug)]
pub(crate) struct TextBuffer<'c> {
    /// The rest of the buffer. It is empty after a piece that did not fit.
    rest: &'c mut [u8],
    /// The length of the whole text without the NUL.
    length: usize,
}

impl<'c> TextBuffer<'c> {
    pub(crate) fn new(buffer: &'c mut [u8]) -> Self {
        let mut output = Self { rest: buffer, length: 0 };
        output.end();
        output
    }

    /// Writes `value`. Returns the length of the whole text.
    pub(crate) fn write(mut self, value: impl fmt::Display) -> usize {
        // Writing here does not fail.
        let _ = write!(self, "{value}");
        self.length
    }

    /// Like [`TextBuffer::write`] for a text, without linking the formatter.
    pub(crate) fn copy(mut self, text: &str) -> usize {
        // Writing here does not fail.
        let _ = self.write_str(text);
        self.length
    }

    /// Puts a NUL behind the text so far.
    fn end(&mut self) {
        if let Some(next) = self.rest.first_mut() {
            *next = 0;
        }
    }
}

impl Write for TextBuffer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.length = self.length.saturating_add(text.len());
        // One byte stays free for the NUL.
        let room = self.rest.len().saturating_sub(1);
        let fits = text.len() <= room;
        // A text that does not fit is cut between two characters.
        let end = (0..=room.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
        let written = end.and_then(|end| text.get(..end)).unwrap_or_default();
        for (place, byte) in self.rest.iter_mut().zip(written.bytes()) {
            *place = byte;
        }
        let rest = core::mem::take(&mut self.rest);
        self.rest = rest.get_mut(written.len()..).unwrap_or_default();
        self.end();
        if !fits {
            self.rest = &mut [];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_always_ends() {
        let text = "aö€😀z";
        for size in 0..16 {
            let mut buffer = [b'#'; 16];
            let length =
                TextBuffer::new(&mut buffer[..size]).write(format_args!("{}{}", text, "!"));
            assert_eq!(length, text.len() + 1);
            let Some(end) = buffer.iter().position(|byte| *byte == 0) else {
                assert_eq!(size, 0);
                continue;
            };
            let written = str::from_utf8(&buffer[..end]).expect("whole characters");
            assert!("aö€😀z!".starts_with(written) && end < size, "{size}: {written}");
            assert!(size - end <= 4 || written.len() == length, "{size}: {written}");
            assert!(buffer[size..].iter().all(|byte| *byte == b'#'));
        }
    }
}
