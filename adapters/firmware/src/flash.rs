//! Simulated flash memory of a microcontroller, with a power supply that can fail.

use core::fmt;

/// The number of bytes that are erased together. The LM3S6965 has pages of 1 KiB.
pub const PAGE: usize = 1024;

/// The number of pages.
pub const PAGES: usize = 8;

/// The number of bytes.
pub const FLASH_SIZE: usize = PAGE * PAGES;

/// The value of an erased byte.
pub const ERASED: u8 = 0xFF;

/// The reason why a change of the flash failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashError {
    /// The power went. Only a part of the change was made.
    PowerLost,
    /// The address is outside the flash. The flash is unchanged.
    Beyond,
}

impl fmt::Display for FlashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PowerLost => f.write_str("the power went before all was written"),
            Self::Beyond => write!(f, "flash has {FLASH_SIZE} bytes, and none at that place"),
        }
    }
}

impl core::error::Error for FlashError {}

/// Flash in memory that outlasts a reset.
///
/// Programming only clears bits. Erasing sets all bits of a page, so a page is erased before it is
/// programmed again.
///
/// ```
/// use unstuck_firmware::{FLASH_SIZE, Flash, FlashError};
///
/// let mut memory = [0; FLASH_SIZE];
/// let mut flash = Flash::over(&mut memory);
/// flash.erase(0)?;
/// flash.program(0, b"\x0F")?;
/// flash.program(0, b"\x3C")?;
/// assert_eq!(flash.bytes()[0], 0x0C);
/// # Ok::<(), FlashError>(())
/// ```
#[derive(Debug)]
pub struct Flash<'m> {
    cells: &'m mut [u8; FLASH_SIZE],
    /// The number of bytes that can still be changed, or `None` if the power is stable.
    charge: Option<usize>,
}

impl<'m> Flash<'m> {
    /// Creates a flash with the contents of `cells`.
    pub const fn over(cells: &'m mut [u8; FLASH_SIZE]) -> Self {
        Self { cells, charge: None }
    }

    /// Cuts the power after `bytes` more bytes are erased or programmed, as if the battery were pulled
    /// during a write.
    pub const fn lose_power_after(&mut self, bytes: usize) {
        self.charge = Some(bytes);
    }

    /// Returns the contents. Flash is read like memory.
    pub const fn bytes(&self) -> &[u8] {
        self.cells
    }

    /// Sets every bit of a page.
    ///
    /// # Errors
    ///
    /// [`FlashError::Beyond`] if there is no such page; [`FlashError::PowerLost`].
    pub fn erase(&mut self, page: usize) -> Result<(), FlashError> {
        let (pages, charge) = (self.cells.chunks_exact_mut(PAGE), &mut self.charge);
        let cells = pages.into_iter().nth(page).ok_or(FlashError::Beyond)?;
        cells.iter_mut().try_for_each(|cell| {
            spend(charge)?;
            *cell = ERASED;
            Ok(())
        })
    }

    /// Clears the bits that are 0 in `bytes`, from the address `place` on.
    ///
    /// # Errors
    ///
    /// [`FlashError::Beyond`] if the bytes end past the flash; [`FlashError::PowerLost`].
    pub fn program(&mut self, place: usize, bytes: &[u8]) -> Result<(), FlashError> {
        let (cells, charge) = (self.cells.get_mut(place..), &mut self.charge);
        let cells = cells.and_then(|cells| cells.get_mut(..bytes.len()));
        let cells = cells.ok_or(FlashError::Beyond)?;
        cells.iter_mut().zip(bytes).try_for_each(|(cell, byte)| {
            spend(charge)?;
            *cell &= byte;
            Ok(())
        })
    }
}

/// Takes the power for one byte from `charge`.
fn spend(charge: &mut Option<usize>) -> Result<(), FlashError> {
    if let Some(left) = charge {
        *left = left.checked_sub(1).ok_or(FlashError::PowerLost)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ERASED, FLASH_SIZE, Flash, FlashError, PAGE, PAGES};

    #[test]
    fn a_page_is_erased_and_its_neighbours_are_not() {
        let mut memory = [0; FLASH_SIZE];
        let mut flash = Flash::over(&mut memory);
        assert_eq!(flash.erase(2), Ok(()));
        for (page, bytes) in flash.bytes().chunks(PAGE).enumerate() {
            let expected = if page == 2 { ERASED } else { 0 };
            assert!(bytes.iter().all(|byte| *byte == expected), "page {page}");
        }
    }

    #[test]
    fn addresses_past_the_end_are_refused() {
        let mut memory = [ERASED; FLASH_SIZE];
        let mut flash = Flash::over(&mut memory);
        assert_eq!(flash.erase(PAGES), Err(FlashError::Beyond));
        assert_eq!(flash.program(FLASH_SIZE - 1, b"ab"), Err(FlashError::Beyond));
        assert_eq!(flash.program(usize::MAX, b"ab"), Err(FlashError::Beyond));
        assert!(flash.bytes().iter().all(|byte| *byte == ERASED));
    }

    #[test]
    fn without_power_nothing_more_changes() {
        let mut memory = [ERASED; FLASH_SIZE];
        let mut flash = Flash::over(&mut memory);
        flash.lose_power_after(2);
        assert_eq!(flash.program(0, b"abc"), Err(FlashError::PowerLost));
        assert_eq!(flash.erase(0), Err(FlashError::PowerLost));
        assert_eq!(flash.bytes()[..3], [b'a', b'b', ERASED]);
    }
}
