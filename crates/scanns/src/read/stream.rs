//! Inputs that can be read only once, from their start: standard input.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::Mutex;

use crate::content::fill;
use crate::sys::lock;

/// The bytes of a stream. Its start can be looked at before the build takes the whole.
#[derive(Debug)]
pub struct StreamSource {
    state: Mutex<StreamState>,
}

#[derive(Debug, Default)]
struct StreamState {
    /// Bytes that were read already.
    start: Vec<u8>,
    /// `None` once the stream was taken.
    rest: Option<File>,
}

impl StreamSource {
    /// The bytes of an open file, pipe or socket from its current place on.
    pub fn new(file: File) -> Self {
        StreamSource { state: Mutex::new(StreamState { start: Vec::new(), rest: Some(file) }) }
    }

    /// Standard input.
    ///
    /// # Errors
    /// The process has no standard input.
    pub fn standard_input() -> io::Result<Self> {
        Ok(Self::new(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    /// The first `most` bytes of the stream, waiting for them.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn start(&self, most: usize) -> io::Result<Vec<u8>> {
        let mut state = lock(&self.state);
        let StreamState { start, rest } = &mut *state;
        let have = start.len();
        if let (Some(rest), true) = (rest, have < most) {
            start.resize(most, 0);
            let got = fill(rest, start.get_mut(have..).unwrap_or_default());
            start.truncate(have + *got.as_ref().unwrap_or(&0));
            got?;
        }
        Ok(start.get(..most).unwrap_or(start).to_vec())
    }

    /// The bytes that [`StreamSource::start`] has read, and the rest of the stream; `None` if it was taken
    /// before.
    pub(super) fn take(&self) -> Option<(Vec<u8>, File)> {
        let mut state = lock(&self.state);
        let rest = state.rest.take()?;
        Some((std::mem::take(&mut state.start), rest))
    }
}
