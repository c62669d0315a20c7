//! The contents of the documents of a build: text in one field, or records with fields.
//!
//! The options decide this for a new index. New documents of an existing index must match its documents.

use std::sync::Arc;

use super::access_field;
use super::file_fields::{self, FileFields};
use super::found_fields::FoundFields;
use super::near_sketch::NearSketch;
use super::options::{IndexOptions, ScanSettings};
use super::rare_fields::RareFields;
use super::record_fields::RecordFields;
use crate::content::Extraction;
use crate::error::{Error, Result};
use crate::index::access_column::add_access;
use crate::index::commit::manifest::Manifest;
use crate::read::FindCuts;
use crate::record::{CollectionCuts, CollectionFormat, CsvCuts, CsvDialect};
use crate::schema::{Analyzer, Field, Postings, Records, Schema, Stored};

/// The contents of documents.
pub(crate) enum DocumentSource {
    /// Text in one field: files or lines.
    Text(TextField),
    /// Values of fields: records.
    Records(RecordFields),
}

impl DocumentSource {
    /// Chooses the contents of documents: those of the existing index, or for a new index those in the
    /// options. Returns `None` if the fields must be inferred from a sample of the inputs.
    pub(crate) fn choose(current: Option<&Manifest>, options: &IndexOptions) -> Result<Option<Self>> {
        let of_files = options.records == Records::File;
        access_field::check(current.map(|current| (&current.schema, current.records)), options)?;
        file_fields::check(current.map(|current| &current.schema), of_files, options.fields.metadata)?;
        if options.records.have_fields() {
            let fields = RecordFields::choose(current, options)?;
            if let Some(fields) = &fields {
                fields.stored(current, options)?;
            }
            return Ok(fields.map(DocumentSource::Records));
        }
        if let Some(current) = current.filter(|current| current.records.have_fields()) {
            return Err(Error::Conflict {
                what: "indexing text without fields".into(),
                with: format!("the index, whose documents are records of {}", current.records.name()),
                remedy: "index records, or build another index".into(),
            });
        }
        options.stored.resolve(current.map(|current| current.stored))?;
        let text = TextField::choose(current.map(|current| &current.schema), options)?;
        Ok(Some(DocumentSource::Text(text)))
    }

    /// True if file metadata is stored as columns.
    pub(crate) fn has_files(&self) -> bool {
        matches!(self, DocumentSource::Text(TextField { files: Some(_), .. }))
    }

    /// True if documents have access classes.
    pub(crate) fn has_access(&self) -> bool {
        let DocumentSource::Text(TextField { files: Some(files), .. }) = self else { return false };
        files.access.is_some()
    }

    /// The storage options of the index for its documents.
    pub(crate) fn stored(&self, current: Option<&Manifest>, options: &IndexOptions) -> Result<Stored> {
        match self {
            DocumentSource::Text(_) => options.stored.resolve(current.map(|current| current.stored)),
            DocumentSource::Records(fields) => fields.stored(current, options),
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        match self {
            DocumentSource::Text(text) => &text.schema,
            DocumentSource::Records(fields) => &fields.schema,
        }
    }

    /// The manifest of a new index.
    pub(crate) fn manifest(&self, records: Records, stored: Stored) -> Manifest {
        let plain = Manifest::new(self.schema().clone(), records, stored);
        match self {
            DocumentSource::Text(_) => plain,
            DocumentSource::Records(fields) => Manifest { sources: fields.sources.clone(), ..plain },
        }
    }

    /// How rows of CSV are written.
    pub(crate) fn csv(&self) -> CsvDialect {
        match self {
            DocumentSource::Text(_) => CsvDialect::default(),
            DocumentSource::Records(fields) => fields.csv.clone(),
        }
    }

    /// Finds where files can be cut whose records are not lines.
    pub(crate) fn cuts(&self, records: Records) -> Option<Arc<dyn FindCuts>> {
        if let Some(format) = CollectionFormat::of(records) {
            return Some(Arc::new(CollectionCuts::new(format)));
        }
        match self {
            DocumentSource::Records(fields) if records == Records::Csv => {
                Some(Arc::new(CsvCuts::new(&fields.csv)))
            }
            _ => None,
        }
    }

    /// The analyzer with which readers find places where text may be cut.
    pub(crate) fn analyzer(&self) -> &Analyzer {
        match self {
            DocumentSource::Text(text) => &text.analyzer,
            // Records that were cut are joined again.
            DocumentSource::Records(_) => &Analyzer::Standard,
        }
    }
}

/// The field of files and lines, and its indexing options.
pub(crate) struct TextField {
    pub(crate) field: Field,
    pub(crate) analyzer: Analyzer,
    pub(crate) postings: Postings,
    /// The columns of file metadata, if the index has them.
    pub(crate) files: Option<Box<FileFields>>,
    schema: Schema,
}

impl TextField {
    /// The text field of the index, or the requested one for a new index.
    fn choose(current: Option<&Schema>, options: &IndexOptions) -> Result<Self> {
        match current {
            Some(current) => Self::of_index(current, options),
            None => Self::new(options),
        }
    }

    fn new(options: &IndexOptions) -> Result<Self> {
        let analyzer = options.analyzer.clone().unwrap_or(Analyzer::Standard);
        let postings = options.postings.unwrap_or_default();
        let mut schema = Schema::of_files(analyzer.clone(), postings);
        if options.records == Records::File && options.fields.metadata != Some(false) {
            FileFields::add(&mut schema)?;
            if options.dump.is_some() || options.contents.is_some_and(|contents| contents.names_only) {
                // Explanations need the ACLs of directories.
                let acl = options.scan.acl || options.fields.access && options.dump.is_none();
                FileFields::add_extra(&mut schema, ScanSettings { acl, ..options.scan })?;
            } else if options.contents.unwrap_or_default().extract > Extraction::None {
                FoundFields::add(&mut schema)?;
            }
        }
        if options.fields.access {
            add_access(&mut schema)?;
        }
        NearSketch::add(&mut schema, options.contents)?;
        let files = FileFields::of(&schema, &options.fields.owners)?;
        Ok(TextField { field: Field::default(), analyzer, postings, files, schema })
    }

    /// Refuses options that contradict the index.
    fn of_index(current: &Schema, options: &IndexOptions) -> Result<Self> {
        let no_place = |with: &str| Error::Conflict {
            what: "indexing text without fields".into(),
            with: with.into(),
            remedy: "add documents with fields, or build another index".into(),
        };
        if current.stores() {
            return Err(no_place("the index, which stores fields of documents"));
        }
        let Some((field, analyzer, postings)) = current.text() else {
            return Err(no_place("the index, which has no field 'text'"));
        };
        let conflict = |what: String, built: String| {
            Err(Error::Conflict {
                what,
                with: format!("the index, which was built {built}"),
                remedy: "leave the option to the index, or build another index".into(),
            })
        };
        if let Some(wanted) = options.analyzer.as_ref().filter(|&wanted| wanted != analyzer) {
            let built = format!("with analyzer {}", analyzer.name());
            return conflict(format!("analyzer {}", wanted.name()), built);
        }
        if let Some(wanted) = options.postings.filter(|&wanted| wanted != postings) {
            return conflict(format!("indexing {}", kept_of_terms(wanted)), kept_of_terms(postings).into());
        }
        RareFields::of(current).check(options.scan)?;
        let of_files = options.records == Records::File;
        let files = if of_files { FileFields::of(current, &options.fields.owners)? } else { None };
        Ok(TextField { field, analyzer: analyzer.clone(), postings, files, schema: current.clone() })
    }
}

/// Describes the postings of an index in error messages.
fn kept_of_terms(postings: Postings) -> &'static str {
    match postings {
        Postings::Documents => "without frequencies",
        Postings::Frequencies => "without positions",
        Postings::Positions => "with positions and without offsets",
        Postings::Offsets => "with offsets",
    }
}
