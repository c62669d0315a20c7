//! Options for the collection of inputs.

use std::path::PathBuf;

/// The origin of a list of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListFrom {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

/// The separator between the paths of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// NUL if the list contains a NUL byte, line feeds otherwise.
    Auto,
    /// Line feeds.
    Newline,
    /// NUL bytes, as `find -print0` writes.
    Nul,
}

/// A list of paths to index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileList {
    /// The origin of the list.
    pub from: ListFrom,
    /// The separator between paths.
    pub separator: Separator,
}

/// Options for the collection of inputs.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Files and directories, or `-` for standard input. The globs do not apply to them, and symbolic links
    /// among them are followed.
    pub paths: Vec<PathBuf>,
    /// A list of more files and directories, to which the globs apply.
    pub files_from: Option<FileList>,
    /// Whether to follow symbolic links in directories.
    pub follow_symlinks: bool,
    /// Globs of which a file must match one, by its path or its name. If empty, every file is included. They
    /// do not apply to directories.
    pub include: Vec<String>,
    /// Globs that exclude files and whole directories, by path or name.
    pub exclude: Vec<String>,
    /// Whether to skip files and directories whose names begin with a dot.
    pub skip_hidden: bool,
    /// Whether to leave out what `.gitignore` files, `.git/info/exclude` and the user's file of ignored names
    /// leave out, and `.git`. This does not apply to the paths and to those of the list, but below them.
    pub gitignore: bool,
    /// Whether directories, symbolic links that are not followed, and special files are inputs too.
    pub entries: bool,
    /// Whether to keep the metadata of files in [`Input::status`](super::Input::status).
    pub status: bool,
    /// Whether to find access classes, which are part of the metadata: then the directories that the index
    /// covers so far, in the uppermost of which a walk begins.
    pub access: Option<Vec<PathBuf>>,
    /// Whether large files come first, so that no thread is left alone with one at the end; otherwise inputs
    /// are sorted by directory and name.
    pub large_first: bool,
    /// The number of threads that walk directories.
    pub threads: usize,
}

impl SourceOptions {
    /// True if the inputs are trees and files that are named, neither a list nor standard input.
    pub(crate) fn is_of_trees(&self) -> bool {
        self.files_from.is_none() && !self.paths.iter().any(|path| path.as_os_str() == "-")
    }
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
            gitignore: false,
            entries: false,
            status: false,
            access: None,
            large_first: true,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
