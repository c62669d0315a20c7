//! A build of a slice of a listing: the inputs are known, and of some only a part belongs to the slice.
//!
//! The parts of the inputs that belong to other slices count as indexed already, so readers leave them out
//! and still number lines and records as in the whole file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::read::{DoneParts, LineSpan, PieceStart};
use crate::source::{Failure, Inputs, Skipped, Stamp, look_again};

/// Nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// A slice of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BuildSlice {
    /// The inputs, in reading order; no path occurs twice.
    pub(crate) inputs: Vec<SliceInput>,
    /// The plan and the shard that the slice belongs to; both are noted in the index.
    pub(crate) origin: SliceOrigin,
}

/// Where a slice comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SliceOrigin {
    /// The identity of the plan.
    pub(crate) plan: u128,
    /// The number of the shard, from 0.
    pub(crate) shard: u32,
}

/// An input of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceInput {
    pub(crate) path: PathBuf,
    /// Its size and its time of modification when it was listed.
    pub(crate) stamp: Stamp,
    /// The part that belongs to the slice; `None` for the whole file.
    pub(crate) extent: Option<Extent>,
}

/// A part of a file of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Where the first record begins.
    pub(crate) start: u64,
    /// Where the record behind the last one begins, or the end of the file.
    pub(crate) end: u64,
    /// How to read the records from the start on.
    pub(crate) at: PieceStart,
}

/// The inputs of a slice that exist, and which of their parts belong to others.
#[derive(Default)]
pub(crate) struct FoundSlice {
    pub(crate) inputs: Inputs,
    pub(crate) parts: DoneParts,
    /// Whole files that have changed since they were listed.
    pub(crate) changed: Skipped,
}

impl BuildSlice {
    /// Looks at the inputs. A whole file is indexed as it is now. A file of which only a part belongs to the
    /// slice must not have changed, because its records may begin elsewhere now; otherwise it counts as
    /// failed.
    pub(crate) fn find(&self, status: bool, threads: usize, cancel: &AtomicBool) -> Result<FoundSlice> {
        let paths: Vec<PathBuf> = self.inputs.iter().map(|input| input.path.clone()).collect();
        let mut found = FoundSlice::default();
        let looked = look_again(&paths, status, threads, cancel)?;
        for (planned, looked) in self.inputs.iter().zip(looked) {
            match (looked, &planned.extent) {
                (Err(failure), _) => found.inputs.failures.push(failure),
                (Ok(input), Some(_)) if input.stamp() != planned.stamp => {
                    let reason = "it has changed since the plan was made: make a new plan".into();
                    found.inputs.failures.push(Failure { path: input.path, reason });
                }
                (Ok(input), extent) => {
                    if let Some(extent) = extent {
                        let number = u32::try_from(found.inputs.inputs.len()).unwrap_or(u32::MAX);
                        extent.leave_out_rest(number, input.bytes, &mut found.parts);
                    } else if has_changed(planned.stamp, input.stamp()) {
                        found.changed.add(input.key());
                    }
                    found.inputs.bytes += input.bytes;
                    found.inputs.inputs.push(input);
                }
            }
        }
        Ok(found)
    }

    /// The number of inputs that are whole files, or the last parts of files. Over all slices of a plan,
    /// these are the files.
    pub(crate) fn files(&self) -> u64 {
        self.inputs.iter().filter(|input| input.ends_file()).count() as u64
    }
}

/// True if a file was another one when it was listed. Dumps may have times in whole seconds.
fn has_changed(listed: Stamp, now: Stamp) -> bool {
    let is_later = match listed.modified % SECOND {
        0 => now.modified.div_euclid(SECOND) != listed.modified / SECOND,
        _ => now.modified != listed.modified,
    };
    is_later || now.bytes != listed.bytes
}

impl SliceInput {
    /// True if the end of the file belongs to the slice.
    pub(crate) fn ends_file(&self) -> bool {
        self.extent.as_ref().is_none_or(|extent| extent.end >= self.stamp.bytes)
    }

    /// The number of bytes that belong to the slice.
    pub(crate) fn bytes(&self) -> u64 {
        self.extent.as_ref().map_or(self.stamp.bytes, |extent| extent.end.saturating_sub(extent.start))
    }
}

impl Extent {
    /// Notes what others index of an input with this size.
    fn leave_out_rest(&self, number: u32, bytes: u64, parts: &mut DoneParts) {
        let Extent { start, end, at } = self;
        let before = LineSpan { start: 0, end: *start, lines: at.records };
        let behind = LineSpan { start: *end, end: bytes, lines: 0 };
        let spans = [before, behind].into_iter().filter(|span| span.start < span.end).collect();
        let all: &mut BTreeMap<u32, Vec<LineSpan>> = &mut parts.done;
        all.insert(number, spans);
        if *start > 0 {
            parts.starts.insert(number, at.clone());
        }
    }
}
