//! Looks up terms and their postings in memory.

use super::dispatch::with_isa;
use super::inverter::Inverter;
use super::postings::PostingsIter;
use crate::codec::Occurrence;

impl Inverter {
    /// Finds the entry of `term`, if the term was ever added.
    ///
    /// This method and the ones below see only ended documents and settled tokens: call [`Inverter::settle`]
    /// after the last token.
    pub fn find(&self, term: &[u8]) -> Option<u32> {
        let (batch, store) = (&self.batch, &self.store);
        with_isa!(self.simd, I => batch.look_up::<I>(store, term))
    }

    fn with_postings<R>(&self, entry: u32, take: impl FnOnce(&mut PostingsIter<'_>) -> R) -> R {
        let entry = self.store.terms.entries[entry as usize];
        let mut parts = Vec::new();
        self.store.chunks.parts(entry.tail, &mut parts);
        let last = (entry.doc, entry.term_freq);
        take(&mut PostingsIter::new(&self.store.chunks, &parts, last, self.max_doc(), &self.void))
    }

    /// The number of documents that contain the term of an entry from [`Inverter::find`].
    pub fn doc_freq(&self, entry: u32) -> u32 {
        self.with_postings(entry, |postings| u32::try_from(postings.count()).unwrap_or(u32::MAX))
    }

    /// The number of documents that contain the term, and its total number of occurrences.
    pub fn frequencies(&self, entry: u32) -> (u32, u64) {
        let add = |(docs, total): (u32, u64), (_, freq)| (docs.saturating_add(1), total + u64::from(freq));
        self.with_postings(entry, |postings| postings.fold((0, 0), add))
    }

    /// The positions of the term of an entry in each of its documents, in document order; empty if positions
    /// are not stored.
    pub fn positions(&self, entry: u32) -> Vec<Vec<u32>> {
        let occurrences = self.occurrences(entry).into_iter();
        occurrences.map(|all| all.iter().map(|at| at.position).collect()).collect()
    }

    /// All stored details of each occurrence of the term, for each of its documents.
    pub fn occurrences(&self, entry: u32) -> Vec<Vec<Occurrence>> {
        let mut parts = Vec::new();
        let Some(mut deltas) = self.store.places.deltas(entry, &self.store.chunks, &mut parts) else {
            return Vec::new();
        };
        self.with_postings(entry, |postings| {
            let mut all = Vec::new();
            while let Some(((_, freq), live)) = postings.next_of_all() {
                let mut before = Occurrence::default();
                let occurrences = (0..freq).map(|_| {
                    before = deltas.next_occurrence().after(before);
                    before
                });
                let occurrences = occurrences.collect();
                if live {
                    all.push(occurrences);
                }
            }
            all
        })
    }

    /// All terms that were ever added, with their entries, in any order.
    pub fn all_terms(&self) -> Vec<(Vec<u8>, u32)> {
        let entries = 0..u32::try_from(self.store.terms.len).unwrap_or(u32::MAX);
        entries.map(|entry| (self.store.terms.with_bytes(entry, <[u8]>::to_vec), entry)).collect()
    }

    /// The documents and the frequencies of the term of an entry, as two lists.
    pub fn postings(&self, entry: u32) -> (Vec<u32>, Vec<u32>) {
        self.with_postings(entry, |postings| postings.unzip())
    }
}
