//! Writes the sections of keys from front to back.

use super::format::{BLOCK, HEAD, KeyKind, KeyRun, Keys, PathsInColumn, RUN, hash, width_of};
use super::stamps::write_stamps;
use crate::codec::put_varint;
use crate::error::Result;
use crate::schema::Field;
use crate::segment::layout::{HASHES, KEYS, ORDER, PATHS, PLACES};
use crate::store::EnvelopeWriter;

/// Bytes of places per write.
const WRITE: usize = 64 << 10;

/// Writes all sections.
pub(in crate::segment) fn write(keys: &Keys, out: &mut EnvelopeWriter) -> Result<()> {
    let mut hashes = Vec::with_capacity(keys.paths.len());
    match &keys.column {
        Some(PathsInColumn { hashes: known, .. }) => hashes.extend(known.iter().map(|hash| hash.0).zip(0..)),
        None => {
            let mut paths = PathWriter::begin(out)?;
            for (path, number) in keys.paths.iter().zip(0..) {
                hashes.push((hash(path), number));
                paths.push(path, out)?;
            }
            paths.finish(out)?;
        }
    }
    write_stamps(&|visit| keys.stamps.iter().try_for_each(|&stamp| visit(stamp)), out)?;
    let count = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
    write_sorted_hashes(hashes, out)?;
    match &keys.column {
        Some(column) => write_column(column.field, count, out),
        None => {
            begin_runs(if keys.runs.is_some() { KeyKind::Runs } else { KeyKind::Files }, count, out)?;
            keys.runs.iter().flatten().try_for_each(|run| write_run(run, out))
        }
    }
}

/// Encodes each path as the length of the prefix shared with the previous path, and the rest.
#[derive(Default)]
pub(super) struct FrontCoder {
    count: u32,
    before: Vec<u8>,
    path: Vec<u8>,
}

impl FrontCoder {
    /// Returns true if the next path begins a block.
    fn begins_block(&self) -> bool {
        (self.count as usize).is_multiple_of(BLOCK)
    }

    /// The bytes of the next path.
    pub(super) fn code(&mut self, path: &[u8]) -> &[u8] {
        if self.begins_block() {
            self.before.clear();
        }
        let shared = self.before.iter().zip(path).take_while(|(a, b)| a == b).count();
        let rest = path.get(shared..).unwrap_or_default();
        self.path.clear();
        put_varint(&mut self.path, shared as u64);
        put_varint(&mut self.path, rest.len() as u64);
        self.path.extend_from_slice(rest);
        self.before.truncate(shared);
        self.before.extend_from_slice(rest);
        self.count += 1;
        &self.path
    }
}

/// Writes paths in sequence, and keeps eight bytes in memory for every 32 of them.
pub(super) struct PathWriter {
    coder: FrontCoder,
    places: Vec<u8>,
}

impl PathWriter {
    pub(super) fn begin(out: &mut EnvelopeWriter) -> Result<Self> {
        out.begin(PATHS)?;
        Ok(PathWriter { coder: FrontCoder::default(), places: Vec::new() })
    }

    /// Writes the next path.
    pub(super) fn push(&mut self, path: &[u8], out: &mut EnvelopeWriter) -> Result<()> {
        if self.coder.begins_block() {
            self.places.extend_from_slice(&out.section_len().to_le_bytes());
        }
        out.write(self.coder.code(path))
    }

    /// Writes the offsets of the blocks.
    pub(super) fn finish(self, out: &mut EnvelopeWriter) -> Result<()> {
        out.begin(PLACES)?;
        out.write(&self.places)
    }
}

/// Writes the hashes of all paths, given in any order.
pub(super) fn write_sorted_hashes(mut hashes: Vec<(u32, u32)>, out: &mut EnvelopeWriter) -> Result<()> {
    hashes.sort_unstable();
    let mut writer = HashWriter::begin(hashes.len(), out)?;
    hashes.into_iter().try_for_each(|(hash, path)| writer.push(hash, path, out))
}

/// Writes the hashes of paths in ascending order.
pub(super) struct HashWriter {
    /// Bytes of the number of a path.
    width: usize,
}

impl HashWriter {
    /// Begins the section of the hashes of `paths` paths.
    pub(super) fn begin(paths: usize, out: &mut EnvelopeWriter) -> Result<Self> {
        out.begin(HASHES)?;
        Ok(HashWriter { width: width_of(paths) })
    }

    pub(super) fn push(&mut self, hash: u32, path: u32, out: &mut EnvelopeWriter) -> Result<()> {
        out.write(&hash.to_le_bytes())?;
        let path = path.to_le_bytes();
        out.write(path.get(..self.width).unwrap_or(&path))
    }
}

/// Writes the places of documents in sequence.
pub(super) struct PlaceWriter {
    width: usize,
    bytes: Vec<u8>,
}

impl PlaceWriter {
    /// Begins the section of the places of `documents` documents.
    pub(super) fn begin(documents: usize, out: &mut EnvelopeWriter) -> Result<Self> {
        out.begin(ORDER)?;
        Ok(PlaceWriter { width: width_of(documents), bytes: Vec::with_capacity(WRITE) })
    }

    pub(super) fn push(&mut self, place: u32, out: &mut EnvelopeWriter) -> Result<()> {
        self.bytes.extend(place.to_le_bytes().into_iter().take(self.width));
        if self.bytes.len() < WRITE {
            return Ok(());
        }
        out.write(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    pub(super) fn finish(self, out: &mut EnvelopeWriter) -> Result<()> {
        out.write(&self.bytes)
    }
}

/// Begins the section of runs.
pub(super) fn begin_runs(kind: KeyKind, paths: u32, out: &mut EnvelopeWriter) -> Result<()> {
    write_head(kind, paths, 0, out)
}

/// Writes the section of runs for documents whose paths are in the column of `field`.
pub(super) fn write_column(field: Field, paths: u32, out: &mut EnvelopeWriter) -> Result<()> {
    write_head(KeyKind::Column, paths, field.number(), out)
}

fn write_head(kind: KeyKind, paths: u32, field: u16, out: &mut EnvelopeWriter) -> Result<()> {
    out.begin(KEYS)?;
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&(kind as u32).to_le_bytes());
    head[4..8].copy_from_slice(&paths.to_le_bytes());
    head[8..].copy_from_slice(&u64::from(field).to_le_bytes());
    out.write(&head)
}

/// Writes the next run.
pub(super) fn write_run(run: &KeyRun, out: &mut EnvelopeWriter) -> Result<()> {
    let mut bytes = [0; RUN];
    bytes[..4].copy_from_slice(&run.first_doc.to_le_bytes());
    bytes[4..8].copy_from_slice(&run.path.to_le_bytes());
    bytes[8..].copy_from_slice(&run.first_line.to_le_bytes());
    out.write(&bytes)
}
