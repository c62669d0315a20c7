//! Comments of mtree that contain paths.

/// The comment that mtree of NetBSD and bsdtar write before a directory and before its end: its path, not
/// escaped. If a name contains the end of a line, the rest of the path looks like entries.
#[derive(Debug, Default)]
pub(super) struct MtreeComment {
    /// True if the comment for the root was found, so that the comments are not those of a person.
    pub by_tool: bool,
    /// True if the path may go on in the next line.
    pub is_open: bool,
    pub path: Vec<u8>,
    /// The length of the path in the first line.
    first: usize,
    /// Where the comment stands.
    pub offset: u64,
}

impl MtreeComment {
    /// The greatest number of bytes of further lines that are taken for a part of the path.
    const LONGEST: usize = 4096;

    /// Takes the path if `line` is such a comment; says whether it is.
    pub fn open(&mut self, line: &[u8], offset: u64) -> bool {
        self.by_tool |= line == b"# .";
        let Some(path) = line.strip_prefix(b"# ").filter(|path| self.by_tool && path.starts_with(b"./"))
        else {
            return false;
        };
        self.is_open = true;
        self.path.clear();
        self.path.extend_from_slice(path);
        self.first = path.len();
        self.offset = offset;
        true
    }

    /// Takes `line` as a part of the path; false, and closes the comment, if the path is too long then.
    pub fn extend(&mut self, line: &[u8]) -> bool {
        self.path.push(b'\n');
        self.path.extend_from_slice(line);
        self.is_open = self.path.len() - self.first <= Self::LONGEST;
        self.is_open
    }
}
