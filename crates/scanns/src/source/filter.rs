//! Globs that include or exclude files and directories.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{Candidate, Glob, GlobSet, GlobSetBuilder};

use crate::error::{Error, Result};
use crate::source::options::SourceOptions;

/// Compiled globs; each is matched against the whole path and against the last name in it.
pub(super) struct Filter {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
    skip_hidden: bool,
}

impl Filter {
    pub(super) fn new(options: &SourceOptions) -> Result<Filter> {
        Ok(Filter {
            include: compile(&options.include)?,
            exclude: compile(&options.exclude)?,
            skip_hidden: options.skip_hidden,
        })
    }

    /// True if the file at `path` is to be indexed.
    pub(super) fn takes_file(&self, path: &Path) -> bool {
        self.enters(path) && self.include.as_ref().is_none_or(|set| matches(set, path))
    }

    /// True if the directory at `path` is to be walked.
    pub(super) fn enters(&self, path: &Path) -> bool {
        let hidden = || path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
        let excluded =
            self.skip_hidden && hidden() || self.exclude.as_ref().is_some_and(|set| matches(set, path));
        !excluded
    }
}

fn matches(set: &GlobSet, path: &Path) -> bool {
    set.is_match_candidate(&Candidate::new(path))
        || path.file_name().is_some_and(|name| set.is_match_candidate(&Candidate::new(name)))
}

fn compile(globs: &[String]) -> Result<Option<GlobSet>> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob).map_err(|error| invalid(&error))?);
    }
    Ok(Some(set.build().map_err(|error| invalid(&error))?))
}

fn invalid(error: &globset::Error) -> Error {
    let found = error.glob().map_or("among others".into(), |glob| format!("'{glob}'"));
    Error::invalid("glob", found, format!("a pattern like *.txt or /data/**; {}", error.kind()))
}
