//! The fields of records of JSON and CSV: given, those of the index, or inferred from a sample; and what became of records.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::IndexOptions;
use super::lane_output::LaneReport;
use super::manifest::Manifest;
use super::stored::{check_stored, choose_stored};
use crate::error::{Error, Result};
use crate::record::{
    CsvDelimiter, FileFormat, Inference, Inferred, MALFORMED, RecordCounts, RecordFormat, Sources,
};
use crate::schema::{FieldEntry, FieldKind, Records, Schema, Store, Stored};
use crate::source::{Input, collect};

/// Bytes of all files together that a schema is inferred from.
const SAMPLE: usize = 4 << 20;

/// Bytes of one file that are looked at instead where those have no record.
const LARGE_SAMPLE: usize = 64 << 20;

/// Files that a schema is inferred from.
const SAMPLE_FILES: usize = 16;

/// What fields documents have: records of JSON and CSV, and files beside their text.
#[derive(Clone, Debug, Default)]
pub struct FieldOptions {
    /// The fields, and what records call their values; `None` for those of the index, or of a new one those that a sample
    /// suggests.
    pub schema: Option<(Schema, Sources)>,
    /// Keep what the file system says of files beside their text, as columns: path, name, ext, size, mtime and others. An
    /// index of files has them from its first build on, or never.
    pub metadata: bool,
    /// What delimits values of CSV; `None` for what a header suggests.
    pub delimiter: Option<CsvDelimiter>,
}

/// What became of records of JSON and CSV.
#[derive(Clone, Debug, Default)]
pub struct RecordReport {
    /// The schema, if this build has inferred it.
    pub inferred: Option<Inferred>,
    /// Records that are blank, and no documents.
    pub blank: u64,
    /// Records that were malformed, and are no documents.
    pub malformed: u64,
    /// Some of them.
    pub examples: Vec<MalformedRecord>,
    /// Fields with values that were left out.
    pub conflicts: Vec<FieldConflict>,
    /// Names that no field takes values from, and how many values they had; frequent ones first. At most 1,000.
    pub unknown: Vec<(String, u64)>,
    /// Values of all other such names.
    pub unknown_rest: u64,
}

/// A record that was malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedRecord {
    /// Its file.
    pub path: PathBuf,
    /// Its number there: of a line of JSON, or of a row of CSV below the header.
    pub line: u64,
    /// What was wrong with it.
    pub reason: String,
    /// At most 80 bytes of it around that place.
    pub text: String,
}

/// Values that were left out of a field since they are no such value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldConflict {
    /// The name of the field.
    pub field: String,
    /// How many values.
    pub count: u64,
    /// The first of them, cut to 80 bytes.
    pub example: String,
}

impl RecordReport {
    /// Adds up what index threads have counted.
    pub(super) fn add_up(&mut self, schema: &Schema, lanes: &mut [LaneReport]) {
        let mut sum = RecordCounts::default();
        for lane in lanes {
            sum.merge(std::mem::take(&mut lane.counts));
            self.examples.append(&mut lane.malformed);
        }
        (self.blank, self.malformed) = (sum.blank(), sum.malformed());
        self.examples.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        self.examples.truncate(MALFORMED);
        let conflicts = sum.conflicts().map(|(field, conflict)| FieldConflict {
            field: schema.entry(field).map_or_else(String::new, |entry| entry.name.clone()),
            count: conflict.count,
            example: conflict.example.clone(),
        });
        self.conflicts = conflicts.collect();
        self.unknown = sum.unknown().into_iter().map(|(name, count)| (name.into(), count)).collect();
        self.unknown_rest = sum.unknown_rest();
    }
}

/// The fields of a build of records.
#[derive(Clone, Debug)]
pub(super) struct RecordFields {
    pub(super) schema: Schema,
    pub(super) sources: Sources,
    pub(super) delimiter: Option<CsvDelimiter>,
}

impl RecordFields {
    /// The fields of the index, which those that are given must be; of a new one those that are given. `None` if neither
    /// says.
    pub(super) fn choose(current: Option<&Manifest>, options: &IndexOptions) -> Result<Option<Self>> {
        let FieldOptions { schema: given, delimiter, .. } = options.fields.clone();
        let chosen = match (current, given) {
            (Some(current), given) => {
                if current.records == Records::Lines {
                    return Err(Error::Options(
                        "the documents of the index are lines of text: build another index for records"
                            .into(),
                    ));
                }
                if let Some((schema, sources)) = &given {
                    must_agree(current, schema, sources)?;
                }
                Some((current.schema.clone(), current.sources.clone()))
            }
            (None, given) => given,
        };
        let Some((schema, sources)) = chosen else { return Ok(None) };
        if schema.searched().next().is_none() {
            return Err(Error::Options(
                "a schema needs a field that is searched: give it a text or a keyword".into(),
            ));
        }
        for (_, entry) in schema.fields() {
            must_be_as_asked(entry, options)?;
        }
        Ok(Some(RecordFields { schema, sources, delimiter }))
    }

    /// Those that a sample of the inputs suggests, with what is asked for of texts.
    fn inferred(inferred: &Inferred, options: &IndexOptions) -> Self {
        let Inferred { schema, sources, .. } = inferred.clone();
        RecordFields { schema, sources, delimiter: options.fields.delimiter }
    }

    /// The same of a new index, with the report of the sample.
    pub(super) fn infer(inputs: &[Input], options: &IndexOptions) -> Result<(Self, Inferred)> {
        let inferred = infer(inputs, options)?;
        Ok((Self::inferred(&inferred, options), inferred))
    }

    /// What is kept of documents with these fields.
    pub(super) fn stored(&self, current: Option<&Manifest>, options: &IndexOptions) -> Result<Stored> {
        let mut wanted = options.stored;
        if self.schema.stores() && current.is_none() {
            wanted.store = Some(wanted.store.unwrap_or(Store::Content));
        }
        let stored = choose_stored(current, &wanted)?;
        check_stored(&self.schema, &stored)?;
        Ok(stored)
    }
}

/// Refuses a schema that is not that of the index, and says where.
fn must_agree(current: &Manifest, schema: &Schema, sources: &Sources) -> Result<()> {
    let differs = |name: &str| {
        Err(Error::Options(format!(
            "the schema that is given differs from that of the index in field '{name}': leave it out, or build another index"
        )))
    };
    for (field, entry) in schema.fields().chain(current.schema.fields()) {
        let (own, other) = (current.schema.entry(field), schema.entry(field));
        if own != other || current.sources.source(field) != sources.source(field) {
            return differs(&entry.name);
        }
    }
    Ok(())
}

/// Refuses a text that is found in another way than options say.
fn must_be_as_asked(entry: &FieldEntry, options: &IndexOptions) -> Result<()> {
    let FieldKind::Text { analyzer, postings } = &entry.kind else { return Ok(()) };
    let other_words = options.analyzer.as_ref().is_some_and(|wanted| wanted != analyzer);
    if other_words || options.postings.is_some_and(|wanted| wanted != *postings) {
        return Err(Error::Options(format!(
            "the schema says how words of field '{}' are found and what is kept of them, and the options say otherwise: \
             leave them out",
            entry.name
        )));
    }
    Ok(())
}

/// The schema that a sample of the inputs suggests, as [`build`](super::build) takes it where there is no index yet and no
/// schema is given.
///
/// # Errors
/// Inputs that cannot be collected, and a sample without a value.
pub fn infer_fields(options: &IndexOptions, cancel: &AtomicBool) -> Result<Inferred> {
    infer(&collect(&options.source, cancel)?.inputs, options)
}

fn infer(inputs: &[Input], options: &IndexOptions) -> Result<Inferred> {
    let format = match options.records {
        Records::Csv => FileFormat::Csv(options.fields.delimiter),
        _ => FileFormat::Json,
    };
    let files = inputs.len().min(SAMPLE_FILES);
    let mut inferred = sample(inputs, format, SAMPLE / files.max(1));
    if inferred.is_err() {
        inferred = sample(inputs.get(..1).unwrap_or_default(), format, LARGE_SAMPLE);
    }
    let mut inferred = inferred?;
    let mut schema = Schema::new();
    for (_, entry) in inferred.schema.fields() {
        let mut entry = entry.clone();
        if let FieldKind::Text { analyzer, postings } = &mut entry.kind {
            *analyzer = options.analyzer.clone().unwrap_or_else(|| analyzer.clone());
            *postings = options.postings.unwrap_or(*postings);
        }
        schema.add_entry(entry)?;
    }
    inferred.schema = schema;
    Ok(inferred)
}

/// Infers from the beginnings of files that lie apart in the list of inputs. What cannot be read or has no header is left to
/// the build to report.
fn sample(inputs: &[Input], format: FileFormat, most: usize) -> Result<Inferred> {
    let mut inference = Inference::new(RecordFormat::Json);
    let step = inputs.len().div_ceil(SAMPLE_FILES).max(1);
    for input in inputs.iter().step_by(step) {
        let mut bytes = Vec::new();
        let read = File::open(&input.path).and_then(|file| file.take(most as u64).read_to_end(&mut bytes));
        if read.is_ok() {
            let is_whole = bytes.len() < most || bytes.len() as u64 == input.bytes;
            let _ = inference.sample(format, &bytes, is_whole);
        }
    }
    inference.finish()
}
