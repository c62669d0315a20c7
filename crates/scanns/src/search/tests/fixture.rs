//! Documents as maps, and a leaf over them with lists as a segment has them, or as memory has them.

use fastrand::Rng;
use std::collections::{BTreeMap, HashSet};

use crate::codec::{ListEncoder, length_to_norm};
use crate::error::Result;
use crate::search::{Leaf, LeafStats, ListSource, TermRef};

pub(super) fn one_in(random: &mut Rng, count: u64) -> bool {
    random.u64(..count) == 0
}

/// A document: frequencies by term, and its length.
#[derive(Clone, Default)]
pub(super) struct Document {
    pub(super) tfs: BTreeMap<Vec<u8>, u32>,
    pub(super) length: u64,
    pub(super) dead: bool,
}

impl Document {
    pub(super) fn of(text: &str) -> Self {
        let mut document = Document::default();
        for word in text.split_whitespace() {
            *document.tfs.entry(word.as_bytes().to_vec()).or_default() += 1;
            document.length += 1;
        }
        document
    }
}

/// Some documents: term `t0` in nearly all, higher ones ever rarer, with bursts, so that blocks differ.
pub(super) fn random_documents(random: &mut Rng, count: usize, deletions: bool) -> Vec<Document> {
    let mut burst = 0;
    (0..count)
        .map(|_| {
            if one_in(random, 300) {
                burst = random.u64(..8);
            }
            let mut document = Document { length: random.u64(..30), ..Document::default() };
            for term in 0..8 {
                if one_in(random, if term == burst { 2 } else { 1 + (1 << term) / 2 }) {
                    let tf = if one_in(random, 5) { 1 + random.u64(..20) as u32 } else { 1 };
                    document.tfs.insert(format!("t{term}").into_bytes(), tf);
                    document.length += u64::from(tf);
                }
            }
            document.dead = deletions && one_in(random, 4);
            document
        })
        .collect()
}

enum List {
    Packed(Vec<u8>),
    Decoded(Vec<u32>, Vec<u32>),
}

/// A leaf over documents.
pub(super) struct MapLeaf {
    norms: Vec<u8>,
    stats: LeafStats,
    dead: HashSet<u32>,
    terms: BTreeMap<Vec<u8>, usize>,
    lists: Vec<(u32, List)>,
    total_freqs: Vec<u64>,
}

impl MapLeaf {
    pub(super) fn new(documents: &[Document], packed: bool) -> Self {
        let norms: Vec<u8> = documents.iter().map(|document| length_to_norm(document.length)).collect();
        let stats = LeafStats {
            documents: documents.iter().filter(|document| !document.dead).count() as u64,
            documents_with_terms: documents.iter().filter(|document| document.length > 0).count() as u64,
            total_length: documents.iter().map(|document| document.length).sum(),
        };
        let numbered = || (0u32..).zip(documents);
        let dead = numbered().filter(|(_, document)| document.dead).map(|(doc, _)| doc).collect();
        let mut postings: BTreeMap<&[u8], Vec<(u32, u32)>> = BTreeMap::new();
        for (doc, document) in numbered() {
            for (term, &tf) in &document.tfs {
                postings.entry(term).or_default().push((doc, tf));
            }
        }
        let mut leaf = MapLeaf {
            norms,
            stats,
            dead,
            terms: BTreeMap::new(),
            lists: Vec::new(),
            total_freqs: Vec::new(),
        };
        let mut encoder = ListEncoder::new();
        for (term, list) in postings {
            leaf.terms.insert(term.to_vec(), leaf.lists.len());
            let doc_freq = list.len() as u32;
            leaf.total_freqs.push(list.iter().map(|&(_, tf)| u64::from(tf)).sum());
            let list = if packed {
                let mut bytes = Vec::new();
                for (doc, tf) in list {
                    encoder.push(doc, tf, &leaf.norms, &mut bytes);
                }
                encoder.finish(&leaf.norms, &mut bytes);
                List::Packed(bytes)
            } else {
                let (docs, tfs) = list.into_iter().unzip();
                List::Decoded(docs, tfs)
            };
            leaf.lists.push((doc_freq, list));
        }
        leaf
    }

    /// Flips bits of the postings.
    pub(super) fn damage(&mut self, random: &mut Rng) {
        for (_, list) in &mut self.lists {
            if let List::Packed(bytes) = list {
                let bit = random.u64(..8 * bytes.len() as u64) as usize;
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

impl Leaf for MapLeaf {
    fn max_doc(&self) -> u32 {
        self.norms.len() as u32
    }

    fn norms(&self) -> Result<&[u8]> {
        Ok(&self.norms)
    }

    fn stats(&self) -> LeafStats {
        self.stats
    }

    fn find(&self, term: &[u8]) -> Result<Option<TermRef>> {
        let found = self.terms.get(term);
        Ok(found.map(|&at| TermRef {
            doc_freq: self.lists[at].0,
            total_freq: self.total_freqs[at],
            handle: [at as u64, 0],
        }))
    }

    fn postings<'a>(&'a self, term: &TermRef) -> Result<ListSource<'a>> {
        Ok(match &self.lists[term.handle[0] as usize] {
            (_, List::Packed(bytes)) => ListSource::Packed(bytes),
            (1, List::Decoded(docs, tfs)) => ListSource::Single { doc: docs[0], tf: tfs[0] },
            (_, List::Decoded(docs, tfs)) => ListSource::Decoded { docs: docs.clone(), tfs: tfs.clone() },
        })
    }

    fn is_live(&self, doc: u32) -> bool {
        !self.dead.contains(&doc)
    }

    fn key(&self, doc: u32) -> Result<Vec<u8>> {
        Ok(format!("document {doc}").into_bytes())
    }
}
