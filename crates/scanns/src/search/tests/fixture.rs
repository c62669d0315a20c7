//! Documents as maps, and a leaf over them with the lists of a segment, or of documents in memory.

use fastrand::Rng;
use std::collections::{BTreeMap, HashSet};

use crate::codec::{DeltaReader, ListEncoder, PositionCursor, PositionEncoder, length_to_norm};
use crate::error::Result;
use crate::search::{Leaf, LeafStats, ListSource, PositionSource, TermRef, TermStream};
use crate::segment::DocBits;

pub(super) fn one_in(random: &mut Rng, count: u64) -> bool {
    random.u64(..count) == 0
}

/// A document: frequencies by term, and its length.
#[derive(Clone, Default)]
pub(in crate::search) struct Document {
    pub(super) tfs: BTreeMap<Vec<u8>, u32>,
    /// The positions of each term; their number is its frequency.
    pub(super) positions: BTreeMap<Vec<u8>, Vec<u32>>,
    pub(super) length: u64,
    pub(super) dead: bool,
}

impl Document {
    pub(in crate::search) fn of(text: &str) -> Self {
        let mut document = Document::default();
        document.place(text.split_whitespace().map(|word| word.as_bytes().to_vec()).enumerate());
        document.tfs = document.positions.iter().map(|(term, at)| (term.clone(), at.len() as u32)).collect();
        document.length = document.tfs.values().map(|&tf| u64::from(tf)).sum();
        document
    }

    fn place(&mut self, terms: impl Iterator<Item = (usize, Vec<u8>)>) {
        for (at, term) in terms {
            self.positions.entry(term).or_default().push(at as u32);
        }
    }

    /// Puts the terms at random positions, with some gaps.
    fn shuffle(&mut self, random: &mut Rng) {
        let repeated = |(term, &tf): (&Vec<u8>, &u32)| vec![term.clone(); tf as usize];
        let mut terms: Vec<Vec<u8>> = self.tfs.iter().flat_map(repeated).collect();
        random.shuffle(&mut terms);
        let mut at = 0;
        let placed: Vec<_> = terms
            .into_iter()
            .map(|term| {
                at += if one_in(random, 6) { 2 } else { 1 };
                (at, term)
            })
            .collect();
        self.place(placed.into_iter());
    }
}

/// Random documents: term `t0` in nearly all, higher terms rarer and rarer, with bursts, so that blocks
/// differ.
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
            document.shuffle(random);
            document
        })
        .collect()
}

enum List {
    Packed(Vec<u8>),
    Decoded(Vec<u32>, Vec<u32>),
}

/// A leaf over documents.
pub(in crate::search) struct MapLeaf {
    norms: Vec<u8>,
    stats: LeafStats,
    dead: HashSet<u32>,
    /// A bit for each live document, as segments have it, for packed lists.
    live: Option<Vec<u64>>,
    terms: BTreeMap<Vec<u8>, usize>,
    lists: Vec<(u32, List)>,
    /// By list: documents and positions.
    positions: Vec<(Vec<u32>, Vec<Vec<u32>>)>,
    /// By list: the run of positions, for packed lists with positions.
    runs: Vec<Option<Vec<u8>>>,
    total_freqs: Vec<u64>,
}

/// The run of a term with these positions in each of its documents.
fn run_of(all: impl Iterator<Item = Vec<u32>>) -> Vec<u8> {
    let (mut encoder, mut run) = (PositionEncoder::new(false), Vec::new());
    for positions in all {
        encoder.begin_posting();
        let mut before = 0;
        for position in positions {
            encoder.push(position - std::mem::replace(&mut before, position), &mut run);
        }
    }
    encoder.finish(&mut run);
    run
}

impl MapLeaf {
    pub(in crate::search) fn new(documents: &[Document], packed: bool) -> Self {
        let norms: Vec<u8> = documents.iter().map(|document| length_to_norm(document.length)).collect();
        let stats = LeafStats {
            documents: documents.iter().filter(|document| !document.dead).count() as u64,
            documents_with_terms: documents.iter().filter(|document| document.length > 0).count() as u64,
            total_length: documents.iter().map(|document| document.length).sum(),
        };
        let numbered = || (0u32..).zip(documents);
        let dead: HashSet<u32> =
            numbered().filter(|(_, document)| document.dead).map(|(doc, _)| doc).collect();
        let live = packed.then(|| {
            let mut live = DocBits::all(documents.len() as u32);
            dead.iter().for_each(|&doc| live.remove(doc));
            live.words().to_vec()
        });
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
            live,
            terms: BTreeMap::new(),
            lists: Vec::new(),
            positions: Vec::new(),
            runs: Vec::new(),
            total_freqs: Vec::new(),
        };
        let mut encoder = ListEncoder::new();
        for (term, list) in postings {
            leaf.terms.insert(term.to_vec(), leaf.lists.len());
            let doc_freq = list.len() as u32;
            let positions =
                |doc: u32| documents[doc as usize].positions.get(term).cloned().unwrap_or_default();
            leaf.total_freqs.push(list.iter().map(|&(_, tf)| u64::from(tf)).sum());
            leaf.positions.push(list.iter().map(|&(doc, _)| (doc, positions(doc))).unzip());
            let is_text = list.iter().all(|&(doc, tf)| positions(doc).len() == tf as usize);
            leaf.runs.push((packed && is_text).then(|| run_of(list.iter().map(|&(doc, _)| positions(doc)))));
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

    fn term_ref(&self, at: usize) -> TermRef {
        let doc_freq = self.lists[at].0;
        TermRef { doc_freq, total_freq: self.total_freqs[at], handle: [at as u64, 0], positions: [0; 2] }
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

struct MapTerms<'a> {
    leaf: &'a MapLeaf,
    terms: Vec<(&'a Vec<u8>, &'a usize)>,
    at: Option<usize>,
}

impl TermStream for MapTerms<'_> {
    fn step(&mut self) -> Result<bool> {
        let at = self.at.map_or(0, |at| at + 1);
        self.at = Some(at);
        Ok(at < self.terms.len())
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let at = self.terms.partition_point(|(term, _)| term.as_slice() < target);
        assert!(self.at.is_none_or(|before| before <= at), "terms are never sought backwards");
        self.at = Some(at);
        Ok(at < self.terms.len())
    }

    fn term(&self) -> &[u8] {
        self.at.and_then(|at| self.terms.get(at)).unwrap().0
    }

    fn found(&mut self) -> Result<TermRef> {
        Ok(self.leaf.term_ref(*self.at.and_then(|at| self.terms.get(at)).unwrap().1))
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
        Ok(found.map(|&at| self.term_ref(at)))
    }

    fn terms<'a>(&'a self) -> Result<Box<dyn TermStream + 'a>> {
        Ok(Box::new(MapTerms { leaf: self, terms: self.terms.iter().collect(), at: None }))
    }

    fn positions<'a>(&'a self, term: &TermRef) -> Result<PositionSource<'a>> {
        let list = term.handle[0] as usize;
        if let Some(run) = &self.runs[list] {
            let deltas = DeltaReader::new(run, term.doc_freq, term.total_freq, false).unwrap();
            return Ok(PositionSource::Packed(Box::new(PositionCursor::new(deltas))));
        }
        let (docs, positions) = self.positions[list].clone();
        Ok(PositionSource::Decoded(docs, positions))
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

    fn live_bits(&self) -> Option<&[u64]> {
        self.live.as_deref()
    }

    fn is_in_ranges(&self) -> bool {
        true
    }

    fn key(&self, doc: u32) -> Result<Vec<u8>> {
        Ok(format!("document {doc}").into_bytes())
    }
}
