//! The fields of a build of records: the fields of the index, the fields given by the caller, or fields
//! inferred from a sample.

use std::fs::File;
use std::sync::atomic::AtomicBool;

use super::options::{FieldOptions, IndexOptions};
use crate::error::{Error, Result};
use crate::index::commit::manifest::Manifest;
use crate::read::{ContentOptions, text_of_file, text_of_start};
use crate::record::{CsvDelimiter, FileFormat, Inference, Inferred, RecordFormat, Sources};
use crate::schema::{FieldEntry, FieldKind, Records, Schema, Store, Stored};
use crate::source::{Input, collect};

/// Total bytes of the sample from which a schema is inferred.
const SAMPLE: usize = 4 << 20;

/// Bytes of the first file to sample instead if the usual sample has no complete record.
const LARGE_SAMPLE: usize = 64 << 20;

/// Number of files from which a schema is inferred.
const SAMPLE_FILES: usize = 16;

/// The fields of a build of records.
#[derive(Clone, Debug)]
pub(crate) struct RecordFields {
    pub(crate) schema: Schema,
    pub(crate) sources: Sources,
    pub(crate) delimiter: Option<CsvDelimiter>,
}

impl RecordFields {
    /// The fields of the index, with which a given schema must agree, or the given schema for a new index.
    /// `None` if there is neither.
    pub(crate) fn choose(current: Option<&Manifest>, options: &IndexOptions) -> Result<Option<Self>> {
        let FieldOptions { schema: mut given, delimiter, key, .. } = options.fields.clone();
        if let (Some((schema, sources)), Some(key)) = (&mut given, &key) {
            sources.choose_key(schema, key)?;
        }
        let chosen = match current {
            None => given,
            Some(current) => {
                if current.records == Records::Lines {
                    return Err(Error::Conflict {
                        what: format!("indexing records of {}", options.records.name()),
                        with: "the index, whose documents are lines of text".into(),
                        remedy: "build another index for records".into(),
                    });
                }
                if let Some((schema, sources)) = &given {
                    check_agreement(current, schema, sources)?;
                }
                if let Some(key) = &key {
                    check_key(current, key)?;
                }
                Some((current.schema.clone(), current.sources.clone()))
            }
        };
        let Some((schema, sources)) = chosen else { return Ok(None) };
        if schema.searched().next().is_none() {
            return Err(Error::invalid(
                "schema",
                "without searched fields",
                "a searched text or keyword field",
            ));
        }
        for (_, entry) in schema.fields() {
            check_text_options(entry, options)?;
        }
        Ok(Some(RecordFields { schema, sources, delimiter }))
    }

    /// Infers the fields of a new index from a sample of the inputs. Also returns the report of the sample.
    pub(crate) fn infer(inputs: &[Input], options: &IndexOptions) -> Result<(Self, Inferred)> {
        let inferred = infer(inputs, options)?;
        let fields = RecordFields {
            schema: inferred.schema.clone(),
            sources: inferred.sources.clone(),
            delimiter: options.fields.delimiter,
        };
        Ok((fields, inferred))
    }

    /// The storage options of the index for documents with these fields. A new index stores its records
    /// unless the options say otherwise.
    pub(crate) fn stored(&self, current: Option<&Manifest>, options: &IndexOptions) -> Result<Stored> {
        let mut wanted = options.stored;
        if current.is_none() {
            wanted.store = Some(wanted.store.unwrap_or(Store::Content));
        }
        wanted.resolve_for(&self.schema, current.map(|current| current.stored))
    }
}

/// Refuses a schema that differs from the schema of the index, and names the first field that differs.
fn check_agreement(current: &Manifest, schema: &Schema, sources: &Sources) -> Result<()> {
    for (field, entry) in schema.fields().chain(current.schema.fields()) {
        let (own, other) = (current.schema.entry(field), schema.entry(field));
        let written = |of: &Sources| (of.source(field).map(str::to_string), of.format(field));
        let is_key = |of: &Sources| of.key() == Some(field);
        let same_key = is_key(&current.sources) == is_key(sources);
        if own != other || !same_key || written(&current.sources) != written(sources) {
            return Err(Error::Conflict {
                what: format!("field '{}' of the given schema", entry.name),
                with: "the schema of the index".into(),
                remedy: "leave the schema out, or build another index".into(),
            });
        }
    }
    Ok(())
}

/// Refuses another key than the key of the index.
fn check_key(current: &Manifest, key: &str) -> Result<()> {
    let mut wanted = current.sources.clone();
    if wanted.choose_key(&current.schema, key).is_ok() && wanted.key() == current.sources.key() {
        return Ok(());
    }
    let known = current.sources.key().and_then(|field| current.schema.entry(field));
    Err(Error::Conflict {
        what: format!("the key '{key}'"),
        with: known.map_or("the index, whose documents have their places as keys".into(), |entry| {
            format!("the index, whose key is '{}'", entry.name)
        }),
        remedy: "leave the key to the index, or build another index".into(),
    })
}

/// Refuses text options that contradict the schema.
fn check_text_options(entry: &FieldEntry, options: &IndexOptions) -> Result<()> {
    let FieldKind::Text { analyzer, postings } = &entry.kind else { return Ok(()) };
    let other_analyzer = options.analyzer.as_ref().is_some_and(|wanted| wanted != analyzer);
    if other_analyzer || options.postings.is_some_and(|wanted| wanted != *postings) {
        let what = if other_analyzer { "the analyzer" } else { "the postings" };
        return Err(Error::Conflict {
            what: format!("{what} in the options"),
            with: format!("field '{}' of the schema", entry.name),
            remedy: "leave it to the schema".into(),
        });
    }
    Ok(())
}

/// Infers a schema from a sample of the inputs. A build infers the same schema if there is no index yet and
/// no schema is given.
///
/// # Errors
/// Returns an error if the inputs cannot be collected, or if the sample has no value.
pub fn infer_fields(options: &IndexOptions, cancel: &AtomicBool) -> Result<Inferred> {
    infer(&collect(&options.source, cancel)?.inputs, options)
}

/// Infers a schema, and sets the analyzer and postings of its text fields to those of the options.
fn infer(inputs: &[Input], options: &IndexOptions) -> Result<Inferred> {
    let format = match options.records {
        Records::Csv => FileFormat::Csv(options.fields.delimiter),
        _ => FileFormat::Json,
    };
    let files = inputs.len().min(SAMPLE_FILES);
    let mut inferred = sample(inputs, format, options, SAMPLE / files.max(1));
    if inferred.is_err() {
        inferred = sample(inputs.get(..1).unwrap_or_default(), format, options, LARGE_SAMPLE);
    }
    let mut inferred = inferred?;
    let mut schema = Schema::new();
    for (_, entry) in inferred.schema.fields() {
        let mut entry = entry.clone();
        if let FieldKind::Text { analyzer, postings } = &mut entry.kind {
            *analyzer = options.analyzer.clone().unwrap_or_else(|| analyzer.clone());
            *postings = options.postings.unwrap_or(*postings);
        }
        schema.add(entry)?;
    }
    inferred.schema = schema;
    Ok(inferred)
}

/// Infers from the first `most` bytes of files spread over the list of inputs. The build reports files that
/// cannot be read or have no header.
fn sample(inputs: &[Input], format: FileFormat, options: &IndexOptions, most: usize) -> Result<Inferred> {
    let contents = ContentOptions { skip_binary: false, ..options.contents.unwrap_or_default() };
    let mut inference = Inference::new(RecordFormat::Json);
    options.fields.key.iter().for_each(|key| inference.set_key(key));
    let step = inputs.len().div_ceil(SAMPLE_FILES).max(1);
    for input in inputs.iter().step_by(step) {
        // One byte more tells whether the sample is the whole text.
        let text = match &options.read.stream {
            Some(stream) if input.is_stream() => {
                stream.start(most + 1).map(|start| text_of_start(&start, contents, most + 1))
            }
            _ => File::open(&input.path)
                .and_then(|mut file| text_of_file(&mut file, contents, 0, most as u64 + 1)),
        };
        if let Ok(mut text) = text {
            let is_whole = text.len() <= most;
            text.truncate(most);
            let _ = inference.sample(format, &text, is_whole);
        }
    }
    inference.finish()
}
