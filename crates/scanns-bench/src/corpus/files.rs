//! Writes the files of a generated text.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Files of up to 32 MiB each. No piece is split.
pub(super) struct Files {
    out: PathBuf,
    left: u64,
    room: u64,
    part: u32,
    file: Option<BufWriter<File>>,
}

impl Files {
    const EACH: u64 = 32 << 20;

    /// Starts without a file, for `bytes` in all.
    pub(super) fn new(out: &Path, bytes: u64) -> Self {
        Files { out: out.into(), left: bytes, room: 0, part: 0, file: None }
    }

    /// Appends a piece. Returns false without writing it if the bytes are used up.
    pub(super) fn write(&mut self, piece: &[u8]) -> Result<bool> {
        let len = piece.len() as u64;
        if len > self.left {
            return Ok(false);
        }
        if len > self.room || self.file.is_none() {
            self.finish()?;
            let path = self.out.join(format!("part-{:05}.txt", self.part));
            self.file = Some(BufWriter::with_capacity(1 << 20, File::create(path)?));
            (self.part, self.room) = (self.part + 1, Self::EACH);
        }
        if let Some(file) = &mut self.file {
            file.write_all(piece)?;
        }
        self.left -= len;
        self.room = self.room.saturating_sub(len);
        Ok(true)
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        Ok(self.file.take().map_or(Ok(()), |mut file| file.flush())?)
    }
}
