//! Two slots of flash. One of them always holds the record that was saved last.

use core::fmt;

use unstuck_core::Digest;

use crate::flash::{FLASH_SIZE, Flash, FlashError, PAGE};

/// The size of a slot in bytes.
const SLOT: usize = FLASH_SIZE / 2;

/// The size of a slot's head: a number, a length, and a checksum of both and the record.
const HEAD: usize = size_of::<u32>() + size_of::<u32>() + size_of::<u64>();

/// The longest record, in bytes.
pub const RECORD_MAX: usize = SLOT - HEAD;

/// A place for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The first half of the flash.
    A,
    /// The second half.
    B,
}

impl Slot {
    /// Returns the name of the slot.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Returns the slot's first address.
    const fn place(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => SLOT,
        }
    }
}

/// A complete record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'f> {
    /// The number of the save, counted from 1.
    pub number: u32,
    /// The slot that holds it.
    pub slot: Slot,
    /// The saved bytes.
    pub bytes: &'f [u8],
}

/// The reason why a record was not saved. The earlier record is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The record has this many bytes and does not fit into a slot.
    TooLong(usize),
    /// The flash failed.
    Flash(FlashError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(length) => {
                write!(f, "the record has {length} bytes; a slot has room for {RECORD_MAX}")
            }
            Self::Flash(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for StoreError {}

impl From<FlashError> for StoreError {
    fn from(error: FlashError) -> Self {
        Self::Flash(error)
    }
}

/// Records in flash. The newest record survives a loss of power at any moment.
///
/// A new record replaces the older one of the two, and its head is written last. So one of the two is
/// complete whenever the power goes: the new record or the one before it.
///
/// ```
/// use unstuck_firmware::{FLASH_SIZE, Flash, PAGE, Store, StoreError};
///
/// let mut memory = [0; FLASH_SIZE];
/// let mut store = Store::over(Flash::over(&mut memory));
/// store.save(b"at the dock")?;
/// store.flash().lose_power_after(PAGE + 5);
/// assert!(store.save(b"in the hall").is_err());
///
/// let store = Store::over(Flash::over(&mut memory));
/// let found = store.newest().next().expect("one of the two is whole");
/// assert_eq!(found.bytes, b"at the dock");
/// # Ok::<(), StoreError>(())
/// ```
#[derive(Debug)]
pub struct Store<'m> {
    flash: Flash<'m>,
}

impl<'m> Store<'m> {
    /// Creates a store of the records in `flash`. The flash may hold any bytes.
    pub const fn over(flash: Flash<'m>) -> Self {
        Self { flash }
    }

    /// Returns the flash.
    pub const fn flash(&mut self) -> &mut Flash<'m> {
        &mut self.flash
    }

    /// Returns the complete records, the newest first. There are at most two, and none at the first start.
    pub fn newest(&self) -> impl Iterator<Item = Record<'_>> {
        let (a, b) = (self.record(Slot::A), self.record(Slot::B));
        let number = |record: Option<Record<'_>>| record.map(|record| record.number);
        let newer = if number(a) >= number(b) { [a, b] } else { [b, a] };
        newer.into_iter().flatten()
    }

    /// Saves `bytes` in the place of the older record. Returns the number of the save and its slot.
    ///
    /// # Errors
    ///
    /// [`StoreError::TooLong`] for more than [`RECORD_MAX`] bytes, and the error of the flash. The newest
    /// record so far is then still there.
    pub fn save(&mut self, bytes: &[u8]) -> Result<(u32, Slot), StoreError> {
        if bytes.len() > RECORD_MAX {
            return Err(StoreError::TooLong(bytes.len()));
        }
        let newest = self.newest().next().map(|record| (record.number, record.slot));
        let (number, slot) = newest.map_or((1, Slot::A), |(number, slot)| {
            // A page wears out long before the number wraps: after about 100,000 of 4 billion saves.
            (number.wrapping_add(1), slot.other())
        });
        let first = slot.place() / PAGE;
        for page in 0..(HEAD + bytes.len()).div_ceil(PAGE) {
            self.flash.erase(first + page)?;
        }
        self.flash.program(slot.place() + HEAD, bytes)?;
        self.flash.program(slot.place(), &head(number, bytes))?;
        Ok((number, slot))
    }

    /// Returns the record in `slot`, if it is complete.
    fn record(&self, slot: Slot) -> Option<Record<'_>> {
        let cells = self.flash.bytes().get(slot.place()..)?.get(..SLOT)?;
        let (found, rest) = cells.split_first_chunk::<HEAD>()?;
        let (number, length) = found.split_first_chunk()?;
        let number = u32::from_le_bytes(*number);
        let length = u32::from_le_bytes(*length.first_chunk()?);
        let bytes = rest.get(..usize::try_from(length).ok()?)?;
        (head(number, bytes) == *found).then_some(Record { number, slot, bytes })
    }
}

/// Returns the head of a record.
fn head(number: u32, bytes: &[u8]) -> [u8; HEAD] {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let counts = (u64::from(number) << 32) | u64::from(length);
    let sum = Digest::of(bytes).mix(Digest::new(counts)).bits().to_le_bytes();
    let parts = [number.to_le_bytes(), length.to_le_bytes()];
    let mut head = [0; HEAD];
    let written = parts.as_flattened().iter().chain(&sum);
    head.iter_mut().zip(written).for_each(|(place, byte)| *place = *byte);
    head
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;
    use std::vec::Vec;

    use proptest::collection::vec as list;
    use proptest::prelude::*;

    use super::{RECORD_MAX, Store, StoreError};
    use crate::flash::{FLASH_SIZE, Flash, FlashError};

    /// Returns the newest record in `memory`.
    fn newest(memory: &mut [u8; FLASH_SIZE]) -> Option<Vec<u8>> {
        let store = Store::over(Flash::over(memory));
        store.newest().next().map(|record| record.bytes.to_vec())
    }

    /// Saves `bytes` in `memory`, with power for `power` bytes.
    fn save(memory: &mut [u8; FLASH_SIZE], bytes: &[u8], power: usize) -> Result<(), StoreError> {
        let mut store = Store::over(Flash::over(memory));
        store.flash().lose_power_after(power);
        store.save(bytes).map(|_| ())
    }

    #[test]
    fn the_old_or_the_new_record_survives_a_power_cut_at_any_byte() {
        let (old, new) = ([0xA5; 1500], [0xFF; 1100]);
        let mut before = [0; FLASH_SIZE];
        for record in [&[1; 30], old.as_slice()] {
            assert_eq!(save(&mut before, record, usize::MAX), Ok(()));
        }
        // Two pages are erased, and the record with its head is programmed.
        let enough = 2 * 1024 + 16 + new.len();
        for power in 0..=enough {
            let mut memory = before;
            let saved = save(&mut memory, &new, power);
            // Erasing may already have produced the last byte of the head.
            let found = newest(&mut memory).expect("one of the two");
            match saved {
                Ok(()) => assert_eq!((power, found.as_slice()), (enough, new.as_slice())),
                Err(error) => {
                    assert_eq!(error, StoreError::Flash(FlashError::PowerLost));
                    assert!(found == old || found == new, "after {power} bytes");
                }
            }
            assert_eq!(save(&mut memory, b"more", usize::MAX), Ok(()));
            assert_eq!(newest(&mut memory).as_deref(), Some(b"more".as_slice()));
        }
    }

    proptest! {
        #[test]
        fn one_of_the_last_two_records_survives_any_power_cuts(
            saves in list((list(any::<u8>(), 0..1200), 0_usize..4000), 1..8),
        ) {
            let mut memory = Box::new([0; FLASH_SIZE]);
            let mut sure: Option<Vec<u8>> = None;
            for (bytes, power) in saves {
                let saved = save(&mut memory, &bytes, power);
                let found = newest(&mut memory);
                if saved.is_ok() {
                    prop_assert_eq!(found.as_deref(), Some(bytes.as_slice()));
                } else {
                    prop_assert!(found == sure || found.as_deref() == Some(&bytes));
                }
                sure = found;
            }
        }

        #[test]
        fn flash_without_a_save_holds_no_record(noise in list(any::<u8>(), 64), fill: u8) {
            let mut memory = Box::new([fill; FLASH_SIZE]);
            for slot in memory.chunks_mut(FLASH_SIZE / 2) {
                slot.iter_mut().zip(&noise).for_each(|(cell, byte)| *cell = *byte);
            }
            prop_assert_eq!(newest(&mut memory), None);
        }
    }

    #[test]
    fn a_record_that_is_too_long_is_refused_and_changes_nothing() {
        let mut memory = [0; FLASH_SIZE];
        assert_eq!(save(&mut memory, &[7; RECORD_MAX], usize::MAX), Ok(()));
        let long = [8; RECORD_MAX + 1];
        let refused = Err(StoreError::TooLong(RECORD_MAX + 1));
        assert_eq!(save(&mut memory, &long, usize::MAX), refused);
        assert_eq!(newest(&mut memory), Some([7; RECORD_MAX].to_vec()));
    }
}
