//! Says which files of a list, such as a dump, a walk with the same globs would take.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::filter::Filter;
use super::options::SourceOptions;
use crate::error::Result;

/// Globs for files whose directories are not walked.
pub(crate) struct ListedFilter {
    filter: Filter,
    /// A directory to which, and above which, the globs do not apply.
    root: Vec<u8>,
    /// The directory of the last file.
    directory: Vec<u8>,
    /// Whether a walk from the root enters it.
    enters: bool,
}

impl ListedFilter {
    /// The globs of `options`. They apply to files and directories below `root`, not to itself.
    ///
    /// # Errors
    /// Invalid globs.
    pub(crate) fn new(options: &SourceOptions, root: &Path) -> Result<Self> {
        let (filter, root) = (Filter::new(options)?, root.as_os_str().as_bytes().to_vec());
        Ok(ListedFilter { filter, root, directory: Vec::new(), enters: true })
    }

    /// True if the file at `path`, which is absolute, is to be indexed.
    pub(crate) fn takes_file(&mut self, path: &[u8]) -> bool {
        let slash = memchr::memrchr(b'/', path).unwrap_or(0);
        let directory = path.get(..slash).unwrap_or_default();
        if directory != self.directory {
            self.directory.clear();
            self.directory.extend_from_slice(directory);
            let above = Path::new(OsStr::from_bytes(directory)).ancestors();
            let mut above = above.take_while(|place| {
                let place = place.as_os_str().as_bytes();
                place.len() > 1 && place != self.root
            });
            self.enters = above.all(|place| self.filter.enters(place));
        }
        self.enters && self.filter.takes_file(Path::new(OsStr::from_bytes(path)))
    }

    /// The globs that have matched nothing so far.
    pub(crate) fn unused(&self) -> Vec<String> {
        self.filter.unused()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::source::collect;

    #[test]
    fn files_of_a_list_are_those_that_a_walk_takes() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..40 {
            let place = tempfile::tempdir().unwrap();
            let names = ["a", "b", ".h", "c.o"];
            for _ in 0..60 {
                let parts: Vec<_> = (0..random.usize(1..5)).map(|_| names[random.usize(..4)]).collect();
                let path = place.path().join(parts.join("/"));
                // A part of the path may be a file.
                let _ = fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(&path, ""));
            }
            let globs = ["a", "a/", "*.o", "a/b", "./b/a", ".h/", "b/", "*/a"];
            let mut some = || (0..random.usize(..3)).map(|_| globs[random.usize(..8)].to_owned()).collect();
            let options = SourceOptions {
                paths: vec![place.path().into()],
                include: some(),
                exclude: some(),
                skip_hidden: random.bool(),
                ..SourceOptions::default()
            };
            let walked = |options: &SourceOptions| {
                let found = collect(options, &AtomicBool::new(false)).unwrap();
                found.inputs.into_iter().map(|input| input.path).collect::<Vec<_>>()
            };
            let expected = walked(&options);
            let mut all = walked(&SourceOptions { paths: options.paths.clone(), ..SourceOptions::default() });
            let mut filter = ListedFilter::new(&options, place.path()).unwrap();
            all.retain(|path| filter.takes_file(path.as_os_str().as_bytes()));
            assert_eq!(all, expected, "seed {seed} {options:?}");
        }
    }
}
