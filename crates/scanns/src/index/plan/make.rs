//! Makes a plan: lists the inputs, decides what documents are, slices the listing, and writes the files.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::cuts::{CutRule, FileToCut, FoundCut, find_cuts};
use super::plan_file::{PlanContent, PlanSettings, PlannedShard, ShardPlan, SlicePlace, shard_name};
use super::slice_codec::encode_slice;
use super::slicing::{SliceStart, slice_starts};
use crate::content::{ContentOptions, ExtractLimits, HEAD, is_plain};
use crate::error::{Error, Result};
use crate::index::build::options::IndexOptions;
use crate::index::build::report::IndexReport;
use crate::index::build::run::describe_new;
use crate::index::build::slice::{Extent, SliceInput};
use crate::index::commit::manifest::Manifest;
use crate::index::commit::sealed_json::directory_of;
use crate::index::coverage::some_of;
use crate::read::PieceStart;
use crate::record::{CollectionCuts, CollectionFormat, CsvCuts, contents_of_records};
use crate::schema::Records;
use crate::source::{Input, absolute};
use crate::store::{FsDirectory, generations};
use crate::sys::ReadFile;

/// What to plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'r> {
    /// The inputs, and what documents are. Files of records larger than
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
    /// What was found while the inputs were listed. Only what concerns the listing is set.
    pub listing: IndexReport,
}

/// Lists the inputs, and writes the plan durably.
///
/// # Errors
/// Options for which there are no plans; an error if the listing cannot be read, no field can be inferred, or
/// a plan with other inputs or options has this name. [`Error::Cancelled`] if `cancel` was set.
pub fn make_plan(request: PlanRequest<'_>, cancel: &AtomicBool) -> Result<PlanReport> {
    let PlanRequest { build, limits, path, index, shards } = request;
    check(request)?;
    let output = absolute(index).map_err(|source| Error::io("find", index, source))?;
    let (manifest, found, listing) = describe_new(build, &output, cancel)?;
    found.wait_for_clock();
    let inputs = &found.inputs;
    let rule = cut_rule(&manifest);
    let contents = contents_of_records(manifest.contents, manifest.records);
    let mut may_cut = |input: &Input| {
        rule.is_some() && input.bytes > build.read.chunk_bytes && has_plain_text(input, contents, build)
    };
    let starts = slice_starts(inputs, shards, &mut may_cut);
    let threads = build.source.threads;
    let bounds = cut(inputs, &starts, rule.as_ref(), threads, cancel)?;
    let cut_files = bounds.windows(2).filter(|pair| matches!(pair, [one, other] if one.begins_anew(other)));
    let cut_files = cut_files.count() as u64;
    let slices = Slices { inputs, bounds: &bounds };
    let (failures, failed) = some_of(listing.failed.iter());
    let content = PlanContent {
        index: &path_from(path, &output)?,
        manifest: manifest.encode(),
        settings: PlanSettings { owners: build.fields.owners.clone(), limits, failed, failures },
        shards: slices.shards(),
        slice: &|number, out| encode_slice(slices.of(number).collect::<Vec<_>>().iter(), out),
    };
    let id = content.id();
    let is_known = is_known(path, id)?;
    if !is_known {
        content.write(path, id)?;
    }
    Ok(PlanReport { id, is_known, shards: content.shards, cut_files, listing })
}

/// Refuses what cannot be planned.
fn check(request: PlanRequest<'_>) -> Result<()> {
    let PlanRequest { build, index, shards, .. } = request;
    let unsupported =
        |what: &str, remedy: &str| Err(Error::Unsupported { what: what.into(), remedy: remedy.into() });
    if build.contents.is_some_and(|contents| contents.names_only) || build.dump.is_some() {
        return unsupported(
            "a plan for names and metadata alone",
            "listing the files is the whole work then: scan them, or import the dump, into one index",
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
fn has_plain_text(input: &Input, contents: ContentOptions, build: &IndexOptions) -> bool {
    let mut head = vec![0; HEAD];
    let read = ReadFile::open(&input.path).and_then(|file| file.read_at(&mut head, 0));
    let Ok(got) = read else { return false };
    let head = head.get(..got).unwrap_or_default();
    !build.read.tables.is_table(head) && is_plain(head, input.bytes, contents)
}

/// Where a slice begins: at an input, or at a cut in it.
#[derive(Clone, Debug)]
struct Bound {
    input: usize,
    cut: Option<FoundCut>,
}

impl Bound {
    /// True if `next` is the first cut of another file.
    fn begins_anew(&self, next: &Bound) -> bool {
        next.cut.is_some() && (self.input != next.input || self.cut.is_none())
    }

    fn at(&self) -> u64 {
        self.cut.as_ref().map_or(0, |cut| cut.at)
    }
}

/// The bounds of all slices, from the first to the end of the last, with cuts where records begin.
fn cut(
    inputs: &[Input],
    starts: &[SliceStart],
    rule: Option<&CutRule>,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Vec<Bound>> {
    let mut files: Vec<FileToCut<'_>> = Vec::new();
    for start in starts.iter().filter(|start| start.offset > 0) {
        match (files.last_mut(), inputs.get(start.input)) {
            (Some(last), _) if last.input == start.input => last.wanted.push(start.offset),
            (_, Some(Input { path, bytes, .. })) => {
                let wanted = vec![start.offset];
                files.push(FileToCut { input: start.input, path, bytes: *bytes, wanted });
            }
            (_, None) => {}
        }
    }
    let found = rule.map(|rule| find_cuts(&files, rule, threads, cancel)).transpose()?;
    let mut found = found.unwrap_or_default().into_iter().flatten();
    let first = Bound { input: 0, cut: None };
    let bound = |start: &SliceStart| match start.offset {
        0 => Bound { input: start.input, cut: None },
        // Without a record behind it, the rest of the file belongs to the slice before.
        _ => match found.next().flatten() {
            Some(cut) => Bound { input: start.input, cut: Some(cut) },
            None => Bound { input: start.input + 1, cut: None },
        },
    };
    let end = Bound { input: inputs.len(), cut: None };
    let inner: Vec<Bound> = starts.iter().map(bound).collect();
    Ok([first].into_iter().chain(inner).chain([end]).collect())
}

/// The slices of a listing.
struct Slices<'s> {
    inputs: &'s [Input],
    /// One more than there are slices.
    bounds: &'s [Bound],
}

impl Slices<'_> {
    /// The inputs of a slice.
    fn of(&self, number: usize) -> impl Iterator<Item = SliceInput> {
        let bound = |number: usize| self.bounds.get(number);
        let ends = bound(number).zip(bound(number + 1));
        let range = ends.map_or(0..0, |(from, to)| from.input..to.input + usize::from(to.cut.is_some()));
        let part = move |number: usize| {
            let ((from, to), input) = (ends?, self.inputs.get(number)?);
            let cut = from.cut.as_ref().filter(|_| number == from.input);
            let start = cut.map_or(0, |cut| cut.at);
            let end = if number == to.input && to.cut.is_some() { to.at() } else { input.bytes };
            let whole = start == 0 && end == input.bytes;
            let none = || PieceStart { head: [].into(), records: 0, lines: 0, credit: 0 };
            let extent =
                (!whole).then(|| Extent { start, end, at: cut.map_or_else(none, |cut| cut.start.clone()) });
            let is_empty = extent.as_ref().is_some_and(|extent| extent.start >= extent.end);
            (!is_empty).then(|| SliceInput { path: input.path.clone(), stamp: input.stamp(), extent })
        };
        range.filter_map(part)
    }

    fn shards(&self) -> Vec<PlannedShard> {
        let mut offset = 0;
        let shard = |number: usize| {
            let mut slice = Vec::new();
            let inputs: Vec<SliceInput> = self.of(number).collect();
            encode_slice(inputs.iter(), &mut slice);
            let place = SlicePlace { offset, length: slice.len() as u64 };
            offset += place.length;
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            PlannedShard {
                number,
                name: shard_name(number),
                inputs: inputs.len() as u64,
                files: inputs.iter().filter(|input| input.ends_file()).count() as u64,
                bytes: inputs.iter().map(SliceInput::bytes).sum(),
                place,
            }
        };
        (0..self.bounds.len().saturating_sub(1)).map(shard).collect()
    }
}
