//! Unpacks frames of zstd, one after the other.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window of a frame, which is kept in memory. `zstd --ultra -22` uses this size, and `zstd` accepts
/// no larger one by default.
const WINDOW_BYTES_MAX: u64 = 128 << 20;

/// The end of a frame: a last block without content, and a checksum.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// The unpacked bytes of frames.
pub(super) struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    state: State,
    /// `true` if only one frame is read.
    is_single: bool,
}

enum State {
    /// Behind a frame, or before the first.
    Between,
    Within,
    /// Behind the frame that has this error, whose bytes are not all delivered.
    Failed(Error),
    Ended,
}

impl<R: BufRead> Frames<R> {
    /// Unpacks all frames of an input.
    pub(super) fn new(input: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES_MAX);
        Self { input, decoder, state: State::Between, is_single: false }
    }

    /// Unpacks one frame, and leaves what is behind it.
    pub(super) fn single(input: R) -> Self {
        Self { is_single: true, ..Self::new(input) }
    }

    /// Begins the next frame.
    fn begin(&mut self) -> Result<State> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(State::Ended);
        }
        match self.decoder.reset(&mut self.input) {
            Ok(()) => Ok(State::Within),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => self.skip(u64::from(length)),
            Err(error) => Err(self.explain(error)),
        }
    }

    fn skip(&mut self, length: u64) -> Result<State> {
        let skipped = std::io::copy(&mut (&mut self.input).take(length), &mut std::io::sink())?;
        if skipped == length { Ok(State::Between) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    /// Unpacks another block of the frame.
    fn go_on(&mut self) -> Result<State> {
        if !self.decoder.is_finished() {
            let one = BlockDecodingStrategy::UptoBlocks(1);
            let done = self.decoder.decode_blocks(&mut self.input, one);
            return match done {
                Ok(_) => Ok(State::Within),
                Err(error) => {
                    let error = self.explain(error);
                    // The decoder keeps its window up to the end of a frame. So the frame gets an end.
                    let _ = self.decoder.decode_blocks(&END[..], BlockDecodingStrategy::All);
                    Ok(State::Failed(error))
                }
            };
        }
        let expected = self.decoder.get_checksum_from_data();
        if expected.is_some() && expected != self.decoder.get_calculated_checksum() {
            return Err(Error::other("the checksum does not match the content"));
        }
        Ok(if self.is_single { State::Ended } else { State::Between })
    }

    /// Returns the error of the decoder, which does not say if its input has ended or failed.
    fn explain(&mut self, error: FrameDecoderError) -> Error {
        match self.input.fill_buf() {
            Ok([]) => ErrorKind::UnexpectedEof.into(),
            Ok(_) => Error::other(error),
            Err(error) => error,
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            let count = self.decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.state = match core::mem::replace(&mut self.state, State::Ended) {
                State::Between => self.begin()?,
                State::Within => self.go_on()?,
                State::Failed(error) => return Err(error),
                State::Ended => return Ok(0),
            };
        }
    }
}
