//! Tools of others for tests.

use std::path::PathBuf;

/// The Python of the virtual environment of this project, or of the system.
pub(crate) fn python() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let own = program.ancestors().nth(3).map(|target| target.join("python/bin/python3"));
    own.filter(|path| path.exists()).unwrap_or_else(|| "python3".into())
}
