//! Removes files from the page cache.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::fs::{Advice, fadvise};

/// Asks the kernel to drop the cached pages of files. Dirty pages stay, and so do pages that a process has
/// mapped.
///
/// # Errors
/// If a file cannot be opened, or the kernel refuses.
pub fn cool<'a>(files: impl Iterator<Item = &'a Path>) -> Result<()> {
    for path in files {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}
