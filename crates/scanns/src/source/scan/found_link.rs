//! A link that a scan follows after everything else.

use std::path::PathBuf;
use std::sync::Arc;

use crate::source::ignore::IgnoreRules;
use crate::source::scan::directory::RootState;

/// A link in a directory.
pub(super) struct FoundLink {
    /// The named path below which it is.
    pub(super) root: Arc<RootState>,
    pub(super) path: PathBuf,
    /// The rules in its directory, if `.gitignore` files are respected.
    pub(super) rules: Option<IgnoreRules>,
}

/// Links in any order.
pub(super) type FoundLinks = Vec<FoundLink>;
