//! The page cache: how files are made cold.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::fs::{Advice, fadvise};

/// Has the kernel forget what it caches of files, as far as it can: dirty pages stay, and those that a
/// process has mapped.
///
/// # Errors
/// Where a file cannot be opened, or the kernel does not want to.
pub fn cool<'a>(files: impl Iterator<Item = &'a Path>) -> Result<()> {
    for path in files {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}
