//! Globs that include or exclude files and directories.
//!
//! | glob | what it matches |
//! |---|---|
//! | `*.o` | names, and whole paths, as `*` matches slashes, too |
//! | `a/b`, `./a/b` | the ends of paths: `b` in an `a`, at any depth |
//! | `/data/a` | whole paths |
//! | `a/` | directories alone |
//!
//! An excluded directory is left out with everything below it. Files alone are included: a directory `a/`
//! stands for the files below it, and directories that are not excluded are entered.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use globset::{Candidate, Glob, GlobSet, GlobSetBuilder};

use crate::error::{Error, Result};
use crate::source::options::SourceOptions;

/// Compiled globs; each is matched against the whole path and against the last name in it.
pub(super) struct Filter {
    include: UsedGlobs,
    exclude: UsedGlobs,
    /// Globs that match only directories.
    exclude_directories: UsedGlobs,
    skip_hidden: bool,
}

impl Filter {
    pub(super) fn new(options: &SourceOptions) -> Result<Filter> {
        let is_directory = |glob: &&String| glob.len() > 1 && glob.ends_with('/');
        let (directories, names): (Vec<_>, Vec<_>) = options.exclude.iter().partition(is_directory);
        let whole = |glob: &str| glob.trim_end_matches('/').to_owned();
        let below = |glob: &str| match glob.strip_suffix('/') {
            Some(directory) if !directory.is_empty() => format!("{}/**", whole(directory)),
            _ => glob.to_owned(),
        };
        Ok(Filter {
            include: UsedGlobs::new(&options.include.iter().collect::<Vec<_>>(), below)?,
            exclude: UsedGlobs::new(&names, str::to_owned)?,
            exclude_directories: UsedGlobs::new(&directories, whole)?,
            skip_hidden: options.skip_hidden,
        })
    }

    /// True if the file at `path` is to be indexed.
    pub(super) fn takes_file(&self, path: &Path) -> bool {
        self.takes_name(path) && self.includes(path)
    }

    /// True if the file at `path` is to be indexed, unless it is excluded.
    pub(super) fn includes(&self, path: &Path) -> bool {
        self.include.globs.is_empty() || self.include.matches(path)
    }

    /// True if the directory at `path` is to be walked.
    pub(super) fn enters(&self, path: &Path) -> bool {
        self.takes_name(path) && !self.excludes_directory(path)
    }

    /// True if `path` is not excluded, unless it is a directory and directories of this name are.
    pub(super) fn takes_name(&self, path: &Path) -> bool {
        let hidden = || path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
        !(self.skip_hidden && hidden() || self.exclude.matches(path))
    }

    /// True if `path` is excluded if it is a directory.
    pub(super) fn excludes_directory(&self, path: &Path) -> bool {
        self.exclude_directories.matches(path)
    }

    /// The globs that have matched nothing so far.
    pub(super) fn unused(&self) -> Vec<String> {
        let all = [&self.include, &self.exclude, &self.exclude_directories];
        let unused = |globs: &UsedGlobs| {
            let used = globs.used.iter().map(|used| used.load(Ordering::Relaxed));
            let unused = globs.globs.iter().zip(used).filter(|(_, used)| !used);
            unused.map(|(glob, _)| glob.clone()).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(unused).collect()
    }
}

/// Globs, and which of them have matched.
struct UsedGlobs {
    /// As they were written.
    globs: Vec<String>,
    set: GlobSet,
    used: Vec<AtomicBool>,
    /// True if all of them have matched.
    all_used: AtomicBool,
}

impl UsedGlobs {
    /// Compiles globs, which `rewrite` may change.
    fn new(globs: &[&String], rewrite: impl Fn(&str) -> String) -> Result<Self> {
        let mut set = GlobSetBuilder::new();
        for written in globs {
            set.add(Glob::new(&at_ends(&rewrite(written))).map_err(|error| invalid(&error))?);
        }
        Ok(UsedGlobs {
            globs: globs.iter().map(|&glob| glob.clone()).collect(),
            set: set.build().map_err(|error| invalid(&error))?,
            used: globs.iter().map(|_| AtomicBool::new(false)).collect(),
            all_used: AtomicBool::new(globs.is_empty()),
        })
    }

    /// True if one of the globs matches the path or its last name.
    fn matches(&self, path: &Path) -> bool {
        if self.globs.is_empty() {
            return false;
        }
        let candidates = [Some(Candidate::new(path)), path.file_name().map(Candidate::new)];
        let mut candidates = candidates.iter().flatten();
        if self.all_used.load(Ordering::Relaxed) {
            return candidates.any(|candidate| self.set.is_match_candidate(candidate));
        }
        let matching: Vec<usize> =
            candidates.flat_map(|candidate| self.set.matches_candidate(candidate)).collect();
        for used in matching.iter().filter_map(|&at| self.used.get(at)) {
            used.store(true, Ordering::Relaxed);
        }
        if !matching.is_empty() && self.used.iter().all(|used| used.load(Ordering::Relaxed)) {
            self.all_used.store(true, Ordering::Relaxed);
        }
        !matching.is_empty()
    }
}

/// A glob with a slash in it that is no whole path, as one that matches the ends of paths.
fn at_ends(glob: &str) -> String {
    let relative = glob.trim_start_matches("./");
    let is_whole = relative.starts_with(['/', '*']) || relative.starts_with("{/");
    match is_whole || !relative.contains('/') {
        true => relative.to_owned(),
        false => format!("**/{relative}"),
    }
}

fn invalid(error: &globset::Error) -> Error {
    let found = error.glob().map_or("among others".into(), |glob| format!("'{glob}'"));
    Error::invalid("glob", found, format!("a pattern like *.txt or /data/**; {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        let own = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
        let options =
            SourceOptions { include: own(include), exclude: own(exclude), ..SourceOptions::default() };
        Filter::new(&options).unwrap()
    }

    #[test]
    fn globs_with_slashes_match_the_ends_of_paths_and_directories_alone() {
        for (glob, path, directory, file) in [
            ("t/deep", "/x/t/deep", true, true),
            ("./t/deep", "/x/t/deep", true, true),
            ("t/deep", "/x/at/deep", false, false),
            ("t/deep", "/x/t/deeper", false, false),
            ("t/*.o", "/x/t/a.o", true, true),
            ("deep/", "/x/t/deep", true, false),
            ("t/deep/", "/x/t/deep", true, false),
            ("/x/t/", "/x/t", true, false),
            ("/x/t", "/x/t", true, true),
            ("/t", "/x/t", false, false),
            ("*/deep", "/x/deep", true, true),
            ("{a,b}/c", "/x/a/c", true, true),
            ("{/x,/y}/c", "/x/c", true, true),
            ("deep", "/x/deep", true, true),
        ] {
            let filter = filter(&[], &[glob]);
            let path = Path::new(path);
            assert_eq!((!filter.enters(path), !filter.takes_file(path)), (directory, file), "{glob}");
        }
    }

    #[test]
    fn an_included_directory_stands_for_the_files_below_it() {
        for glob in ["deep/", "t/deep/", "/x/t/deep/"] {
            let filter = filter(&[glob], &[]);
            let takes = |path: &str| filter.takes_file(Path::new(path));
            assert!(takes("/x/t/deep/a") && takes("/x/t/deep/b/c") && !takes("/x/t/a"), "{glob}");
        }
    }

    #[test]
    fn globs_that_match_nothing_are_known() {
        let filter = filter(&["*.c"], &["*.o", "none/", "x*", "a/b"]);
        for path in ["/a/b", "/a/f.c", "/a/f.o", "/a/f.o"] {
            filter.takes_file(Path::new(path));
        }
        filter.enters(Path::new("/d"));
        assert_eq!(filter.unused(), ["x*", "none/"]);
    }
}
