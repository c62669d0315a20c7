//! A few of the files that a build would read, to find out what they are.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::absolute::absolute;
use super::filter::Filter;
use super::ignore::{IgnoreFaults, IgnoreRules, RuleFiles, RuleNames, UserRules};
use super::options::SourceOptions;
use crate::error::Result;

/// The number of files and of directories that are listed at most.
const MOST_LISTED: usize = 4096;

/// Files of the inputs of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSample {
    /// The chosen files, evenly from all that were listed.
    pub files: Vec<PathBuf>,
    /// The number of files that were listed.
    pub listed: usize,
    /// True if no other file is an input.
    pub is_all: bool,
    /// True if at least one directory was listed.
    pub has_directories: bool,
}

/// Chooses at most `most` of the regular files at the paths of `options` and in the directories there, the
/// upper directories first. The globs hold as in [`collect`](super::collect). At most 4,096 files and as many
/// directories are listed. What cannot be read is left out, without a message.
///
/// # Errors
/// Invalid globs.
pub fn sample_files(options: &SourceOptions, most: usize) -> Result<FileSample> {
    let filter = Filter::new(options)?;
    let mut listing = Listing::default();
    let user = options.gitignore.then(|| UserRules::of_process(&mut IgnoreFaults::default()));
    for path in &options.paths {
        let Ok(path) = absolute(path) else { continue };
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                let rules = user.as_ref();
                let rules = rules.map(|user| IgnoreRules::above(&path, user, &mut IgnoreFaults::default()));
                listing.directories.push_back((path, rules));
            }
            Ok(metadata) if metadata.is_file() => listing.files.push(path),
            _ => {}
        }
    }
    let has_directories = !listing.directories.is_empty();
    let mut read = 0;
    while let Some((directory, rules)) = listing.directories.pop_front() {
        if read == MOST_LISTED || listing.files.len() >= MOST_LISTED {
            listing.is_cut = true;
            break;
        }
        read += 1;
        let rules = rules.map(|above| {
            let mut faults = IgnoreFaults::default();
            let files = RuleFiles::read(&directory, RuleNames::UNKNOWN, &mut faults);
            above.enter(&directory, files, &mut faults)
        });
        listing.list(&directory, rules.as_ref(), &filter, options.follow_symlinks);
    }
    let Listing { mut files, is_cut, .. } = listing;
    files.sort_unstable();
    let listed = files.len();
    let chosen = most.min(listed);
    let files: Vec<PathBuf> =
        (0..chosen).filter_map(|number| files.get(number * listed / chosen).cloned()).collect();
    Ok(FileSample { is_all: chosen == listed && !is_cut, files, listed, has_directories })
}

/// What was listed so far.
#[derive(Default)]
struct Listing {
    files: Vec<PathBuf>,
    /// Directories, and the rules of those above them.
    directories: VecDeque<(PathBuf, Option<IgnoreRules>)>,
    is_cut: bool,
}

impl Listing {
    /// Adds the entries of a directory.
    fn list(&mut self, directory: &Path, rules: Option<&IgnoreRules>, filter: &Filter, follow: bool) {
        let Ok(entries) = fs::read_dir(directory) else { return };
        for entry in entries.flatten() {
            if self.files.len() >= MOST_LISTED || self.directories.len() >= MOST_LISTED {
                self.is_cut = true;
                return;
            }
            let path = entry.path();
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if rules.is_some_and(|rules| rules.is_ignored(path.as_os_str().as_bytes(), is_directory)) {
                continue;
            }
            match kind(&entry, follow) {
                Some(EntryIs::File) if filter.takes_file(&path) => self.files.push(path),
                Some(EntryIs::Directory) if filter.enters(&path) => {
                    self.directories.push_back((path, rules.cloned()));
                }
                _ => {}
            }
        }
    }
}

enum EntryIs {
    File,
    Directory,
}

fn kind(entry: &DirEntry, follow: bool) -> Option<EntryIs> {
    let mut kind = entry.file_type().ok()?;
    if kind.is_symlink() && follow {
        kind = fs::metadata(entry.path()).ok()?.file_type();
    }
    if kind.is_file() {
        return Some(EntryIs::File);
    }
    kind.is_dir().then_some(EntryIs::Directory)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::source::collect;

    #[test]
    fn a_sample_has_files_of_all_directories_and_says_whether_it_is_all() {
        let random = &mut fastrand::Rng::with_seed(fastrand::u64(..));
        println!("seed {}", random.get_seed());
        let dir = tempfile::tempdir().unwrap();
        let mut directories = vec![dir.path().to_path_buf()];
        for number in 0..300 {
            let parent = directories[random.usize(..directories.len())].clone();
            if random.u8(..5) == 0 {
                let directory = parent.join(format!("d{number}"));
                fs::create_dir(&directory).unwrap();
                directories.push(directory);
            } else {
                fs::write(parent.join(format!("f{number}.{}", ["c", "o"][random.usize(..2)])), "x").unwrap();
            }
        }
        std::os::unix::fs::symlink(dir.path(), dir.path().join("loop")).unwrap();
        for (include, exclude) in [(vec![], vec![]), (vec!["*.c".to_owned()], vec!["d1*".to_owned()])] {
            let options = SourceOptions {
                paths: vec![dir.path().to_path_buf()],
                include,
                exclude,
                ..SourceOptions::default()
            };
            let all = collect(&options, &AtomicBool::new(false)).unwrap();
            let mut all: Vec<PathBuf> = all.inputs.into_iter().map(|input| input.path).collect();
            all.sort();
            for most in [0, 1, 7, 1000] {
                let sample = sample_files(&options, most).unwrap();
                assert_eq!((sample.listed, sample.files.len()), (all.len(), most.min(all.len())));
                assert!(sample.files.iter().all(|file| all.contains(file)) && sample.has_directories);
                assert_eq!(sample.is_all, sample.files.len() == all.len());
                assert!(sample.files.is_sorted_by(|a, b| a < b));
            }
        }
        let file = SourceOptions { paths: vec![dir.path().join("none")], ..SourceOptions::default() };
        assert_eq!(sample_files(&file, 4).unwrap(), FileSample { is_all: true, ..FileSample::default() });
    }
}
