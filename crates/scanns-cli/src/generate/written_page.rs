//! A page that `scanns generate` writes.

/// A file to write.
pub(super) struct WrittenPage {
    /// Its name in the directory.
    pub(super) name: String,
    /// Its content.
    pub(super) bytes: Vec<u8>,
}
