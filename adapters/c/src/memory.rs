//! Memory that C points at: read, written and cut into slices, with every pointer looked at first.
//!
//! Nothing here asks for alignment, since C does not promise any of a cast pointer.

use core::ffi::c_char;
use core::fmt::{self, Write};
use core::ptr;
use core::slice;
use core::str;

use crate::status::unstuck_status_t as Status;

/// What any bytes are a value of.
///
/// # Safety
///
/// Whoever implements it says that the type is made of integers and of arrays of them.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for u64 {}

/// What stands at `place`.
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

/// Where one `T` is to be written.
#[derive(Debug)]
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    /// The place that C points at.
    ///
    /// # Safety
    ///
    /// `place` is NULL, or points at a `T` that C may write until the place is dropped.
    pub(crate) unsafe fn new(place: *mut T) -> Result<Self, Status> {
        if place.is_null() { Err(Status::UNSTUCK_NULL) } else { Ok(Self(place)) }
    }

    pub(crate) fn put(self, value: T) {
        // SAFETY: whoever made the place says that it may be written.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// The `length` bytes from `start` on; NULL is a good place for none.
///
/// # Safety
///
/// `start` is NULL, or points at `length` bytes that C may read and nobody writes while they are
/// used.
pub(crate) unsafe fn bytes<'c>(start: *const c_char, length: usize) -> Result<&'c [u8], Status> {
    if length == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    if isize::try_from(length).is_err() {
        return Err(Status::UNSTUCK_VALUE);
    }
    // SAFETY: it is not NULL, so there are so many bytes; no object of C is longer.
    Ok(unsafe { slice::from_raw_parts(start.cast(), length) })
}

/// As [`bytes`], to be written.
///
/// # Safety
///
/// `start` is NULL, or points at `length` bytes that C may write, and that nobody else uses while
/// they are.
pub(crate) unsafe fn room<'c>(start: *mut c_char, length: usize) -> Result<&'c mut [u8], Status> {
    if length == 0 {
        return Ok(&mut []);
    }
    if start.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    if isize::try_from(length).is_err() {
        return Err(Status::UNSTUCK_VALUE);
    }
    // SAFETY: it is not NULL, so there are so many bytes; no object of C is longer.
    Ok(unsafe { slice::from_raw_parts_mut(start.cast(), length) })
}

/// The text that begins at `start`, without the NUL that ends it.
///
/// # Safety
///
/// `start` is NULL, or points at a text of C that ends with a NUL and that nobody writes while it is
/// used.
pub(crate) unsafe fn text<'c>(start: *const c_char) -> Result<&'c str, Status> {
    if start.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    let mut length = 0_usize;
    // SAFETY: no byte before this was NUL, so it is one of the text.
    while unsafe { start.wrapping_add(length).read() } != 0 {
        length = length.wrapping_add(1);
    }
    // SAFETY: so many bytes were read just now.
    let bytes = unsafe { slice::from_raw_parts(start.cast(), length) };
    str::from_utf8(bytes).map_err(|_| Status::UNSTUCK_NOT_UTF8)
}

/// `text` with NULs behind it, one at least: a longer one is not compiled.
pub(crate) const fn text_of<const N: usize>(text: &str) -> [u8; N] {
    assert!(text.len() < N, "the row is longer than its text");
    let mut row = [0; N];
    let (mut left, mut bytes): (&mut [u8], _) = (&mut row, text.as_bytes());
    while let ([place, places @ ..], [byte, rest @ ..]) = (left, bytes) {
        *place = *byte;
        (left, bytes) = (places, rest);
    }
    row
}

/// The text in the row numbered `place`; NULL if there is none.
pub(crate) fn row_of<const N: usize>(rows: &'static [[u8; N]], place: usize) -> *const c_char {
    rows.get(place).map_or(ptr::null(), |row| row.as_ptr().cast())
}

/// Text written as `snprintf` does: as much as fits, always with a NUL, and all of it counted.
#[derive(Debug)]
pub(crate) struct Line<'c> {
    /// What is left of the buffer; empty from where a piece did not fit.
    rest: &'c mut [u8],
    /// The length of all that was to be written, without the NUL.
    length: usize,
}

impl<'c> Line<'c> {
    pub(crate) fn new(buffer: &'c mut [u8]) -> Self {
        let mut line = Self { rest: buffer, length: 0 };
        line.end();
        line
    }

    /// Writes `what`; gives the length of all that was to be written.
    pub(crate) fn write(mut self, what: impl fmt::Display) -> usize {
        // Writing here does not fail.
        let _ = write!(self, "{what}");
        self.length
    }

    /// As [`Line::write`] of a text, without the code that lays numbers out.
    pub(crate) fn copy(mut self, text: &str) -> usize {
        // Writing here does not fail.
        let _ = self.write_str(text);
        self.length
    }

    /// Puts a NUL behind what is written.
    fn end(&mut self) {
        if let Some(next) = self.rest.first_mut() {
            *next = 0;
        }
    }
}

impl Write for Line<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.length = self.length.saturating_add(text.len());
        // One byte is for the NUL.
        let room = self.rest.len().saturating_sub(1);
        let fits = text.len() <= room;
        // Where it does not fit, what does is cut between two characters.
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
    fn a_line_is_cut_between_characters_and_always_ends() {
        let text = "aö€😀z";
        for size in 0..16 {
            let mut buffer = [b'#'; 16];
            let length = Line::new(&mut buffer[..size]).write(format_args!("{}{}", text, "!"));
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
