//! Trials: builds of the sample with different parameters.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::numbers::float;
use super::profile::Profile;
use super::sample::{Sample, choose};
use crate::error::{Error, Result};
use crate::index::build::options::IndexOptions;
use crate::index::build::run::build_in;
use crate::index::progress::Progress;
use crate::read::Direct;
use crate::source::{Input, SourceOptions};
use crate::store::FsDirectory;
use crate::sys;

/// A directory for the files of a tuner. It is removed when this value is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A new directory in `parent`, which is created if it is missing.
    pub(super) fn within(parent: &Path) -> Result<Scratch> {
        let dir = parent.join(format!("scanns-tune-{}", std::process::id()));
        fs::create_dir_all(&dir).map_err(|source| Error::io("create", &dir, source))?;
        Ok(Scratch(dir))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// An empty directory inside.
    pub(super) fn emptied(&self, name: &str) -> Result<PathBuf> {
        let dir = self.0.join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(|source| Error::io("remove", &dir, source))?;
        }
        fs::create_dir_all(&dir).map_err(|source| Error::io("create", &dir, source))?;
        Ok(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory that cannot be removed does no harm, and its name shows its origin.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The result of one build of the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Seconds until the commit was durable.
    pub seconds: f64,
    /// Bytes of text.
    pub bytes: u64,
    /// Seconds of processor time over all threads.
    pub processor_seconds: f64,
    /// Bytes written.
    pub written: u64,
}

impl Trial {
    /// Returns the bytes of text per second.
    pub fn rate(&self) -> f64 {
        float(self.bytes) / self.seconds
    }
}

/// A sample of inputs that can be indexed any number of times.
#[derive(Debug)]
pub struct Trials {
    scratch: Scratch,
    sample: Sample,
    options: IndexOptions,
    cancel: Arc<AtomicBool>,
}

impl Trials {
    /// Takes a sample of about `wanted` bytes of `inputs`. Copies and trial indexes are written to a
    /// directory inside `scratch`, which is removed when this value is dropped.
    ///
    /// # Errors
    /// [`Error::Io`] if `scratch` cannot be written; [`Error::InvalidValue`] if no input can be read.
    pub fn prepare(
        inputs: &[Input],
        wanted: u64,
        options: &IndexOptions,
        scratch: &Path,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Trials> {
        let scratch = Scratch::within(scratch)?;
        let copies = scratch.emptied("sample")?;
        let sample = Sample::prepare(inputs, &choose(inputs, wanted, options.read.lanes), &copies)?;
        if sample.bytes == 0 {
            let expected = "files that can be read and are not empty";
            return Err(Error::invalid("inputs of tuning", "without text", expected));
        }
        let source = SourceOptions {
            paths: sample.paths.clone(),
            threads: options.source.threads,
            ..SourceOptions::default()
        };
        Ok(Trials {
            scratch,
            sample,
            options: IndexOptions { source, ..options.clone() },
            cancel: Arc::clone(cancel),
        })
    }

    /// Returns the number of bytes of the sample.
    pub fn bytes(&self) -> u64 {
        self.sample.bytes
    }

    /// Returns the number of files of the sample.
    pub fn files(&self) -> usize {
        self.sample.paths.len()
    }

    /// Returns the number of bytes of the sample that are copies of ranges of large files.
    pub fn copied(&self) -> u64 {
        self.sample.copied
    }

    /// Returns true if the sample was found in the page cache and stays there. Otherwise it is evicted before
    /// each trial.
    pub fn cached(&self) -> bool {
        self.sample.cached
    }

    /// The options of the trials, with the parameters before tuning.
    pub(super) fn options(&self) -> &IndexOptions {
        &self.options
    }

    pub(super) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Evicts the sample from the page cache, unless it was found there.
    pub(super) fn forget(&self) {
        if !self.sample.cached {
            self.sample.forget();
        }
    }

    /// True if files of the sample bypass the page cache, with several reads in flight.
    pub(super) fn reads_past_cache(&self) -> Result<bool> {
        Ok(match self.options.read.direct {
            Direct::Never => false,
            Direct::Auto if self.sample.cached => false,
            Direct::Auto | Direct::Always => {
                self.inputs()?.iter().any(|input| input.bytes > self.options.read.block_bytes as u64)
            }
        })
    }

    /// The sample as a list of inputs.
    pub(super) fn inputs(&self) -> Result<Vec<Input>> {
        Ok(crate::source::collect(&self.options.source, &self.cancel)?.inputs)
    }

    /// Builds an index of the sample.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::InvalidValue`] for parameters that do not work; and the errors of a
    /// build.
    pub fn run(&self, profile: &Profile) -> Result<Trial> {
        let directory = self.scratch.emptied("index")?;
        let options = IndexOptions { read: profile.applied_to(&self.options.read), ..self.options.clone() };
        self.forget();
        let (begun, before) = (Instant::now(), sys::process_seconds());
        let report = build_in(&FsDirectory::new(&directory), &options, &Progress::new(), &self.cancel)?;
        if report.cancelled || self.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(Trial {
            seconds: begun.elapsed().as_secs_f64(),
            bytes: report.bytes,
            processor_seconds: sys::process_seconds() - before,
            written: report.bytes_written,
        })
    }
}
