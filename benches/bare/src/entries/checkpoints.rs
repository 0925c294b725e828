//! Detectors that are saved, and restored from the bytes, also from damaged ones.

use unstuck_core::{CHECKPOINT_VERSION, CheckpointError, Detector};

use super::events::tell;
use super::input::Input;
use super::words::show;

/// The length of the buffer, enough for a checkpoint of the largest detector.
const ROOM: usize = Detector::<64>::CHECKPOINT_MAX;

/// Saves `detector`, damages the bytes, and continues with the detector that they restore.
pub(crate) fn save_and_restore<const W: usize, const OPEN: usize>(
    detector: &Detector<'_, W, OPEN>,
    input: &mut Input,
) {
    let mut room = [0; ROOM];
    let length = usize::from(input.byte()).saturating_mul(32);
    let room = room.get_mut(..length).unwrap_or_default();
    let written = match detector.save(room) {
        Ok(written) => written,
        Err(error) => return show_error(&error),
    };
    for byte in &mut *written {
        if !input.flag() {
            *byte = input.byte();
        }
    }
    match read(detector, written, input) {
        Ok(mut restored) => tell(&mut restored, input),
        Err(error) => show_error(&error),
    }
}

/// Restores a detector of the same type as `like`, in one of two ways.
fn read<'p, const W: usize, const OPEN: usize>(
    like: &Detector<'p, W, OPEN>,
    bytes: &[u8],
    input: &mut Input,
) -> Result<Detector<'p, W, OPEN>, CheckpointError> {
    let policy = like.policy();
    if input.flag() {
        return Detector::restore(policy, bytes);
    }
    let mut reader = postcard::Deserializer::from_bytes(bytes);
    Detector::deserialize(policy, &mut reader).map_err(|_| CheckpointError::Malformed)
}

fn show_error(error: &CheckpointError) {
    show(format_args!("{CHECKPOINT_VERSION} {error}"));
}
