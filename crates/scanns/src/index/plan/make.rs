//! Makes a plan: lists the inputs, decides what documents are, slices the listing, and writes the files.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::cuts::{CutRule, FileToCut, FoundCut, find_cuts};
use super::plan_file::{PlanContent, PlanSettings, PlannedShard, ShardPlan};
use super::slicing::{SliceFinder, SliceStart};
use super::write_slices::{SliceBound, SliceBounds};
use crate::content::{ContentOptions, ExtractLimits, HEAD, is_plain};
use crate::error::{Error, Result};
use crate::index::build::describe::{DescribedIndex, describe_new};
use crate::index::build::options::IndexOptions;
use crate::index::build::report::IndexReport;
use crate::index::commit::manifest::Manifest;
use crate::index::commit::sealed_json::directory_of;
use crate::record::{CollectionCuts, CollectionFormat, CsvCuts, contents_of_records};
use crate::schema::Records;
use crate::source::{ListedFile, Skipped, SortedInputs, SourceOptions, Stamp, absolute, nanoseconds};
use crate::store::{FsDirectory, SortSpace, generations};
use crate::sys::ReadFile;

/// What to plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'r> {
    /// The inputs, and what documents are. With [`IndexOptions::dump`], the inputs are the regular files that
    /// the dumps list, as far as the globs choose them; nothing is walked. Files of records larger than
    /// [`ReadOptions::chunk_bytes`](crate::sources::ReadOptions::chunk_bytes) may be cut.
    pub build: &'r IndexOptions,
    /// The limits of the processes that find the text of documents.
    pub limits: ExtractLimits,
    /// The file of the plan, such as `plan.json`.
    pub path: &'r Path,
    /// The directory of the index, in which the shards are published.
    pub index: &'r Path,
    /// The number of shards, at least 1.
    pub shards: u32,
    /// Where and in how much memory the listing is sorted. The plan does not depend on it.
    pub space: &'r SortSpace,
}

/// What was planned.
#[derive(Debug)]
pub struct PlanReport {
    /// The identity of the plan.
    pub id: u128,
    /// True if the same plan was there already, and was left as it is.
    pub is_known: bool,
    /// The shards.
    pub shards: Vec<PlannedShard>,
    /// The number of files of which several shards have parts.
    pub cut_files: u64,
    /// The number of inputs that could not be listed.
    pub failed: u64,
    /// Entries of dumps that are left out though they may be files, by reason.
    pub left_out: Vec<(&'static str, Skipped)>,
    /// What was found while the inputs were listed, with at most the first 10,000 of those that could not be.
    /// Only what concerns the listing is set.
    pub listing: IndexReport,
}

/// Lists the inputs, and writes the plan durably.
///
/// # Errors
/// Options for which there are no plans; an error if the listing cannot be read, no field can be inferred, or
/// a plan with other inputs or options has this name. [`Error::Cancelled`] if `cancel` was set.
pub fn make_plan(request: PlanRequest<'_>, cancel: &AtomicBool) -> Result<PlanReport> {
    let PlanRequest { build, limits, path, index, space, .. } = request;
    check(request)?;
    let output = absolute(index).map_err(|source| Error::io("find", index, source))?;
    let DescribedIndex { manifest, inputs, report: listing, left_out } =
        describe_new(build, &output, space, cancel)?;
    inputs.wait_for_clock();
    let bounds = find_bounds(&inputs, &manifest, request, cancel)?;
    let content = PlanContent {
        index: &path_from(path, &output)?,
        manifest: manifest.encode(),
        settings: PlanSettings {
            owners: build.fields.owners.clone(),
            limits,
            failed: inputs.failed,
            failures: inputs.failures.clone(),
        },
        slices: bounds.write(&inputs, &space.directory, cancel)?,
    };
    let id = content.id()?;
    let is_known = is_known(path, id)?;
    if !is_known {
        content.write(path, id)?;
    }
    let (shards, cut_files) = (content.slices.shards, bounds.cut_files());
    Ok(PlanReport { id, is_known, shards, cut_files, failed: inputs.failed, left_out, listing })
}

/// Refuses what cannot be planned.
fn check(request: PlanRequest<'_>) -> Result<()> {
    let PlanRequest { build, index, shards, .. } = request;
    let unsupported =
        |what: &str, remedy: &str| Err(Error::Unsupported { what: what.into(), remedy: remedy.into() });
    if build.contents.is_some_and(|contents| contents.names_only) {
        return unsupported(
            "a plan for names and metadata alone",
            "listing the files is the whole work then: scan them, or import a dump, into one index with \
             scanns index",
        );
    }
    let SourceOptions { paths, files_from, follow_symlinks, gitignore, .. } = &build.source;
    let walks = !paths.is_empty() || files_from.is_some() || *follow_symlinks || *gitignore;
    if build.dump.is_some() && walks {
        return unsupported(
            "a plan for the files of a dump and of a walk, or with links followed or .gitignore files read",
            "a dump is a whole list: leave the others out, or plan a walk",
        );
    }
    if build.source.paths.iter().any(|path| path.as_os_str() == "-") || build.read.stream.is_some() {
        return unsupported("a plan for standard input", "save it as a file, and plan that");
    }
    if build.changes.is_some() || build.snapshot.is_some() {
        return unsupported("a plan for changes or snapshots", "plan the files themselves");
    }
    if shards == 0 {
        return Err(Error::invalid("number of shards", shards, "1 or more"));
    }
    if generations(&FsDirectory::new(index)).is_ok_and(|found| !found.is_empty()) {
        return Err(Error::Conflict {
            what: format!("planning shards in {}", index.display()),
            with: "the index that is there".into(),
            remedy: "choose another directory for the index of the plan".into(),
        });
    }
    Ok(())
}

/// True if the plan is there already.
fn is_known(path: &Path, id: u128) -> Result<bool> {
    if !path.exists() {
        return Ok(false);
    }
    // A plan that cannot be read is not replaced either.
    if ShardPlan::open(path)?.id() == id {
        return Ok(true);
    }
    Err(Error::Conflict {
        what: "this plan".into(),
        with: format!("{}, which has other inputs or options", path.display()),
        remedy: "give another name, or remove the old plan and its shards".into(),
    })
}

/// The path of the index as it stands in a plan: relative if it is near.
fn path_from(plan: &Path, index: &Path) -> Result<PathBuf> {
    let directory = directory_of(plan);
    let directory = absolute(directory).map_err(|source| Error::io("find", directory, source))?;
    Ok(index.strip_prefix(&directory).unwrap_or(index).to_path_buf())
}

/// How files may be cut; `None` if they may not.
fn cut_rule(manifest: &Manifest) -> Option<CutRule> {
    let records = manifest.records;
    if records.ends_with_lines() {
        return Some(CutRule::Lines);
    }
    if let Some(format) = CollectionFormat::of(records) {
        return Some(CutRule::Records(std::sync::Arc::new(CollectionCuts::new(format))));
    }
    let is_table = records == Records::Csv;
    is_table.then(|| CutRule::Records(std::sync::Arc::new(CsvCuts::new(&manifest.csv))))
}

/// True for a file whose bytes are its text. Other files are decoded from their start.
fn has_plain_text(file: ListedFile<'_>, contents: ContentOptions, build: &IndexOptions) -> bool {
    let mut head = vec![0; HEAD];
    let read = ReadFile::open(file.path).and_then(|file| file.read_at(&mut head, 0));
    let Ok(got) = read else { return false };
    let head = head.get(..got).unwrap_or_default();
    !build.read.tables.is_table(head) && is_plain(head, file.stamp.bytes, contents)
}

/// The bounds of all slices, with cuts where records begin.
fn find_bounds(
    inputs: &SortedInputs,
    manifest: &Manifest,
    request: PlanRequest<'_>,
    cancel: &AtomicBool,
) -> Result<SliceBounds> {
    let PlanRequest { build, shards, .. } = request;
    let rule = cut_rule(manifest);
    let contents = contents_of_records(manifest.contents, manifest.records);
    let mut files: Vec<FileToCut> = Vec::new();
    let mut finder = SliceFinder::new(inputs.count, inputs.bytes, shards);
    let (mut cursor, mut input) = (inputs.read()?, 0);
    while let Some(file) = cursor.next_file()? {
        if input % 4096 == 0 && cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        finder.take(file.path.as_os_str().as_bytes(), file.stamp.bytes, &mut || {
            let may_be_cut = rule.is_some() && file.stamp.bytes > build.read.chunk_bytes;
            // A file of another size than it was listed with stays whole.
            let stamp = may_be_cut.then(|| stamp_of(file.path)).flatten();
            let stamp = stamp.filter(|stamp| stamp.bytes == file.stamp.bytes);
            let stamp = stamp.filter(|_| has_plain_text(file, contents, build));
            let file = |stamp| FileToCut { input, path: file.path.into(), stamp, wanted: Vec::new() };
            files.extend(stamp.map(file));
            stamp.is_some()
        });
        input += 1;
    }
    cut(&finder.finish(), files, inputs.count, |files| match &rule {
        Some(rule) => find_cuts(files, rule, build.source.threads, cancel),
        None => Ok(Vec::new()),
    })
}

/// The size and the time of a file; `None` if it cannot be read.
fn stamp_of(path: &Path) -> Option<Stamp> {
    let meta = std::fs::metadata(path).ok()?;
    Some(Stamp { bytes: meta.len(), modified: nanoseconds(meta.mtime(), meta.mtime_nsec()) })
}

/// The bounds of all slices, with the cuts that `find` finds in files.
fn cut(
    starts: &[SliceStart],
    mut files: Vec<FileToCut>,
    inputs: u64,
    find: impl FnOnce(&[FileToCut]) -> Result<Vec<Vec<Option<FoundCut>>>>,
) -> Result<SliceBounds> {
    for start in starts.iter().filter(|start| start.offset > 0) {
        let known = files.binary_search_by_key(&start.input, |file| file.input);
        if let Some(file) = known.ok().and_then(|at| files.get_mut(at)) {
            file.wanted.push(start.offset);
        }
    }
    files.retain(|file| !file.wanted.is_empty());
    let mut found = find(&files)?.into_iter().flatten();
    let bound = |start: &SliceStart| match start.offset {
        0 => SliceBound { input: start.input, cut: None },
        // Without a record behind it, the rest of the file belongs to the slice before.
        _ => match found.next().flatten() {
            Some(cut) => SliceBound { input: start.input, cut: Some(cut) },
            None => SliceBound { input: start.input + 1, cut: None },
        },
    };
    let inner: Vec<SliceBound> = starts.iter().map(bound).collect();
    let [first, end] = [0, inputs].map(|input| SliceBound { input, cut: None });
    let bounds = [first].into_iter().chain(inner).chain([end]).collect();
    let cut = files.iter().map(|file| (file.input, file.stamp)).collect();
    Ok(SliceBounds { bounds, cut })
}
