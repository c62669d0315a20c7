//! `scanns duplicates`: files of an index with equal content.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use scanns::files::{
    DuplicateGroup, DuplicateOptions, DuplicateProgress, DuplicateReport, DuplicateWatch, FaultyFiles,
    HashState, find_duplicates,
};
use scanns::{Error, Snapshot};
use serde_json::{Map, Value, json};

use crate::args::{DiffFormatArg, DuplicatesArgs};
use crate::diff::cell;
use crate::indexed_path::{all_in_index, note_not_in_index};
use crate::missing::{AskedPlaces, note_missing};
use crate::output::Output;
use crate::progress::{self, Ticker};
use crate::quoting::quoted;
use crate::report::{self, Outcome, put_bytes};
use crate::{units, whole_file};

/// The most threads without the option. More do not read faster from most disks.
const THREADS: usize = 8;

/// The time between two writes of the hashes.
const KEEP_EVERY: Duration = Duration::from_secs(30);

/// Runs the verb.
pub fn run(args: &DuplicatesArgs) -> Result<Outcome> {
    let stop = progress::stop_flag()?;
    let state = Mutex::new(args.resume.as_deref().map(read_hashes).transpose()?.unwrap_or_default());
    let snapshot = Snapshot::open(&args.index)?;
    let paths = all_in_index(&snapshot, &args.paths);
    let lacks = note_missing(&snapshot, &args.index, AskedPlaces { paths: &paths, depth: None })?;
    let (mut keeper, found) = (HashKeeper::new(args.resume.as_deref()), DuplicateProgress::default());
    let mut writer = GroupWriter { out: Output::stdout(), format: args.format, null: args.null, groups: 0 };
    writer.header()?;
    let mut failed = None;
    let watch = DuplicateWatch {
        progress: &found,
        state: &state,
        stop: &stop,
        tick: &mut |progress, state| keeper.tick(progress, state),
    };
    let result = find_duplicates(&snapshot, &paths, &options(args), watch, &mut |group| {
        writer.write(group).map_err(|error| {
            let kind = error.kind();
            failed = Some(error);
            Error::io("write to", Path::new("standard output"), kind.into())
        })
    });
    keeper.finish(&state)?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let report = result?;
    writer.out.finish()?;
    note_not_in_index(&snapshot, &report.missing);
    Ok(outcome(args, &report, &found).lacking(lacks))
}

fn options(args: &DuplicatesArgs) -> DuplicateOptions {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    DuplicateOptions {
        min_size: args.min_size,
        verify: args.verify,
        threads: args.threads.unwrap_or(processors.min(THREADS)),
        memory: usize::try_from(args.memory).unwrap_or(usize::MAX),
        temporary: args.temporary.clone().unwrap_or_else(std::env::temp_dir),
        keep_hashes: args.resume.is_some(),
    }
}

fn read_hashes(path: &Path) -> Result<HashState> {
    let text = || format!("cannot read the hashes in {}", report::path_text(path));
    match std::fs::read(path) {
        Ok(bytes) => HashState::from_bytes(&bytes).with_context(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(HashState::default()),
        Err(error) => Err(error).with_context(text),
    }
}

/// Shows the progress, and writes hashes now and then.
struct HashKeeper<'a> {
    path: Option<&'a Path>,
    written: Instant,
    ticker: Option<Ticker>,
}

impl<'a> HashKeeper<'a> {
    fn new(path: Option<&'a Path>) -> Self {
        HashKeeper { path, written: Instant::now(), ticker: None }
    }

    fn tick(&mut self, progress: &DuplicateProgress, state: &Mutex<HashState>) {
        let total = progress.total.load(Ordering::Relaxed);
        let ticker = self.ticker.get_or_insert_with(|| Ticker::new("byte").of(Some(total), 0));
        ticker.at(progress.done.load(Ordering::Relaxed));
        if self.written.elapsed() > KEEP_EVERY {
            // The last write reports what is wrong.
            let _ = self.write(state);
            self.written = Instant::now();
        }
    }

    fn finish(&mut self, state: &Mutex<HashState>) -> Result<()> {
        if let Some(ticker) = &mut self.ticker {
            ticker.clear();
        }
        self.write(state)
    }

    fn write(&self, state: &Mutex<HashState>) -> Result<()> {
        let Some(path) = self.path else { return Ok(()) };
        let bytes = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner).to_bytes();
        whole_file::replace(path, &bytes)
            .with_context(|| format!("cannot keep the hashes in {}", report::path_text(path)))
    }
}

/// Says what was found, and what was not compared.
fn outcome(args: &DuplicatesArgs, found: &DuplicateReport, progress: &DuplicateProgress) -> Outcome {
    if found.stopped {
        report::note(match args.resume {
            Some(_) => "stopped; the same command goes on from here",
            None => "stopped; with --resume FILE the next run goes on from there",
        });
        return Outcome::Stopped;
    }
    if found.has_no_sizes {
        report::note(
            "the index has no sizes, which tell files that may be equal: index a dump that has sizes",
        );
        return Outcome::WithFailures;
    }
    report_faulty(&found.unsized_files, "were not compared, because the index does not know their sizes");
    report_faulty(&found.changed, "have changed since they were indexed, or are gone");
    report_faulty(&found.failed, "could not be read");
    if found.collisions > 0 {
        let files = units::counted(found.collisions, "file");
        report::note(&format!("{files} had the hash of others, but not their bytes"));
    }
    let groups = units::counted(found.groups, "group");
    let (files, wasted) = (units::counted(found.files, "file"), units::size(found.wasted));
    let read = units::size(progress.read.load(Ordering::Relaxed));
    let candidates = units::counted(found.candidates, "file");
    report::note(&format!("{groups} of {files}, {wasted} wasted; compared {candidates}, read {read}"));
    let is_whole = found.missing.is_empty() && found.unsized_files.count == 0;
    let is_whole = is_whole && found.changed.count + found.failed.count == 0;
    if is_whole { Outcome::Done } else { Outcome::WithFailures }
}

fn report_faulty(files: &FaultyFiles, what: &str) {
    if files.count == 0 {
        return;
    }
    let reason = if files.reason.is_empty() { String::new() } else { format!(": {}", files.reason) };
    let (count, first) = (units::counted(files.count, "file"), quoted(&files.first).into_owned());
    report::note(&format!("{count} {what}; the first is {first}{reason}"));
}

/// Writes groups to standard output.
struct GroupWriter {
    out: Output,
    format: DiffFormatArg,
    null: bool,
    /// The number of groups that were written.
    groups: u64,
}

impl GroupWriter {
    fn header(&mut self) -> io::Result<()> {
        match self.format {
            DiffFormatArg::Csv => writeln!(self.out, "group,size,file,path"),
            _ => Ok(()),
        }
    }

    fn write(&mut self, group: &DuplicateGroup) -> io::Result<()> {
        self.groups += 1;
        match self.format {
            DiffFormatArg::Lines if self.null => {
                group
                    .files
                    .iter()
                    .flat_map(|file| &file.paths)
                    .try_for_each(|path| self.out.with_nul(path))?;
                self.out.with_nul(b"")
            }
            DiffFormatArg::Lines => self.lines(group),
            DiffFormatArg::Csv => {
                for (number, file) in group.files.iter().enumerate() {
                    for path in &file.paths {
                        write!(self.out, "{},{},{},", self.groups, group.size, number + 1)?;
                        self.out.write_all(&cell(path))?;
                        self.out.write_all(b"\n")?;
                    }
                }
                Ok(())
            }
            DiffFormatArg::Json => self.out.json(&object(group)),
        }
    }

    fn lines(&mut self, group: &DuplicateGroup) -> io::Result<()> {
        let (size, wasted) = (units::size(group.size), units::size(group.wasted()));
        let files = units::counted(group.files.len() as u64, "file");
        writeln!(self.out, "{files} of {size}, {wasted} wasted")?;
        for file in &group.files {
            for (number, path) in file.paths.iter().enumerate() {
                self.out.write_all(if number == 0 { &b"  "[..] } else { b"  = " })?;
                self.out.quoted(path)?;
                self.out.write_all(b"\n")?;
            }
        }
        self.out.write_all(b"\n")
    }
}

/// A group as an object.
fn object(group: &DuplicateGroup) -> Value {
    let path = |path: &[u8]| {
        let mut object = Map::new();
        put_bytes(&mut object, "path", path);
        object
    };
    let files: Vec<Value> = group
        .files
        .iter()
        .filter_map(|file| {
            let (first, links) = file.paths.split_first()?;
            let mut object = path(first);
            if !links.is_empty() {
                object.insert("links".into(), links.iter().map(|link| Value::from(path(link))).collect());
            }
            Some(object.into())
        })
        .collect();
    json!({ "size": group.size, "wasted": group.wasted(), "files": files })
}
