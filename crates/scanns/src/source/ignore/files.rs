//! The files of rules in a directory: `.gitignore`, and `info/exclude` of a repository.
//!
//! Files are read up to 1 MiB; a larger one is not used. As in git, links with the name `.gitignore` are not
//! followed. `.git` is a directory, or for worktrees and submodules a file that names one.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::source::ignore::faults::{DamagedPattern, IgnoreFaults};
use crate::source::ignore::list::{DamagedLine, IgnoreList};

/// The size of the largest file that is used, in bytes.
const LARGEST: u64 = 1 << 20;

/// The text of a file of patterns.
#[derive(Debug)]
pub(super) struct RuleFile {
    pub(super) path: PathBuf,
    pub(super) text: Vec<u8>,
}

/// The files of a directory.
#[derive(Debug, Default)]
pub struct RuleFiles {
    pub(super) gitignore: Option<RuleFile>,
    /// Whether it is the root of a repository.
    pub(super) is_root: bool,
    pub(super) exclude: Option<RuleFile>,
}

/// Which names a listing of a directory has. Other files are not looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleNames {
    gitignore: bool,
    git: bool,
}

impl RuleNames {
    /// For a directory that was not listed.
    pub const UNKNOWN: RuleNames = RuleNames { gitignore: true, git: true };

    /// Notes a name of the listing.
    #[inline]
    pub fn see(&mut self, name: &[u8]) {
        self.gitignore |= name == b".gitignore";
        self.git |= name == b".git";
    }

    /// True if the directory may have rules.
    pub fn any(self) -> bool {
        self.gitignore || self.git
    }
}

impl RuleFiles {
    /// Reads the files of a directory by its path.
    pub fn read(directory: &Path, names: RuleNames, faults: &mut IgnoreFaults) -> RuleFiles {
        RuleFiles::read_at(CWD, directory, directory, names, faults)
    }

    /// Reads the files of an open directory, whose path is `named`.
    pub fn read_in(open: impl AsFd, named: &Path, names: RuleNames, faults: &mut IgnoreFaults) -> RuleFiles {
        RuleFiles::read_at(open, Path::new(""), named, names, faults)
    }

    fn read_at(
        at: impl AsFd,
        path: &Path,
        named: &Path,
        names: RuleNames,
        faults: &mut IgnoreFaults,
    ) -> RuleFiles {
        let name = ".gitignore";
        let gitignore = names.gitignore.then(|| read_whole(&at, &path.join(name), OFlags::NOFOLLOW));
        let gitignore = gitignore.and_then(io::Result::transpose);
        let gitignore = gitignore.and_then(|text| taken(text, named.join(name), faults));
        let git = || rustix::fs::statat(&at, path.join(".git"), AtFlags::SYMLINK_NOFOLLOW).ok();
        let Some(git) = names.git.then(git).flatten() else {
            return RuleFiles { gitignore, ..RuleFiles::default() };
        };
        let is_file = FileType::from_raw_mode(git.st_mode) == FileType::RegularFile;
        let git = if is_file { linked(named) } else { Some(named.join(".git")) };
        let exclude = git.and_then(|git| RuleFile::of_path(&git.join("info/exclude"), faults));
        RuleFiles { gitignore, is_root: true, exclude }
    }

    /// True if nothing in the directory changes the rules.
    pub fn is_empty(&self) -> bool {
        !self.is_root && self.gitignore.is_none()
    }

    /// True if a directory is the root of a repository.
    pub(super) fn is_repository(directory: &Path) -> bool {
        directory.join(".git").symlink_metadata().is_ok()
    }
}

impl RuleFile {
    /// Reads a file, if it exists. Links are followed.
    pub(super) fn of_path(path: &Path, faults: &mut IgnoreFaults) -> Option<RuleFile> {
        let text = read_whole(CWD, path, OFlags::empty()).transpose()?;
        taken(text, path.to_path_buf(), faults)
    }

    /// Its patterns. Those that are damaged are counted and left out.
    pub(super) fn patterns(self, faults: &mut IgnoreFaults) -> Arc<IgnoreList> {
        let mut list = IgnoreList::new(&self.text);
        faults.damaged += list.damaged;
        if let Some(DamagedLine { number: line, text, reason }) = list.first_damaged.take() {
            let damaged = || DamagedPattern { file: self.path, line, text, reason };
            faults.first_damaged.get_or_insert_with(damaged);
        }
        Arc::new(list)
    }
}

/// The directory that a file `.git` names, with what all worktrees of a repository share.
fn linked(directory: &Path) -> Option<PathBuf> {
    let text = read_whole(CWD, &directory.join(".git"), OFlags::NOFOLLOW).ok()??;
    let git = directory.join(path_in(text.strip_prefix(b"gitdir:")?));
    match read_whole(CWD, &git.join("commondir"), OFlags::empty()) {
        Ok(Some(common)) => Some(git.join(path_in(&common))),
        _ => Some(git),
    }
}

fn path_in(text: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(text.trim_ascii()))
}

fn taken(text: io::Result<Vec<u8>>, path: PathBuf, faults: &mut IgnoreFaults) -> Option<RuleFile> {
    match text {
        Ok(text) => Some(RuleFile { path, text }),
        Err(error) => {
            faults.add_unread(&path, &error);
            None
        }
    }
}

/// Reads a regular file; `None` if there is none.
pub(super) fn read_whole(at: impl AsFd, path: &Path, more: OFlags) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | more;
    let opened = rustix::io::retry_on_intr(|| rustix::fs::openat(&at, path, flags, Mode::empty()));
    let file = match opened {
        Ok(opened) => File::from(opened),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let status = file.metadata()?;
    if !status.is_file() {
        return Ok(None);
    }
    let mut text = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    Ok(Some(text))
}
