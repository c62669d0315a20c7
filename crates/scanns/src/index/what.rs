//! What the documents of a build are made of: chosen by its options, within what the index is already.

use super::IndexOptions;
use super::file_fields::{self, FileFields};
use super::manifest::Manifest;
use super::records::RecordFields;
use super::stored::choose_stored;
use crate::error::{Error, Result};
use crate::schema::{Analyzer, Field, Postings, Records, Schema, Stored};

/// What documents are made of.
pub(super) enum What {
    /// Text in one field.
    Text(TextField),
    /// Values of fields.
    Records(RecordFields),
}

impl What {
    /// That of the index, which what is added must share; of a new one, what is asked for. `None` where a sample of the
    /// inputs must say.
    pub(super) fn choose(current: Option<&Manifest>, options: &IndexOptions) -> Result<Option<Self>> {
        if options.fields.metadata {
            file_fields::check(current.map(|current| &current.schema), options.records == Records::File)?;
        }
        if options.records.have_fields() {
            let fields = RecordFields::choose(current, options)?;
            if let Some(fields) = &fields {
                fields.stored(current, options)?;
            }
            return Ok(fields.map(What::Records));
        }
        if let Some(current) = current.filter(|current| current.records.have_fields()) {
            return Err(Error::Options(format!(
                "the documents of the index are records of {}: add such, or build another index",
                current.records.name()
            )));
        }
        choose_stored(current, &options.stored)?;
        TextField::choose(current.map(|current| &current.schema), options).map(|text| Some(What::Text(text)))
    }

    /// True if what the file system says of files is kept.
    pub(super) fn has_files(&self) -> bool {
        matches!(self, What::Text(TextField { files: Some(_), .. }))
    }

    /// What is kept of documents.
    pub(super) fn stored(&self, current: Option<&Manifest>, options: &IndexOptions) -> Result<Stored> {
        match self {
            What::Text(_) => choose_stored(current, &options.stored),
            What::Records(fields) => fields.stored(current, options),
        }
    }

    pub(super) fn schema(&self) -> &Schema {
        match self {
            What::Text(text) => &text.schema,
            What::Records(fields) => &fields.schema,
        }
    }

    /// That of a new index.
    pub(super) fn manifest(&self, records: Records, stored: Stored) -> Manifest {
        let plain = Manifest::new(self.schema().clone(), records, stored);
        match self {
            What::Text(_) => plain,
            What::Records(fields) => Manifest { sources: fields.sources.clone(), ..plain },
        }
    }

    /// How readers find places where text may be cut.
    pub(super) fn analyzer(&self) -> &Analyzer {
        match self {
            What::Text(text) => &text.analyzer,
            // Records are put together again.
            What::Records(_) => &Analyzer::Standard,
        }
    }
}

/// The field that files and lines go into, and how.
pub(super) struct TextField {
    pub(super) field: Field,
    pub(super) analyzer: Analyzer,
    pub(super) postings: Postings,
    /// What is kept of files beside.
    pub(super) files: Option<FileFields>,
    schema: Schema,
}

impl TextField {
    /// That of the index, which what is added must share; of a new one, what is asked for.
    fn choose(current: Option<&Schema>, options: &IndexOptions) -> Result<Self> {
        let refuse = |what: String| {
            Err(Error::Options(format!(
                "the index was built {what}: leave the option out or build another index"
            )))
        };
        let Some(current) = current else {
            let analyzer = options.analyzer.clone().unwrap_or(Analyzer::Standard);
            let postings = options.postings.unwrap_or_default();
            let mut schema = Schema::of_files(analyzer.clone(), postings);
            if options.fields.metadata {
                FileFields::add(&mut schema)?;
            }
            let files = FileFields::of(&schema);
            return Ok(TextField { field: Field::default(), analyzer, postings, files, schema });
        };
        if current.stores() {
            return Err(Error::Options(
                "the index stores fields of documents, which files do not have: add documents to it, or build another index"
                    .into(),
            ));
        }
        let Some((field, analyzer, postings)) = current.text() else {
            return Err(Error::Options(
                "the index has no field 'text' for the text of files: add documents to it, or build another index"
                    .into(),
            ));
        };
        match (&options.analyzer, options.postings) {
            (Some(wanted), _) if wanted != analyzer => refuse(format!(
                "with analyzer {}, what is added needs the same, not {}",
                analyzer.name(),
                wanted.name()
            )),
            (_, Some(wanted)) if wanted != postings => refuse(
                match postings {
                    Postings::Frequencies => "without positions, and what is added needs the same",
                    Postings::Positions => {
                        "with positions and without offsets, and what is added needs the same"
                    }
                    Postings::Offsets => "with offsets, and what is added needs the same",
                    Postings::Documents => "without frequencies, and what is added needs the same",
                }
                .into(),
            ),
            _ => Ok(TextField {
                field,
                analyzer: analyzer.clone(),
                postings,
                files: FileFields::of(current).filter(|_| options.records == Records::File),
                schema: current.clone(),
            }),
        }
    }
}
