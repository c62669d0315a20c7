//! What to collect.

use std::path::PathBuf;

/// Where a list of paths comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListFrom {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

/// What stands between the paths of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// NUL if the list contains a NUL byte, line feeds otherwise.
    Auto,
    /// Line feeds.
    Newline,
    /// NUL bytes, as `find -print0` writes.
    Nul,
}

/// A list of paths to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileList {
    /// Where it is read from.
    pub from: ListFrom,
    /// How its paths are separated.
    pub separator: Separator,
}

/// What to collect.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Files and directories; taken whatever the globs say, symbolic links among them followed.
    pub paths: Vec<PathBuf>,
    /// More files and directories; subject to the globs.
    pub files_from: Option<FileList>,
    /// Follow symbolic links found in directories.
    pub follow_symlinks: bool,
    /// Globs of which a file must match one, by its path or its name; empty: every file.
    pub include: Vec<String>,
    /// Globs that leave out files and whole directories, by path or name.
    pub exclude: Vec<String>,
    /// Leave out files and directories whose name begins with a dot.
    pub skip_hidden: bool,
    /// Keep what file systems say of files, for [`Input::status`](super::Input::status).
    pub status: bool,
    /// Threads that walk.
    pub threads: usize,
}

impl Default for SourceOptions {
    fn default() -> Self {
        SourceOptions {
            paths: Vec::new(),
            files_from: None,
            follow_symlinks: false,
            include: Vec::new(),
            exclude: Vec::new(),
            skip_hidden: false,
            status: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
