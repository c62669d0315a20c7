//! The places of the records of which a report speaks.

use super::lane_report::{ConflictPlace, LaneReport};
use super::report::{MalformedRecord, NotedRecords};
use crate::read::LineNumber;
use crate::record::{Malformed, RecordCounts, RecordNote};
use crate::schema::Field;
use crate::source::Input;

/// A record of which the report speaks: its input, and its number, given as the number of an earlier record
/// and the records since then.
pub(super) struct RecordPlace {
    pub(super) input: u32,
    pub(super) record: LineNumber,
    pub(super) later: u64,
    /// The number of its first line, if records may have several lines.
    pub(super) first_line: Option<u64>,
}

impl RecordPlace {
    /// The number of the record in its file, from 1.
    fn record(&self) -> u64 {
        self.record.resolve() + self.later
    }

    /// The line in which the record begins, from 1.
    fn line(&self) -> u64 {
        self.first_line.unwrap_or_else(|| self.record())
    }
}

/// The places of the records of an index thread of which the report speaks.
#[derive(Default)]
pub(super) struct RecordPlaces {
    /// The first malformed and unusual records.
    pub(super) noted: Vec<RecordPlace>,
    /// The first values that do not fit their fields.
    pub(super) conflicts: Vec<(Field, RecordPlace)>,
    /// The first record without a key.
    pub(super) without_key: Option<RecordPlace>,
}

impl RecordPlaces {
    /// The number under which the next record is noted.
    pub(super) fn next(&self) -> u64 {
        self.noted.len() as u64
    }

    /// Adds what was counted to a report.
    pub(super) fn report(&self, counts: &RecordCounts, inputs: &[Input], report: &mut LaneReport) {
        let placed = |examples: &[Malformed]| -> Vec<MalformedRecord> {
            examples.iter().filter_map(|example| self.placed(example, inputs)).collect()
        };
        report.malformed = placed(counts.malformed_examples());
        report.repaired = placed(&counts.repaired().examples);
        report.short = placed(&counts.short().examples);
        report.several = placed(&counts.several().examples);
        report.notes = counts.notes().iter().filter_map(|noted| self.note(noted, inputs)).collect();
        for (field, place) in &self.conflicts {
            let Some(input) = inputs.get(place.input as usize) else { continue };
            let conflict = counts.conflicts().find(|(other, _)| other == field);
            let example = conflict.map_or_else(String::new, |(_, conflict)| conflict.example.clone());
            let (path, line) = (input.path.clone(), place.line());
            report.conflicts.push(ConflictPlace { field: *field, path, line, example });
        }
        if let Some(place) = &self.without_key
            && let Some(input) = inputs.get(place.input as usize)
        {
            report.without_key = Some((input.path.clone(), place.line()));
        }
    }

    /// An example with its place.
    fn placed(&self, example: &Malformed, inputs: &[Input]) -> Option<MalformedRecord> {
        let place = self.noted.get(usize::try_from(example.line).ok()?)?;
        let input = inputs.get(place.input as usize)?;
        Some(MalformedRecord {
            path: input.path.clone(),
            line: place.line(),
            record: place.record(),
            reason: example.error.to_string(),
            text: example.text.clone(),
        })
    }

    /// A remark with the place of its first record.
    fn note(&self, noted: (RecordNote, u64, u64), inputs: &[Input]) -> Option<NotedRecords> {
        let (note, count, first) = noted;
        let place = self.noted.get(usize::try_from(first).ok()?)?;
        let path = inputs.get(place.input as usize)?.path.clone();
        Some(NotedRecords { note, count, path, record: place.record() })
    }
}
