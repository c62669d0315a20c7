//! What the documents of a new index of the inputs would be, and which inputs there are. Nothing is written.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::document_source::DocumentSource;
use super::entries::{ListedDumps, list_dumps};
use super::field_checks::check_fields;
use super::options::IndexOptions;
use super::record_sample::InputSample;
use super::report::IndexReport;
use super::run::{contents, found_out, new_manifest, no_input};
use crate::error::{Error, Result};
use crate::index::commit::manifest::Manifest;
use crate::source::{Skipped, SortedInputs, collect_sorted};
use crate::store::SortSpace;

/// What an index of the inputs would be.
pub(crate) struct DescribedIndex {
    /// Without documents.
    pub(crate) manifest: Manifest,
    pub(crate) inputs: SortedInputs,
    /// What was found while the inputs were listed, with the first of the failures.
    pub(crate) report: IndexReport,
    /// What dumps list that is left out though it may be a file, by reason.
    pub(crate) left_out: Vec<(&'static str, Skipped)>,
}

/// Describes a new index of the contents of the inputs, which are sorted in the given space. If the options
/// have dumps, the inputs are the files that these list. The index at `output`, if it is
/// among the inputs, is left out.
pub(crate) fn describe_new(
    options: &IndexOptions,
    output: &Path,
    space: &SortSpace,
    cancel: &AtomicBool,
) -> Result<DescribedIndex> {
    let dump = options.dump.as_ref();
    // The dumps say which files there are; the index is one of their contents.
    let options = &IndexOptions { dump: None, ..options.clone() };
    let known = DocumentSource::choose(None, options)?;
    if options.fields.access {
        return Err(Error::Unsupported {
            what: "a plan for an index with access classes".into(),
            remedy: "build the index with scanns index, or leave the classes out".into(),
        });
    }
    let contents = contents(None, options)?;
    check_fields(known.as_ref(), options, contents)?;
    options.scan.refuse(contents.names_only)?;
    let source = &options.source;
    let ListedDumps { inputs, dumps, left_out } = match dump {
        Some(dump) => list_dumps(dump, source, output, space, cancel)?,
        None => ListedDumps::none_but(collect_sorted(source, output, space, cancel)?),
    };
    if let Some(first) =
        inputs.failures.first().filter(|_| inputs.count == 0 && !inputs.has_roots && dump.is_none())
    {
        return Err(no_input(first, inputs.failed));
    }
    let mut report = IndexReport {
        failed: inputs.failures.clone(),
        skipped: inputs.skipped,
        unused_globs: inputs.unused_globs.clone(),
        rule_faults: inputs.rule_faults.clone(),
        dumps,
        ..IndexReport::default()
    };
    let source = found_out(known, &mut || InputSample::of_sorted(&inputs), options, &mut report)?;
    let stored = source.stored(None, options)?;
    let manifest = new_manifest(&source, options.records, stored, &report);
    let manifest = Manifest { records: options.records, csv: source.csv(), stored, contents, ..manifest };
    Ok(DescribedIndex { manifest, inputs, report, left_out })
}
