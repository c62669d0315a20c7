//! The fields of a build of records: the fields of the index, the fields given by the caller, those of a
//! collection, or fields inferred from a sample.

use super::collection_fields::collection_fields;
use super::near_sketch::NearSketch;
use super::options::{FieldOptions, IndexOptions};
use super::record_sample::{InputSample, infer, sniff};
use crate::error::{Error, Result};
use crate::index::commit::manifest::Manifest;
use crate::record::{CsvDialect, Inferred, Sources};
use crate::schema::{FieldEntry, FieldKind, Records, Schema, Store, Stored};

/// The fields of a build of records.
#[derive(Clone, Debug)]
pub(crate) struct RecordFields {
    pub(crate) schema: Schema,
    pub(crate) sources: Sources,
    /// How rows of CSV are written.
    pub(crate) csv: CsvDialect,
    /// True if `csv` is known, false if it is still to be found out from a sample.
    pub(crate) is_sniffed: bool,
}

impl RecordFields {
    /// The fields of the index, with which a given schema must agree, or for a new index the given schema or
    /// the fields of a collection. `None` if there are none of these.
    pub(crate) fn choose(current: Option<&Manifest>, options: &IndexOptions) -> Result<Option<Self>> {
        let FieldOptions { schema: mut given, csv, key, .. } = options.fields.clone();
        if let (Some((schema, sources)), Some(key)) = (&mut given, &key) {
            sources.choose_key(schema, key)?;
        }
        let known = current.filter(|current| current.records == Records::Csv).map(|current| &current.csv);
        if known.is_some_and(|known| !csv.agree_with(known)) {
            return Err(Error::Conflict {
                what: "another delimiter, quotes or names of columns".into(),
                with: "the index".into(),
                remedy: "leave them to the index, or build another index".into(),
            });
        }
        let chosen = match current {
            None => {
                let mut new = match given {
                    None => collection_fields(options, key.as_deref())?,
                    given => given,
                };
                if let Some((schema, _)) = &mut new {
                    NearSketch::add(schema, options.contents)?;
                }
                new
            }
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
                let mut sources = current.sources.clone();
                if let Some(sketch) = current.contents.sketch_field(&current.schema) {
                    // Its values are not those of a name in records.
                    sources.remove(sketch);
                }
                Some((current.schema.clone(), sources))
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
        let is_sniffed = known.is_some() || options.records != Records::Csv;
        Ok(Some(RecordFields { schema, sources, csv: known.cloned().unwrap_or_default(), is_sniffed }))
    }

    /// Infers the fields of a new index from a sample of the inputs. Also returns the report of the sample.
    pub(crate) fn infer(inputs: &InputSample, options: &IndexOptions) -> Result<(Self, Inferred)> {
        let csv = sniff(inputs, options, None);
        let inferred = infer(inputs, options, &csv)?;
        let (mut schema, sources) = (inferred.schema.clone(), inferred.sources.clone());
        NearSketch::add(&mut schema, options.contents)?;
        Ok((RecordFields { schema, sources, csv, is_sniffed: true }, inferred))
    }

    /// Finds out from a sample of the inputs how rows of CSV are written, if that is not known.
    pub(crate) fn find_dialect(&mut self, inputs: &InputSample, options: &IndexOptions) {
        if !self.is_sniffed {
            self.csv = sniff(inputs, options, Some(&self.sources));
            self.is_sniffed = true;
        }
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

/// Refuses a schema that differs from the schema of the index, and names the first field that differs. It
/// need not have the column of sketches.
fn check_agreement(current: &Manifest, schema: &Schema, sources: &Sources) -> Result<()> {
    let sketch = current.contents.sketch_field(&current.schema);
    for (field, entry) in schema.fields().chain(current.schema.fields()) {
        let (own, other) = (current.schema.entry(field), schema.entry(field));
        if other.is_none() && sketch == Some(field) {
            continue;
        }
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
