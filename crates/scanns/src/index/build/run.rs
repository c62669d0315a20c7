//! Builds an index: collects the inputs, indexes those that are new or changed, merges segments, and commits.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::access_field;
use super::covered::{TextCoverage, covered_before, explain_gone, note, still_unread};
use super::directory::{make_private, prepare_directory, remove_empty_index};
use super::document_source::DocumentSource;
use super::entries;
use super::field_checks::check_fields;
use super::index_threads::{BuildCall, ThreadsReport, index_inputs};
use super::inferred_note::{note_inferred, report_unforeseen};
use super::options::IndexOptions;
use super::rare_fields::RareFields;
use super::record_fields::RecordFields;
use super::record_sample::InputSample;
use super::relocation::relocate_moved;
use super::report::IndexReport;
use super::shard_note::ShardNote;
use super::slice::{BuildSlice, FoundSlice};
use crate::content::ContentOptions;
use crate::error::{Error, Result};
use crate::index::commit::background_merge::BackgroundMerge;
use crate::index::commit::indexed_files::EmptiedRoot;
use crate::index::commit::ledger::{Ledger, LedgerOptions};
use crate::index::commit::manifest::Manifest;
use crate::index::commit::merge_budget::merging_room;
use crate::index::commit::policy_merge::PolicyMerge;
use crate::index::commit::writer::Writer;
use crate::index::named_snapshot::{keep_newest, must_be_new, remove_unfinished};
use crate::index::progress::{Phase, Progress};
use crate::read::StreamSource;
use crate::schema::{Records, Store, Stored};
use crate::source::{Failure, Input, Inputs, SourceOptions, collect};
use crate::store::{Directory, FsDirectory, read_newest};
use crate::sys;

/// Updates the index at `path` to match the inputs, and commits. Creates the index if there is none.
///
/// Files that are in the index and have not changed are skipped. The documents of changed files are replaced.
/// Set `cancel` to stop: the documents indexed so far are committed, and a later build continues from there.
///
/// # Errors
/// Returns an error if a commit is impossible, for example if `path` is neither an index nor an empty
/// directory, another writer is open, or the disk is full. Inputs that cannot be read are not errors; the
/// report lists them.
pub(crate) fn build(
    path: &Path,
    options: &IndexOptions,
    progress: &Progress,
    cancel: &Arc<AtomicBool>,
) -> Result<IndexReport> {
    let begun = Instant::now();
    let created = prepare_directory(path)?;
    if created && options.fields.access {
        make_private(path)?;
    }
    let directory = FsDirectory::new(path);
    let outcome = build_and_keep(path, &directory, BuildCall { options, progress, cancel });
    if created && read_newest(&directory).is_ok_and(|newest| newest.is_none()) {
        remove_empty_index(&directory, path);
    }
    let mut report = outcome?;
    report.seconds = begun.elapsed().as_secs_f64();
    report.peak_rss = sys::peak_resident_bytes().unwrap_or(0);
    Ok(report)
}

/// Builds, and keeps the commit as a named snapshot if the options ask for it.
fn build_and_keep(path: &Path, directory: &FsDirectory, call: BuildCall<'_>) -> Result<IndexReport> {
    let writer = Writer::open(directory)?;
    // A new snapshot needs the place, and then a failure is told.
    let _ = remove_unfinished(path);
    let Some(name) = &call.options.snapshot else { return build_with(&writer, call) };
    must_be_new(path, name)?;
    let mut report = build_with(&writer, call)?;
    if report.cancelled {
        report.snapshot_failure = Some("the build was stopped".into());
        return Ok(report);
    }
    match keep_newest(path, name) {
        Ok(kept) => report.snapshot = Some(kept),
        Err(error) => report.snapshot_failure = Some(error.to_string()),
    }
    Ok(report)
}

/// Like [`build`], in any directory, and without a named snapshot. The report does not contain seconds and
/// memory.
pub(crate) fn build_in(
    directory: &dyn Directory,
    options: &IndexOptions,
    progress: &Progress,
    cancel: &Arc<AtomicBool>,
) -> Result<IndexReport> {
    build_with(&Writer::open(directory)?, BuildCall { options, progress, cancel })
}

/// Builds the index of a slice of a listing in a directory in which only the manifest of the plan is
/// committed. The slice is noted in the index, unless the build is stopped.
pub(crate) fn build_slice(
    directory: &dyn Directory,
    slice: &BuildSlice,
    call: BuildCall<'_>,
) -> Result<IndexReport> {
    let begun = Instant::now();
    let writer = Writer::open(directory)?;
    let mut report = add_and_commit(&writer, call, Some(slice))?;
    if !report.cancelled && report.segments == 0 {
        // Only the note is new.
        writer.commit()?;
    }
    report.seconds = begun.elapsed().as_secs_f64();
    report.peak_rss = sys::peak_resident_bytes().unwrap_or(0);
    Ok(report)
}

/// The manifest of a new index.
pub(super) fn new_manifest(
    source: &DocumentSource,
    records: Records,
    stored: Stored,
    report: &IndexReport,
) -> Manifest {
    let mut manifest = source.manifest(records, stored);
    note_inferred(&mut manifest, report.records.inferred.as_ref());
    manifest
}

fn build_with(writer: &Writer<'_>, call: BuildCall<'_>) -> Result<IndexReport> {
    // Segments written since the last commit belong to no commit. Files that cannot be removed now are
    // removed by the next writer.
    add_and_commit(writer, call, None).inspect_err(|_| writer.roll_back())
}

/// Writes the segments of the inputs and commits them together with the segments of the last commit.
fn add_and_commit(
    writer: &Writer<'_>,
    call: BuildCall<'_>,
    slice: Option<&BuildSlice>,
) -> Result<IndexReport> {
    let BuildCall { options, progress, cancel } = call;
    // Refuse invalid options before the inputs are collected.
    let current = writer.manifest();
    let known = DocumentSource::choose(current.as_ref(), options)?;
    progress.enter(Phase::Walking);
    let status = known.as_ref().is_some_and(DocumentSource::has_files);
    let contents = contents(current.as_ref(), options)?;
    refuse_attributes(known.as_ref(), options, contents)?;
    check_fields(known.as_ref(), options, contents)?;
    match (&known, &options.dump) {
        (Some(source), Some(dump)) => return entries::import(dump, writer, call, source, contents),
        (Some(source), None) if contents.names_only && options.source.is_of_trees() => {
            return scan(writer, call, source, contents);
        }
        _ if options.changes.is_some() => return Err(no_scan()),
        _ => options.scan.refuse(contents.names_only)?,
    }
    let (entries, large_first) = (contents.names_only, !contents.names_only);
    let has_access = known.as_ref().is_some_and(DocumentSource::has_access);
    let access = access_field::covered(writer, &options.source, has_access)?;
    let wanted = SourceOptions { status, access, entries, large_first, ..options.source.clone() };
    let began = sys::now();
    let FoundSlice { inputs, parts, changed } = found_inputs(writer, slice, &wanted, cancel)?;
    inputs.wait_for_clock();
    let covered = TextCoverage::of(&inputs, began);
    let options = &with_stream(options, &inputs)?;
    let call = BuildCall { options, ..call };
    let mut report = IndexReport { changed, ..report_of(&inputs) };
    let sample = &mut || Ok(InputSample::of(&inputs.inputs));
    let source = found_out(known, sample, options, &mut report)?;
    let stored = source.stored(current.as_ref(), options)?;
    writer.describe(|manifest| {
        let manifest = manifest.unwrap_or_else(|| new_manifest(&source, options.records, stored, &report));
        Some(Manifest { records: options.records, csv: source.csv(), stored, contents, ..manifest })
    });
    let (ledger, mut remaining) = Ledger::open(writer, inputs, ledger_options(options, has_access))?;
    if slice.is_some() {
        ledger.leave_out(parts, &mut remaining);
    }
    relocate_moved(&ledger, &source, call, std::mem::take(&mut remaining.moved), &mut report)?;
    (report.unchanged, report.records.restored) = (remaining.unchanged, remaining.restored);
    let unread = still_unread(&covered_before(writer)?, &remaining.inputs);
    report_removed(&ledger, &mut report);
    progress.failures.store(report.failed.len() as u64, Ordering::Relaxed);
    let merging = BackgroundMerge::new(policy_merge(writer, options), ledger.spared());
    let threads = std::thread::scope(|scope| {
        let merger = merging.start(scope)?;
        let threads = index_inputs(call, &ledger, &source, stored, contents, remaining);
        let cancelled = threads.as_ref().is_ok_and(|threads| threads.cancelled);
        report.merge_failure = merger.stop(cancelled || threads.is_err()).map(|error| error.to_string());
        threads
    })?;
    report_threads(threads, &source, &mut report);
    settle(&ledger, options, &mut report)?;
    note(writer, covered.ended(&report.failed, &unread, !report.cancelled))?;
    if let Some(slice) = slice.filter(|_| !report.cancelled) {
        ShardNote::of(slice, &report).note(writer);
    }
    commit(&ledger, progress, &mut report)?;
    if !report.cancelled && report.merge_failure.is_none() && !ledger.spared().is_empty() {
        report.merge_failure = merge_all(&merging, writer, cancel)?;
    }
    (report.bytes_written, report.index_bytes) = (writer.bytes_written(), writer.index_bytes());
    Ok(report)
}

/// Reports files that are gone, and directories that seem to be empty.
fn report_removed(ledger: &Ledger<'_>, report: &mut IndexReport) {
    report.removed_files = ledger.removed().paths.len() as u64;
    report.failed.extend(ledger.removed().emptied.iter().map(emptied));
}

/// Merges segments once the old documents of changed files are deleted, since all may be merged then. Returns
/// why a merge failed, if one did.
fn merge_all(
    merging: &BackgroundMerge<'_>,
    writer: &Writer<'_>,
    cancel: &AtomicBool,
) -> Result<Option<String>> {
    let failure = merging.merge_all(cancel).map(|error| error.to_string());
    if writer.has_changed() {
        writer.commit()?;
    }
    Ok(failure)
}

/// The merges of segments while others are written, if the options have any.
fn policy_merge<'w>(writer: &'w Writer<'_>, options: &IndexOptions) -> Option<PolicyMerge<'w>> {
    options.merge.map(|policy| PolicyMerge {
        writer,
        policy,
        buffers: options.buffers,
        room: merging_room(options.memory),
    })
}

/// Reports what readers and index threads did.
fn report_threads(threads: ThreadsReport, source: &DocumentSource, report: &mut IndexReport) {
    report.cancelled = threads.cancelled;
    report.bytes = threads.read.bytes;
    report.failed.extend(threads.read.failures);
    (report.binary, report.decoded) = (threads.read.binary, threads.read.decoded);
    report.remarks = threads.read.remarks;
    let mut lanes = threads.lanes;
    report.records.add_lanes(source.schema(), &mut lanes);
    report.add_lanes(lanes);
}

/// Scans the trees, or looks where a list of changes says.
fn scan(
    writer: &Writer<'_>,
    call: BuildCall<'_>,
    source: &DocumentSource,
    contents: ContentOptions,
) -> Result<IndexReport> {
    match &call.options.changes {
        Some(changes) => entries::apply_changes(changes, writer, call, source, contents),
        None => entries::scan(writer, call, source, contents),
    }
}

/// Refuses entries without extended attributes and ACLs in an index that has them: a later scan would take
/// them for unchanged.
fn refuse_attributes(
    source: Option<&DocumentSource>,
    options: &IndexOptions,
    contents: ContentOptions,
) -> Result<()> {
    let is_scan = options.dump.is_none() && (!contents.names_only || options.source.is_of_trees());
    let has_attributes = |source: &DocumentSource| RareFields::of(source.schema()).have_attributes();
    if is_scan || !source.is_some_and(has_attributes) {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "a dump or a list of files for an index with extended attributes or ACLs".into(),
        remedy: "scan the directories, or use another index".into(),
    })
}

fn no_scan() -> Error {
    Error::Unsupported {
        what: "a list of changes for an index that no scan of names and metadata made".into(),
        remedy: "scan with --content none first, and give directories, no list of files".into(),
    }
}

/// The contents of documents, with what a sample of the inputs says about it if that is not known.
pub(super) fn found_out(
    known: Option<DocumentSource>,
    sample: &mut dyn FnMut() -> Result<InputSample>,
    options: &IndexOptions,
    report: &mut IndexReport,
) -> Result<DocumentSource> {
    let fields = match known {
        Some(DocumentSource::Records(mut fields)) if !fields.is_sniffed => {
            fields.find_dialect(&sample()?, options);
            fields
        }
        Some(known) => return Ok(known),
        None => {
            let (fields, inferred) = RecordFields::infer(&sample()?, options)?;
            report.records.inferred = Some(inferred);
            fields
        }
    };
    report.records.csv = (options.records == Records::Csv).then(|| fields.csv.clone());
    Ok(DocumentSource::Records(fields))
}

fn ledger_options(options: &IndexOptions, forgets_unread: bool) -> LedgerOptions {
    let IndexOptions { records, again, keep_removed, .. } = options;
    LedgerOptions { records: *records, again: *again, moves: !keep_removed, forgets_unread }
}

/// Deletes the documents of files that are empty now or gone, after all segments were written.
fn settle(ledger: &Ledger<'_>, options: &IndexOptions, report: &mut IndexReport) -> Result<()> {
    report_unforeseen(ledger.writer(), &mut report.records);
    if !report.cancelled {
        ledger.finish(&report.failed)?;
        if !options.keep_removed {
            report.removed = ledger.remove()?;
        }
    }
    if options.records.are_parts() {
        ledger.distrust(&report.failed);
    }
    Ok(())
}

/// Commits, and reports the documents that were replaced.
fn commit(ledger: &Ledger<'_>, progress: &Progress, report: &mut IndexReport) -> Result<()> {
    if ledger.writer().has_changed() {
        progress.enter(Phase::Committing);
        ledger.commit()?;
    }
    report.replaced = ledger.replaced_documents();
    let (doubles, first) = ledger.doubles();
    report.records.add_doubles(doubles, first);
    report.documents = report.documents.saturating_sub(doubles);
    Ok(())
}

/// What becomes of files that are not plain text: as in the index, with which the options must agree.
pub(super) fn contents(current: Option<&Manifest>, options: &IndexOptions) -> Result<ContentOptions> {
    let built = current.filter(|current| !current.segments.is_empty()).map(|current| current.contents);
    let wanted = match &options.dump {
        Some(_) => Some(ContentOptions { names_only: true, ..options.contents.unwrap_or_default() }),
        None => options.contents,
    };
    // Indexes of earlier versions have no records of collections, and leave the rest of them out, too.
    let has_collections = built.is_none_or(|built| built.collections);
    let wanted =
        wanted.map(|wanted| ContentOptions { collections: wanted.collections && has_collections, ..wanted });
    let names_only = wanted.is_some_and(|wanted| wanted.names_only);
    let unsupported =
        |what: &str, remedy: &str| Err(Error::Unsupported { what: what.into(), remedy: remedy.into() });
    if names_only && options.records != Records::File {
        return unsupported(
            "indexing names alone where documents are not files",
            "index files as documents, or index their content",
        );
    }
    if names_only && options.stored.store.is_some_and(|store| store != Store::None) {
        return unsupported("storing text where no file is read", "index the content, or store nothing");
    }
    if names_only && options.fields.metadata == Some(false) {
        return unsupported("an index of neither content nor metadata", "choose one of the two");
    }
    match (wanted, built) {
        (Some(wanted), Some(built)) if wanted != built => Err(Error::Conflict {
            what: "another treatment of the content of files".into(),
            with: "the index".into(),
            remedy: match (wanted.names_only, built.names_only) {
                (false, true) => "the index was built with --content none: give that, or build another index",
                (true, false) => {
                    "the index has the text of files: leave --content none out, or build another index"
                }
                _ => "leave the option to the index, or build another index",
            }
            .into(),
        }),
        // An index without documents keeps its setting, too, unless another is wanted.
        (wanted, _) => Ok(wanted.or(current.map(|current| current.contents)).unwrap_or_default()),
    }
}

/// The report of a build that has collected its inputs.
fn report_of(inputs: &Inputs) -> IndexReport {
    IndexReport {
        failed: inputs.failures.clone(),
        skipped: inputs.skipped,
        unused_globs: inputs.unused_globs.clone(),
        rule_faults: inputs.rule_faults.clone(),
        undecided_access: inputs.undecided.clone(),
        ..IndexReport::default()
    }
}

/// The inputs of a slice, or those that the options name.
fn found_inputs(
    writer: &Writer<'_>,
    slice: Option<&BuildSlice>,
    options: &SourceOptions,
    cancel: &AtomicBool,
) -> Result<FoundSlice> {
    match slice {
        Some(slice) => slice.find(options.status, options.threads, cancel),
        None => Ok(FoundSlice { inputs: inputs_of(writer, options, cancel)?, ..FoundSlice::default() }),
    }
}

/// The inputs of a build, without the files of the index itself.
fn inputs_of(writer: &Writer<'_>, options: &SourceOptions, cancel: &AtomicBool) -> Result<Inputs> {
    let mut inputs = collect(options, cancel)?;
    leave_out_index(writer.directory(), &mut inputs);
    explain_gone(&mut inputs.failures, &covered_before(writer)?);
    refuse_nothing(&inputs.failures, inputs.inputs.is_empty() && inputs.roots.is_empty())?;
    Ok(inputs)
}

/// The options with the source of standard input, if that is an input.
fn with_stream(options: &IndexOptions, inputs: &Inputs) -> Result<IndexOptions> {
    let mut options = options.clone();
    if !inputs.inputs.iter().any(Input::is_stream) {
        return Ok(options);
    }
    if options.records == Records::File {
        return Err(Error::Unsupported {
            what: "standard input as a single document".into(),
            remedy: "index its lines, or its records of JSON or CSV".into(),
        });
    }
    if options.read.stream.is_none() {
        let failed = |source| Error::io("open", Path::new("standard input"), source);
        options.read.stream = Some(Arc::new(StreamSource::standard_input().map_err(failed)?));
    }
    Ok(options)
}

/// Refuses a build without any input if the given paths cannot be read, so that a mistyped path makes no
/// index.
pub(crate) fn refuse_nothing(failures: &[Failure], nothing: bool) -> Result<()> {
    match failures.first().filter(|_| nothing) {
        Some(first) => Err(no_input(first, failures.len() as u64)),
        None => Ok(()),
    }
}

/// There is no input, and the first of `failed` inputs could not be read.
pub(super) fn no_input(first: &Failure, failed: u64) -> Error {
    let others = match failed.saturating_sub(1) {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let what = format!("{}: {}{others}", first.path.display(), first.reason);
    Error::NoInput { what }
}

/// The failure of a directory whose files are all gone.
pub(crate) fn emptied(root: &EmptiedRoot) -> Failure {
    let (files, were, them) = match root.files {
        1 => ("a file of it is".into(), "was", "it"),
        files => (format!("{files} files of it are"), "were", "them"),
    };
    let reason = format!(
        "the directory is empty, but {files} in the index and {were} kept: if its file system is not \
         mounted, mount it and try again, otherwise delete {them} with scanns delete"
    );
    Failure { path: root.path.clone(), reason }
}

/// Excludes the files of the index itself, which may be in a tree that it indexes.
fn leave_out_index(directory: &dyn Directory, inputs: &mut Inputs) {
    let Ok(index) = fs::canonicalize(directory.describe()) else { return };
    // Only a directory of the same name is worth a system call.
    let is_index = |parent: &Path| {
        parent.file_name() == index.file_name()
            && fs::canonicalize(parent).is_ok_and(|parent| parent == index)
    };
    let before = inputs.inputs.len();
    inputs.inputs.retain(|input| !is_index(&input.path) && !input.path.parent().is_some_and(is_index));
    inputs.skipped += (before - inputs.inputs.len()) as u64;
    inputs.bytes = inputs.inputs.iter().map(|input| input.bytes).sum();
}
