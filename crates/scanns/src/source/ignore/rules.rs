//! The files of patterns that apply in a directory, nearest first.
//!
//! | order | file | paths are relative to |
//! |---|---|---|
//! | 1 | `.gitignore` of the directory, then those of the directories above it | the file's directory |
//! | 2 | `.git/info/exclude` | the root of the repository |
//! | 3 | the user's file | the root of the repository |
//!
//! The first of them with a pattern that matches decides. Files above the root of a repository do not apply
//! in it. Outside of repositories, the directory from which the walk starts takes the place of the root. An
//! entry is not compared with what is above it: the walk does not enter an ignored directory.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use crate::source::ignore::faults::IgnoreFaults;
use crate::source::ignore::files::{RuleFile, RuleFiles, RuleNames};
use crate::source::ignore::list::IgnoreList;
use crate::source::ignore::user::UserRules;

/// The rules of a directory. Copies are cheap, and directories without files of their own share those of the
/// directory above.
#[derive(Clone, Debug)]
pub struct IgnoreRules {
    nearest: Option<Arc<RuleLevel>>,
    user: Option<Arc<IgnoreList>>,
}

/// The patterns of one file, and the files that come after it.
#[derive(Debug)]
struct RuleLevel {
    list: Arc<IgnoreList>,
    place: RulePlace,
    next: Option<Arc<RuleLevel>>,
}

/// How the path of an entry becomes one below the directory of a file.
#[derive(Clone, Debug)]
struct RulePlace {
    /// The number of bytes that are removed at the start.
    cut: usize,
    /// What takes their place, if the walk starts below that directory.
    before: Box<[u8]>,
}

impl RulePlace {
    fn at(directory: &Path) -> RulePlace {
        RulePlace { cut: length_with_slash(directory), before: Box::default() }
    }

    fn relative<'p>(&self, path: &'p [u8]) -> Cow<'p, [u8]> {
        let rest = path.get(self.cut..).unwrap_or_default();
        if self.before.is_empty() { Cow::Borrowed(rest) } else { Cow::Owned([&self.before, rest].concat()) }
    }
}

impl IgnoreRules {
    /// The rules that apply to a directory from which a walk starts: those of the directories above it, as
    /// far as they are in the same repository, and the user's. Call [`IgnoreRules::enter`] for it, too.
    ///
    /// Entries will have paths that begin with `start`. The directories above it are found without links.
    pub fn above(start: &Path, user: &UserRules, faults: &mut IgnoreFaults) -> IgnoreRules {
        let mut rules = IgnoreRules { nearest: None, user: user.list.clone() };
        let real = start.canonicalize().unwrap_or_else(|_| start.to_path_buf());
        let above = real.ancestors().skip(1);
        let repository = above.clone().find(|directory| RuleFiles::is_repository(directory));
        let Some(repository) = repository else {
            rules.begin(RulePlace::at(start), None, faults);
            return rules;
        };
        let mut directories: Vec<_> = above.take_while(|above| above.starts_with(repository)).collect();
        directories.reverse();
        for directory in directories {
            let below = real.strip_prefix(directory).unwrap_or(Path::new("")).as_os_str().as_bytes();
            let place = RulePlace { cut: length_with_slash(start), before: [below, b"/"].concat().into() };
            let files = RuleFiles::read(directory, RuleNames::UNKNOWN, faults);
            rules = rules.with(files, place, faults);
        }
        rules
    }

    /// The rules in a directory whose path is `directory`, with the files that were found in it.
    pub fn enter(&self, directory: &Path, files: RuleFiles, faults: &mut IgnoreFaults) -> IgnoreRules {
        if files.is_empty() {
            return self.clone();
        }
        self.clone().with(files, RulePlace::at(directory), faults)
    }

    /// True if the walk leaves an entry out, with everything below it. The path begins with the path of
    /// the directory that was entered, and a link is no directory.
    pub fn is_ignored(&self, path: &[u8], is_dir: bool) -> bool {
        if path.ends_with(b"/.git") {
            return true;
        }
        let mut next = self.nearest.as_deref();
        while let Some(level) = next {
            if let Some(ignores) = level.list.ignores(&level.place.relative(path), is_dir) {
                return ignores;
            }
            next = level.next.as_deref();
        }
        false
    }

    fn with(mut self, files: RuleFiles, place: RulePlace, faults: &mut IgnoreFaults) -> IgnoreRules {
        if files.is_root {
            self.begin(place.clone(), files.exclude, faults);
        }
        if let Some(file) = files.gitignore {
            self.push(file.patterns(faults), place);
        }
        self
    }

    /// Starts at the root of a repository, or outside of one.
    fn begin(&mut self, place: RulePlace, exclude: Option<RuleFile>, faults: &mut IgnoreFaults) {
        self.nearest = None;
        if let Some(user) = self.user.clone() {
            self.push(user, place.clone());
        }
        if let Some(file) = exclude {
            self.push(file.patterns(faults), place);
        }
    }

    fn push(&mut self, list: Arc<IgnoreList>, place: RulePlace) {
        if !list.is_empty() {
            self.nearest = Some(Arc::new(RuleLevel { list, place, next: self.nearest.take() }));
        }
    }
}

impl Drop for RuleLevel {
    /// Drops the levels one by one: a recursion could exhaust the stack, as trees may be very deep.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut level) = next.and_then(Arc::into_inner) {
            next = level.next.take();
        }
    }
}

fn length_with_slash(directory: &Path) -> usize {
    let path = directory.as_os_str();
    path.len() + usize::from(!path.as_bytes().ends_with(b"/"))
}
