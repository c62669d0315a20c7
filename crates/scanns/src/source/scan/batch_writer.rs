//! Collects the entries of one thread in batches, and hands full batches out.

use crate::source::entry::Entry;
use crate::source::entry_batch::EntryBatch;

/// The number of entries after which a batch is handed out: it fits into the cache of a processor.
const ENTRIES: usize = 256;

/// The bytes of texts after which a batch is handed out.
const TEXTS: usize = 512 << 10;

/// The space for texts that a batch has from the beginning.
const EXPECTED_TEXTS: usize = ENTRIES * 80;

/// Takes a batch; returns false if it wants no more.
pub(super) type Send<'a> = dyn Fn(EntryBatch) -> bool + Sync + 'a;

/// The batch that is being filled.
pub(super) struct BatchWriter<'a> {
    batch: EntryBatch,
    send: &'a Send<'a>,
}

impl<'a> BatchWriter<'a> {
    pub(super) fn new(send: &'a Send<'a>) -> Self {
        BatchWriter { batch: EntryBatch::default(), send }
    }

    /// Adds an entry; returns false if nobody takes entries any more.
    #[inline]
    pub(super) fn push(&mut self, entry: &Entry<'_>) -> bool {
        if self.batch.is_empty() {
            self.batch = EntryBatch::with_capacity(ENTRIES, EXPECTED_TEXTS);
        }
        self.batch.push(entry);
        let full = self.batch.len() >= ENTRIES || self.batch.text_bytes() >= TEXTS;
        !full || self.flush()
    }

    /// Hands out what is left; returns false if nobody takes it.
    pub(super) fn flush(&mut self) -> bool {
        self.batch.is_empty() || (self.send)(std::mem::take(&mut self.batch))
    }
}
