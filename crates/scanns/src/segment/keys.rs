//! What the documents of a segment are called: paths, and lines of them.
//!
//! ```text
//! section = kind u32 (0: a document is a file, 1: a line) | paths u32 | runs u32 | zero u32 |
//!           run … | block offset u64 … | path …
//! run     = first document u32 | path u32 | first line u64          kind 1 only, ascending by document
//! path    = shared varint | length varint | bytes                   front-coded, afresh every 16 paths
//! ```
//!
//! Document `d` of kind 0 is path `d`. In kind 1 documents follow each other as lines do, so a run covers
//! thousands: keys of lines cost next to nothing.

use crate::codec::{ByteReader, put_varint};
use crate::error::Result;
use crate::store::Section;

/// Paths per front-coded block.
const BLOCK: usize = 16;
const HEAD: usize = 16;
const RUN: usize = 16;

/// Documents whose keys are consecutive lines of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRun {
    /// The first of the documents; they reach to the next run.
    pub first_doc: u32,
    /// Index of the path.
    pub path: u32,
    /// The line, counted from 1, that the first document is.
    pub first_line: u64,
}

/// The keys of a segment to be written.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Paths as bytes, in order of first use.
    pub paths: Vec<Vec<u8>>,
    /// Where documents are lines: which lines. `None` if document `d` is the file `paths[d]`.
    pub runs: Option<Vec<KeyRun>>,
}

impl Keys {
    pub(super) fn encode(&self) -> Vec<u8> {
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
        let runs = self.runs.as_deref().unwrap_or_default();
        let mut out = Vec::new();
        out.extend_from_slice(&u32::from(self.runs.is_some()).to_le_bytes());
        out.extend_from_slice(&count(self.paths.len()));
        out.extend_from_slice(&count(runs.len()));
        out.extend_from_slice(&[0; 4]);
        for run in runs {
            out.extend_from_slice(&run.first_doc.to_le_bytes());
            out.extend_from_slice(&run.path.to_le_bytes());
            out.extend_from_slice(&run.first_line.to_le_bytes());
        }
        let mut offsets = Vec::new();
        let mut blocks = Vec::new();
        for block in self.paths.chunks(BLOCK) {
            offsets.extend_from_slice(&(blocks.len() as u64).to_le_bytes());
            let mut before: &[u8] = &[];
            for path in block {
                let shared = before.iter().zip(path).take_while(|(a, b)| a == b).count();
                let rest = path.get(shared..).unwrap_or_default();
                put_varint(&mut blocks, shared as u64);
                put_varint(&mut blocks, rest.len() as u64);
                blocks.extend_from_slice(rest);
                before = path;
            }
        }
        out.extend_from_slice(&offsets);
        out.extend_from_slice(&blocks);
        out
    }
}

/// Reads the key of document `doc` from a section.
pub(super) fn read(section: &Section, doc: u32) -> Result<Vec<u8>> {
    let damaged = || section.corrupt(format!("there is no key for document {doc}"));
    let mut head = ByteReader::new(section.get(0..HEAD)?);
    let (kind, paths, runs) = (head.u32(), head.u32(), head.u32());
    let (Some(kind @ 0..=1), Some(paths), Some(runs)) = (kind, paths, runs) else { return Err(damaged()) };
    if kind == 0 {
        return read_path(section, runs, paths, doc)?.ok_or_else(damaged);
    }
    let run = find_run(section, runs, doc)?.ok_or_else(damaged)?;
    let mut key = read_path(section, runs, paths, run.path)?.ok_or_else(damaged)?;
    let line = run.first_line + u64::from(doc - run.first_doc);
    key.push(b':');
    key.extend_from_slice(line.to_string().as_bytes());
    Ok(key)
}

/// The last run that begins at or before `doc`.
fn find_run(section: &Section, runs: u32, doc: u32) -> Result<Option<KeyRun>> {
    let (mut low, mut high) = (0usize, runs as usize);
    let mut found = None;
    while low < high {
        let middle = low.midpoint(high);
        let at = HEAD + middle * RUN;
        let mut reader = ByteReader::new(section.get(at..at + RUN)?);
        let (Some(first_doc), Some(path), Some(first_line)) = (reader.u32(), reader.u32(), reader.u64())
        else {
            return Ok(None);
        };
        if first_doc <= doc {
            found = Some(KeyRun { first_doc, path, first_line });
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(found.filter(|run| run.first_line < 1 << 62))
}

fn read_path(section: &Section, runs: u32, paths: u32, path: u32) -> Result<Option<Vec<u8>>> {
    if path >= paths {
        return Ok(None);
    }
    let blocks = (paths as usize).div_ceil(BLOCK);
    let block = path as usize / BLOCK;
    let offsets = HEAD + runs as usize * RUN;
    let body = offsets + blocks * 8;
    let at = offsets + block * 8;
    let last = block + 1 == blocks;
    let mut reader = ByteReader::new(section.get(at..at + if last { 8 } else { 16 })?);
    let place =
        |offset: Option<u64>| offset.and_then(|o| usize::try_from(o).ok()).and_then(|o| body.checked_add(o));
    let Some(start) = place(reader.u64()) else { return Ok(None) };
    let end = if last { Some(section.len()) } else { place(reader.u64()) };
    let Some(end) = end.filter(|&end| start <= end) else { return Ok(None) };
    Ok(decode_path(section.get(start..end)?, path as usize % BLOCK))
}

/// The `index`-th path of a block.
fn decode_path(block: &[u8], index: usize) -> Option<Vec<u8>> {
    let mut reader = ByteReader::new(block);
    let mut path = Vec::new();
    for _ in 0..=index {
        let shared = usize::try_from(reader.varint()?).ok().filter(|&shared| shared <= path.len())?;
        let len = usize::try_from(reader.varint()?).ok()?;
        path.truncate(shared);
        path.extend_from_slice(reader.take(len)?);
    }
    Some(path)
}
