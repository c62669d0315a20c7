//! Writes the slices of a listing, one input after the other.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cuts::FoundCut;
use super::plan_file::{PlannedShard, SlicePlace, WrittenSlices, shard_name};
use super::slice_codec::SliceEncoder;
use crate::error::{Error, Result};
use crate::index::build::slice::{Extent, SliceInput};
use crate::read::PieceStart;
use crate::source::{ListedFile, SortedInputs, Stamp};
use crate::store::temporary_file;

/// Where a slice begins: at an input, or at a cut in it.
#[derive(Clone, Debug)]
pub(super) struct SliceBound {
    pub(super) input: u64,
    pub(super) cut: Option<FoundCut>,
}

impl SliceBound {
    /// True if `next` is the first cut of another file.
    pub(super) fn begins_anew(&self, next: &SliceBound) -> bool {
        next.cut.is_some() && (self.input != next.input || self.cut.is_none())
    }

    /// The number of the input behind the slice that ends here; a part of a file counts as an input of both.
    fn end(&self) -> u64 {
        self.input + u64::from(self.cut.is_some())
    }
}

/// The bounds of all slices, from the first to the end of the last.
pub(super) struct SliceBounds {
    /// One more than there are slices.
    pub(super) bounds: Vec<SliceBound>,
    /// The sizes and times of the files that are cut, by the numbers of the inputs.
    pub(super) cut: BTreeMap<u64, Stamp>,
}

impl SliceBounds {
    /// The number of files of which several slices have parts.
    pub(super) fn cut_files(&self) -> u64 {
        let pairs = self.bounds.windows(2);
        pairs.filter(|pair| matches!(pair, [one, other] if one.begins_anew(other))).count() as u64
    }

    /// Writes the slices into a temporary file in `directory`.
    ///
    /// # Errors
    /// A temporary file cannot be written; [`Error::Cancelled`] if `cancel` was set.
    pub(super) fn write(
        &self,
        inputs: &SortedInputs,
        directory: &Path,
        cancel: &AtomicBool,
    ) -> Result<WrittenSlices> {
        let failed = |error| Error::io("write a temporary file in", directory, error);
        let mut writer = SliceWriter::new(&self.bounds, temporary_file(directory)?);
        let (mut cursor, mut number) = (inputs.read()?, 0);
        while let Some(file) = cursor.next_file()? {
            if number % 4096 == 0 && cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let stamp = self.cut.get(&number).copied().unwrap_or(file.stamp);
            writer.take(number, ListedFile { stamp, ..file }).map_err(failed)?;
            number += 1;
        }
        writer.finish().map_err(failed)
    }
}

/// Writes slices.
struct SliceWriter<'w> {
    bounds: &'w [SliceBound],
    out: BufWriter<File>,
    /// The slices before the current one.
    shards: Vec<PlannedShard>,
    /// The current slice so far.
    current: PlannedShard,
    encoder: SliceEncoder,
    bytes: Vec<u8>,
}

impl<'w> SliceWriter<'w> {
    fn new(bounds: &'w [SliceBound], file: File) -> Self {
        SliceWriter {
            bounds,
            out: BufWriter::with_capacity(1 << 20, file),
            shards: Vec::new(),
            current: shard_from(0, 0),
            encoder: SliceEncoder::default(),
            bytes: Vec::new(),
        }
    }

    /// Writes an input into all slices that it belongs to.
    fn take(&mut self, number: u64, file: ListedFile<'_>) -> std::io::Result<()> {
        while let Some([from, to]) = self.bounds.get(self.shards.len()..self.shards.len() + 2) {
            if number >= to.end() {
                self.end_slice();
                continue;
            }
            if let Some(input) = part(number, file, from, to) {
                self.bytes.clear();
                self.encoder.put(&input, &mut self.bytes);
                self.out.write_all(&self.bytes)?;
                self.current.place.length += self.bytes.len() as u64;
                self.current.inputs += 1;
                self.current.files += u64::from(input.ends_file());
                self.current.bytes += input.bytes();
            }
            if number + 1 < to.end() || to.cut.is_none() {
                return Ok(());
            }
            self.end_slice();
        }
        Ok(())
    }

    fn end_slice(&mut self) {
        let SlicePlace { offset, length } = self.current.place;
        let number = u32::try_from(self.shards.len() + 1).unwrap_or(u32::MAX);
        self.shards.push(std::mem::replace(&mut self.current, shard_from(number, offset + length)));
        self.encoder = SliceEncoder::default();
    }

    fn finish(mut self) -> std::io::Result<WrittenSlices> {
        while self.shards.len() + 1 < self.bounds.len() {
            self.end_slice();
        }
        let file = self.out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        Ok(WrittenSlices { shards: self.shards, file })
    }
}

/// A shard without inputs, whose slice begins at an offset.
fn shard_from(number: u32, offset: u64) -> PlannedShard {
    let place = SlicePlace { offset, length: 0 };
    PlannedShard { number, name: shard_name(number), inputs: 0, files: 0, bytes: 0, place }
}

/// The part of an input that belongs to the slice between two bounds; `None` if it has no bytes.
fn part(number: u64, file: ListedFile<'_>, from: &SliceBound, to: &SliceBound) -> Option<SliceInput> {
    let cut = from.cut.as_ref().filter(|_| number == from.input);
    let start = cut.map_or(0, |cut| cut.at);
    let end = to.cut.as_ref().filter(|_| number == to.input).map_or(file.stamp.bytes, |cut| cut.at);
    let whole = start == 0 && end == file.stamp.bytes;
    let none = || PieceStart { head: [].into(), records: 0, lines: 0, credit: 0 };
    let extent = (!whole).then(|| Extent { start, end, at: cut.map_or_else(none, |cut| cut.start.clone()) });
    let is_empty = extent.as_ref().is_some_and(|extent| extent.start >= extent.end);
    (!is_empty).then(|| SliceInput { path: file.path.to_path_buf(), stamp: file.stamp, extent })
}
