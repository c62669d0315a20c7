//! Reads a list without full blocks from front to back. This is for merges, where the buffers of a cursor
//! would cost more than everything else.

use crate::codec::varint::ByteReader;

/// The postings of a list of fewer documents than a block. It ends early if the list is damaged.
pub struct ShortList<'a> {
    reader: ByteReader<'a>,
    next: u64,
    left: u32,
    max_doc: u32,
}

impl<'a> ShortList<'a> {
    /// Opens the list in `bytes`, of `doc_freq` documents below `max_doc`.
    pub fn new(bytes: &'a [u8], doc_freq: u32, max_doc: u32) -> Self {
        ShortList { reader: ByteReader::new(bytes), next: 0, left: doc_freq, max_doc }
    }

    /// Returns true if all postings were read without errors.
    pub fn is_whole(&self) -> bool {
        self.left == 0
    }
}

impl Iterator for ShortList<'_> {
    type Item = (u32, u32);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, u32)> {
        if self.left == 0 {
            return None;
        }
        let code = self.reader.varint()?;
        let tf = if code & 1 == 1 { 1 } else { self.reader.varint32()? };
        let doc = u32::try_from(self.next + (code >> 1)).ok().filter(|&doc| doc < self.max_doc)?;
        self.next = u64::from(doc) + 1;
        self.left -= 1;
        Some((doc, tf))
    }
}
