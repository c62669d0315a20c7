//! What the index of a shard notes about itself: its plan, its number, and which inputs failed.
//!
//! ```text
//! note "scanns.shard" = JSON { "plan": 32 hexadecimal digits, "shard": number,
//!                              "build": 16 hexadecimal digits, "inputs": number, "failed": number,
//!                              "failures": [{ "path": path, "reason": text }, …],
//!                              "changed": number, "first_changed": path or null }
//! path                = see `path_json.rs`
//! ```
//!
//! The note is in the last commit of the build, so an index without it is not a finished shard.

use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use serde_json::{Value, json};

use super::report::IndexReport;
use super::slice::{BuildSlice, SliceOrigin};
use crate::error::{Error, Result};
use crate::index::commit::manifest::Manifest;
use crate::index::commit::shard_list::{NOTE, read_build};
use crate::index::commit::writer::Writer;
use crate::index::coverage::some_of;
use crate::index::path_json::{put_path, read_path};
use crate::source::{Failure, Skipped};

/// The note of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardNote {
    pub(crate) origin: SliceOrigin,
    /// A random number that tells this build of the shard from others.
    pub(crate) build: u64,
    /// The number of inputs, parts of files included.
    pub(crate) inputs: u64,
    /// The number of failures.
    pub(crate) failed: u64,
    /// The first 10,000 of them.
    pub(crate) failures: Vec<Failure>,
    /// Files that had changed since they were listed. Notes of earlier versions do not have them.
    pub(crate) changed: Skipped,
}

impl ShardNote {
    /// The note of a build that has ended.
    pub(super) fn of(slice: &BuildSlice, report: &IndexReport) -> Self {
        let (failures, failed) = some_of(report.failed.iter());
        let build = RandomState::new().hash_one(Instant::now());
        let (inputs, changed) = (slice.inputs.len() as u64, report.changed.clone());
        ShardNote { origin: slice.origin, build, inputs, failed, failures, changed }
    }

    /// Adds the note to the next commit.
    pub(super) fn note(&self, writer: &Writer<'_>) {
        writer.describe(|manifest| {
            let mut manifest = manifest?;
            manifest.notes.insert(NOTE.to_vec(), self.encode());
            Some(manifest)
        });
    }

    fn encode(&self) -> Vec<u8> {
        let failure =
            |Failure { path, reason }: &Failure| json!({ "path": put_path(path), "reason": reason });
        let note = json!({
            "plan": format!("{:032x}", self.origin.plan),
            "shard": self.origin.shard,
            "build": format!("{:016x}", self.build),
            "inputs": self.inputs,
            "failed": self.failed,
            "failures": self.failures.iter().map(failure).collect::<Vec<_>>(),
            "changed": self.changed.count,
            "first_changed": self.changed.first.as_deref().map_or(Value::Null, put_path),
        });
        note.to_string().into_bytes()
    }

    /// The note in the manifest of an index; `None` if the index is not a finished shard.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the note cannot be read.
    pub(crate) fn read(manifest: &Manifest) -> Result<Option<Self>> {
        let Some(note) = manifest.notes.get(NOTE) else { return Ok(None) };
        let note = decode(note);
        note.map(Some).ok_or_else(|| Error::corrupt("the manifest", "the note of the shard cannot be read"))
    }
}

fn decode(note: &[u8]) -> Option<ShardNote> {
    let note: Value = serde_json::from_slice(note).ok()?;
    let number = |name: &str| note.get(name)?.as_u64();
    let failure = |value: &Value| {
        let (path, reason) = (read_path(value.get("path")?)?, value.get("reason")?.as_str()?.to_owned());
        Some(Failure { path, reason })
    };
    Some(ShardNote {
        origin: SliceOrigin {
            plan: u128::from_str_radix(note.get("plan")?.as_str()?, 16).ok()?,
            shard: u32::try_from(number("shard")?).ok()?,
        },
        build: read_build(&note)?,
        inputs: number("inputs")?,
        failed: number("failed")?,
        failures: note.get("failures")?.as_array()?.iter().map(failure).collect::<Option<_>>()?,
        changed: Skipped {
            count: number("changed").unwrap_or(0),
            first: note.get("first_changed").and_then(read_path),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn notes_read_back_and_damaged_ones_do_not() {
        let failure = |path: &[u8]| Failure { path: OsStr::from_bytes(path).into(), reason: "gone".into() };
        let note = ShardNote {
            origin: SliceOrigin { plan: u128::MAX - 3, shard: 17 },
            build: 0xfe,
            inputs: 1 << 40,
            failed: 2,
            failures: vec![failure(b"/a"), failure(b"/\xff\n")],
            changed: Skipped { count: 3, first: Some(OsStr::from_bytes(b"/b\xff").into()) },
        };
        let bytes = note.encode();
        assert_eq!(decode(&bytes).unwrap(), note);
        assert!((0..bytes.len()).all(|len| decode(&bytes[..len]).is_none()));
        assert!(decode(br#"{"plan": "x", "shard": 1, "inputs": 1, "failed": 0, "failures": []}"#).is_none());
    }
}
