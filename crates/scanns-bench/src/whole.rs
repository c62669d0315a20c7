//! Whole builds for the experiments on media, buffers and flushing. Each build goes into its own directory,
//! which is removed afterwards, and is verified before its figures are used. The cache is cold if the
//! experiment asks for that.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use scanns::index::{IndexOptions, IndexReport, Progress};
use scanns::schema::{Analyzer, Compression, Postings, Records, Store};
use scanns::sources::{Input, ReadOptions, SourceOptions};
use scanns::store::FsDirectory;
use scanns::writer::{FlushBuffers, StoredOptions};
use scanns::{Index, Snapshot};

/// What to build.
#[derive(Clone, Debug)]
pub struct Job {
    /// Files and trees.
    pub paths: Vec<PathBuf>,
    /// True if each line is a document, not each file.
    pub lines: bool,
    /// True if positions, and the text and vectors of documents, are kept too.
    pub full: bool,
    /// If the text of documents is kept in any case: how it is compressed.
    pub compression: Option<Compression>,
    /// The name of the analyzer.
    pub analyzer: String,
    /// Index threads.
    pub threads: usize,
    /// Bytes of memory of a thread's first segments.
    pub segment_memory: u64,
    /// How to read; the number of lanes is the number of threads.
    pub read: ReadOptions,
    /// Sizes of the buffers through which segments are written.
    pub buffers: FlushBuffers,
    /// Bytes after which the kernel is told to write back; the default if `None`.
    pub write_back: Option<u64>,
}

impl Job {
    /// The defaults of the library for `paths`.
    pub fn on(paths: Vec<PathBuf>, threads: usize) -> Self {
        Job {
            paths,
            lines: false,
            full: false,
            compression: None,
            analyzer: "paths".into(),
            threads,
            segment_memory: scanns::writer::SEGMENT_MEMORY,
            read: ReadOptions::default(),
            buffers: FlushBuffers::default(),
            write_back: None,
        }
    }
}

/// Creates a directory for an index below `place`. It is removed when it is dropped.
pub fn room(place: &Path) -> Result<tempfile::TempDir> {
    std::fs::create_dir_all(place).with_context(|| format!("cannot create {}", place.display()))?;
    let made = tempfile::Builder::new().prefix("scanns-bench-").suffix(".scanns").tempdir_in(place);
    made.with_context(|| format!("cannot create a directory in {}", place.display()))
}

/// Builds into the empty directory `out`, and verifies that the commit can be opened and is complete.
pub fn build(job: &Job, out: &Path, progress: &Progress) -> Result<IndexReport> {
    let options = IndexOptions {
        source: SourceOptions { paths: job.paths.clone(), threads: job.threads, ..SourceOptions::default() },
        read: ReadOptions { lanes: job.threads, ..job.read.clone() },
        records: if job.lines { Records::Lines } else { Records::File },
        fields: scanns::sources::FieldOptions { metadata: Some(false), ..Default::default() },
        analyzer: Some(Analyzer::parse(&job.analyzer)?),
        postings: job.full.then_some(Postings::Positions),
        stored: StoredOptions {
            store: (job.full || job.compression.is_some()).then_some(Store::Content),
            compression: job.compression,
            vectors: job.full.then_some(true),
        },
        memory: 8 << 30,
        segment_memory: Some(job.segment_memory),
        buffers: job.buffers,
        merge: None,
        commit_every: None,
        ..IndexOptions::default()
    };
    let mut directory = FsDirectory::new(out);
    if let Some(bytes) = job.write_back {
        directory = directory.with_write_back(bytes);
    }
    let begin = std::time::Instant::now();
    let mut report = Index::in_directory(Arc::new(directory)).build(
        &options,
        progress,
        &Arc::new(AtomicBool::new(false)),
    )?;
    report.seconds = begin.elapsed().as_secs_f64();
    anyhow::ensure!(report.failed.is_empty(), "{} inputs failed", report.failed.len());
    let info = Snapshot::open(out)?.info();
    anyhow::ensure!(
        (info.documents, info.tokens) == (report.documents, report.tokens),
        "the index has {} documents and {} tokens, but {} and {} were indexed",
        info.documents,
        info.tokens,
        report.documents,
        report.tokens
    );
    Ok(report)
}

/// Documents, tokens and bytes, on which all builds of an input must agree.
#[derive(Debug, Default)]
pub struct Agreed(Option<(u64, u64, u64)>);

impl Agreed {
    /// Compares a build with the first one.
    pub fn check(&mut self, report: &IndexReport) -> Result<()> {
        let found = (report.documents, report.tokens, report.bytes);
        let expected = *self.0.get_or_insert(found);
        anyhow::ensure!(
            found == expected,
            "(documents, tokens, bytes) are {found:?}, not {expected:?} as in the first build"
        );
        Ok(())
    }
}

/// The files at `path`: up to `most` MiB of them, but at least one.
pub fn inputs(path: &Path, most: Option<u64>) -> Result<Vec<Input>> {
    let source = SourceOptions { paths: vec![path.to_path_buf()], ..SourceOptions::default() };
    let mut inputs = scanns::sources::collect(&source, &AtomicBool::new(false))?.inputs;
    anyhow::ensure!(!inputs.is_empty(), "there is no file at {}", path.display());
    let mut left = most.map_or(u64::MAX, |mib| mib << 20);
    let mut take = 0;
    while inputs.get(take).is_some_and(|input| take == 0 || input.bytes <= left) {
        left = left.saturating_sub(inputs[take].bytes);
        take += 1;
    }
    inputs.truncate(take);
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_checked_and_goes_away_and_others_must_agree_with_it() {
        let place = tempfile::tempdir().unwrap();
        let source = place.path().join("in");
        std::fs::create_dir(&source).unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(source.join(name), "x y\n".repeat(300_000)).unwrap();
        }
        assert_eq!(inputs(&source, Some(0)).unwrap().len(), 1);
        assert_eq!(inputs(&source, Some(3)).unwrap().len(), 2);
        let files = inputs(&source, None).unwrap();
        scanns_bench::cache::cool(files.iter().map(|input| input.path.as_path())).unwrap();
        let room = room(place.path()).unwrap();
        let report = build(&Job::on(vec![source], 2), room.path(), &Progress::new()).unwrap();
        assert_eq!((report.documents, report.tokens), (3, 1_800_000));
        let mut agreed = Agreed::default();
        agreed.check(&report).unwrap();
        agreed.check(&report).unwrap();
        assert!(agreed.check(&IndexReport::default()).is_err());
        drop(room);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
