//! What an index thread reports at its end, and the sum of these reports in the report of the build.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use super::report::{DoubleRecord, FieldConflict, IndexReport, MalformedRecord, NotedRecords, RecordReport};
use crate::index::commit::unique_keys::DoubleKey;
use crate::read::ContentCounts;
use crate::record::{FlawedRecords, MALFORMED, RecordCounts};
use crate::schema::{Field, Schema, ValueFormat};
use crate::segment::{DocumentOrigin, Flushed};
use crate::source::Failure;

/// What an index thread did.
#[derive(Debug, Default)]
pub(crate) struct LaneReport {
    pub(crate) segments: Vec<Flushed>,
    pub(crate) cut_terms: u64,
    pub(crate) failures: Vec<Failure>,
    /// What became of records with fields.
    pub(crate) counts: RecordCounts,
    /// Bytes of all records.
    pub(crate) record_bytes: u64,
    pub(crate) malformed: Vec<MalformedRecord>,
    pub(crate) repaired: Vec<MalformedRecord>,
    pub(crate) short: Vec<MalformedRecord>,
    pub(crate) several: Vec<MalformedRecord>,
    pub(crate) notes: Vec<NotedRecords>,
    /// Where the first value of a field is that does not fit.
    pub(crate) conflicts: Vec<ConflictPlace>,
    /// Dates of files that do not fit their columns, and the number of files that have dates.
    pub(crate) missing_dates: Vec<FieldConflict>,
    pub(crate) file_dates: u64,
    /// The file and the number of the first record without a key.
    pub(crate) without_key: Option<(PathBuf, u64)>,
    /// Documents without text and with text, by kind.
    pub(crate) binary: ContentCounts,
    pub(crate) decoded: ContentCounts,
    /// Time spent writing segments.
    pub(crate) flushing: Duration,
}

/// The place of the first value of a field that does not fit, among the records of one thread.
#[derive(Debug)]
pub(crate) struct ConflictPlace {
    pub(crate) field: Field,
    pub(crate) path: PathBuf,
    pub(crate) line: u64,
    /// The value, cut.
    pub(crate) example: String,
}

impl IndexReport {
    /// Adds what index threads did.
    pub(crate) fn add_lanes(&mut self, lanes: Vec<LaneReport>) {
        let files = lanes.iter().map(|lane| lane.file_dates).sum();
        for lane in lanes {
            for missing in lane.missing_dates {
                let mut known = self.records.conflicts.iter_mut();
                match known.find(|known| known.field == missing.field) {
                    Some(known) => known.merge(missing),
                    None => self.records.conflicts.push(FieldConflict { values: files, ..missing }),
                }
            }
            for segment in &lane.segments {
                self.documents += segment.stats.documents;
                self.tokens += segment.stats.tokens();
                self.segments += 1;
            }
            self.cut_terms += lane.cut_terms;
            self.flush_seconds += lane.flushing.as_secs_f64();
            self.failed.extend(lane.failures);
            lane.binary.add_to(&mut self.binary);
            lane.decoded.add_to(&mut self.decoded);
        }
    }
}

impl RecordReport {
    /// Adds records with a remark.
    fn add_noted(&mut self, new: NotedRecords) {
        let Some(known) = self.notes.iter_mut().find(|known| known.note == new.note) else {
            return self.notes.push(new);
        };
        known.count += new.count;
        if (&new.path, new.record) < (&known.path, known.record) {
            (known.path, known.record) = (new.path, new.record);
        }
    }

    /// Adds the records that were left out because of their keys.
    pub(crate) fn add_doubles(&mut self, count: u64, first: Option<DoubleKey>) {
        self.doubles = count;
        self.double = first.map(DoubleRecord::from);
    }

    /// Adds what index threads counted, and takes it out of their reports. `schema` names the fields.
    pub(crate) fn add_lanes(&mut self, schema: &Schema, lanes: &mut [LaneReport]) {
        let mut sum = RecordCounts::default();
        let (mut places, mut keyless) = (Vec::new(), Vec::new());
        for lane in lanes {
            lane.notes.drain(..).for_each(|noted| self.add_noted(noted));
            sum.merge(std::mem::take(&mut lane.counts));
            self.bytes += lane.record_bytes;
            self.examples.append(&mut lane.malformed);
            self.repaired.examples.append(&mut lane.repaired);
            self.short.examples.append(&mut lane.short);
            self.several.examples.append(&mut lane.several);
            places.append(&mut lane.conflicts);
            keyless.extend(lane.without_key.take());
        }
        self.notes.sort_by_key(|noted| Reverse(noted.count));
        let FlawedRecords { count, lines, bytes, .. } = *sum.lost();
        (self.malformed, self.malformed_lines, self.malformed_bytes) = (count, lines, bytes);
        self.blank = sum.blank();
        (self.without_key, self.first_without_key) = (sum.without_key(), keyless.into_iter().min());
        sort_and_cut(&mut self.examples);
        let remarks = [
            (&mut self.repaired, sum.repaired()),
            (&mut self.short, sum.short()),
            (&mut self.several, sum.several()),
        ];
        for (remark, of) in remarks {
            (remark.count, remark.lines) = (of.count, of.lines);
            sort_and_cut(&mut remark.examples);
        }
        self.renamed = sum.renamed().to_vec();
        places.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        let conflicts = sum.conflicts().filter_map(|(field, conflict)| {
            let entry = schema.entry(field)?;
            let first = places.iter().find(|place| place.field == field)?;
            Some(FieldConflict {
                field: entry.name.clone(),
                count: conflict.count,
                values: conflict.values,
                example: first.example.clone(),
                path: first.path.clone(),
                line: first.line,
                hint: ValueFormat::hint(entry, first.example.as_bytes()),
            })
        });
        self.conflicts = conflicts.collect();
        self.unknown = sum.unknown().into_iter().map(|(name, count)| (name.into(), count)).collect();
        self.unknown_rest = sum.unknown_rest();
    }
}

/// Leaves the first examples in the order of their places.
fn sort_and_cut(examples: &mut Vec<MalformedRecord>) {
    examples.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
    examples.truncate(MALFORMED);
}

impl From<DoubleKey> for DoubleRecord {
    fn from(double: DoubleKey) -> Self {
        let path = |of: &DocumentOrigin| PathBuf::from(OsStr::from_bytes(&of.path));
        let DoubleKey { key, lost, kept } = double;
        DoubleRecord {
            key,
            path: path(&lost),
            line: lost.line.unwrap_or(0),
            kept_path: path(&kept),
            kept_line: kept.line.unwrap_or(0),
        }
    }
}
