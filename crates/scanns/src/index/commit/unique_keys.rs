//! Keeps one document for each key, if the values of a field are the keys of documents.
//!
//! A build calls [`UniqueKeys::settle`] before each commit, so that no commit contains two documents with the
//! same key. Of the documents that this build added, the one with the greatest path wins, and of one file the
//! one with the greatest line. It replaces the document of an earlier build, unless that is a later line of
//! the same file: then an interrupted build of the file is being continued. Where records come back, see
//! `displaced.rs`, they give way to all others but those that are about to be deleted.
//!
//! The terms of the new segments are walked in order, and looked up in the old segments, so the cost of an
//! update depends on the size of the update.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::ops::Range;

use super::displaced::{Displaced, RecordRank, Restoration};
use super::writer::Writer;
use crate::error::Result;
use crate::schema::Field;
use crate::segment::{DocumentOrigin, Segment, TermsWalk};
use crate::source::Stamp;

/// A record whose key another record has too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubleKey {
    /// The key.
    pub key: Vec<u8>,
    /// The record that was left out.
    pub lost: DocumentOrigin,
    /// The record that was kept.
    pub kept: DocumentOrigin,
}

/// Removes documents whose keys other documents have too.
#[derive(Default)]
pub(super) struct UniqueKeys {
    /// Segments of earlier builds.
    old: HashSet<u128>,
    /// Documents of earlier builds that were removed.
    pub(super) replaced: u64,
    /// Documents of this build that were removed.
    pub(super) doubles: u64,
    /// The first of those.
    pub(super) first: Option<DoubleKey>,
    /// Files with removed documents.
    pub(super) files: HashMap<Vec<u8>, Stamp>,
    restoration: Restoration,
    pub(super) displaced: Displaced,
}

/// A segment, seen through the field that is the key.
struct KeyedSegment {
    segment: Segment,
    is_old: bool,
}

/// A live document with the current key.
struct SameKey {
    /// The number of its segment.
    at: usize,
    doc: u32,
    origin: DocumentOrigin,
}

/// Documents to remove, by number of segment.
pub(crate) type Removals = Vec<Vec<Range<u32>>>;

impl UniqueKeys {
    /// Begins a build. `old` are the segments of earlier builds.
    pub(super) fn new(old: &[u128], restoration: Restoration, displaced: Displaced) -> Self {
        UniqueKeys { old: old.iter().copied().collect(), restoration, displaced, ..UniqueKeys::default() }
    }

    /// Removes all documents but one of each key that the new segments contain.
    pub(super) fn settle(&mut self, writer: &Writer<'_>, field: Field) -> Result<()> {
        let _held = writer.hold_merges();
        let mut segments = Vec::new();
        for id in writer.segment_ids() {
            if let Some(segment) = writer.segment(id)? {
                let is_old = self.old.contains(&id);
                segments.push(KeyedSegment { segment: segment.in_field(field), is_old });
            }
        }
        let removals = self.find(&segments)?;
        for (keyed, documents) in segments.iter().zip(removals) {
            writer.delete(keyed.segment.id(), documents)?;
        }
        Ok(())
    }

    /// Finds all documents but one of each key that the new segments contain.
    fn find(&mut self, segments: &[KeyedSegment]) -> Result<Removals> {
        let mut walk = KeyWalk::new(segments)?;
        let mut removals = vec![Vec::new(); segments.len()];
        while walk.step()? {
            let same = walk.same()?;
            if !same.is_empty() {
                self.choose(&walk.key, same, segments, &mut removals)?;
            }
        }
        Ok(removals)
    }

    /// Chooses one of several documents with the same key, and removes the others.
    fn choose(
        &mut self,
        key: &[u8],
        same: Vec<SameKey>,
        segments: &[KeyedSegment],
        removals: &mut Removals,
    ) -> Result<()> {
        let is_old = |of: &SameKey| segments.get(of.at).is_some_and(|keyed| keyed.is_old);
        let rank = |of: &SameKey| self.restoration.rank(is_old(of), &of.origin.path);
        let is_after = |one: &SameKey, other: &SameKey| {
            let (one_rank, other_rank) = (rank(one), rank(other));
            let is_same_file =
                one.origin.path == other.origin.path && one_rank.min(other_rank) > RecordRank::Outgoing;
            if is_same_file || one_rank == other_rank {
                (&one.origin, one.at, one.doc) > (&other.origin, other.at, other.doc)
            } else {
                one_rank > other_rank
            }
        };
        let kept = same.iter().reduce(|best, next| if is_after(next, best) { next } else { best });
        let Some(kept) = kept.map(|kept| (kept.at, kept.doc, kept.origin.clone())) else { return Ok(()) };
        for lost in same.into_iter().filter(|lost| (lost.at, lost.doc) != (kept.0, kept.1)) {
            self.displaced.add(&lost.origin.path, &kept.2.path);
            if is_old(&lost) {
                self.replaced += 1;
            } else {
                self.doubles += 1;
                let double =
                    || DoubleKey { key: key.into(), lost: lost.origin.clone(), kept: kept.2.clone() };
                self.first.get_or_insert_with(double);
            }
            if let Some(keyed) = segments.get(lost.at)
                && !self.files.contains_key(&lost.origin.path)
            {
                let (path, stamp) = keyed.segment.file_of(lost.doc)?;
                self.files.insert(path, stamp);
            }
            removals.get_mut(lost.at).into_iter().for_each(|removed| removed.push(lost.doc..lost.doc + 1));
        }
        Ok(())
    }
}

/// The documents of several indexes whose keys later documents have too.
pub(crate) struct FoundDoubles {
    /// Them, by segment.
    pub(crate) removals: Removals,
    /// The first of them.
    pub(crate) first: Option<DoubleKey>,
}

/// Finds the documents that one index of all segments would not have, because later documents have the same
/// values of the field that is the key.
pub(crate) fn find_doubles(segments: Vec<Segment>, field: Field) -> Result<FoundDoubles> {
    let keyed = |segment: Segment| KeyedSegment { segment: segment.in_field(field), is_old: false };
    let segments: Vec<KeyedSegment> = segments.into_iter().map(keyed).collect();
    let mut keys = UniqueKeys::default();
    let removals = keys.find(&segments)?;
    Ok(FoundDoubles { removals, first: keys.first })
}

/// Walks through the keys of the new segments in order.
struct KeyWalk<'s> {
    segments: &'s [KeyedSegment],
    walks: Vec<TermsWalk<'s>>,
    /// The keys at which the new segments stand, the least on top.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    /// The current key.
    key: Vec<u8>,
    /// The new segments that have it.
    having: Vec<usize>,
}

impl<'s> KeyWalk<'s> {
    /// Begins before the first key.
    fn new(segments: &'s [KeyedSegment]) -> Result<Self> {
        let walks = segments.iter().map(|keyed| keyed.segment.walk_terms()).collect();
        let new = segments.iter().enumerate().filter(|(_, keyed)| !keyed.is_old);
        let having = new.map(|(at, _)| at).collect();
        Ok(KeyWalk { segments, walks, heads: BinaryHeap::new(), key: Vec::new(), having })
    }

    /// Moves to the next key; returns false at the end.
    fn step(&mut self) -> Result<bool> {
        for at in self.having.drain(..) {
            if let Some(walk) = self.walks.get_mut(at)
                && walk.step()?
            {
                self.heads.push(Reverse((walk.term().to_vec(), at)));
            }
        }
        let Some(Reverse((key, at))) = self.heads.pop() else { return Ok(false) };
        (self.key, self.having) = (key, vec![at]);
        while self.heads.peek().is_some_and(|Reverse((key, _))| *key == self.key) {
            self.having.extend(self.heads.pop().map(|Reverse((_, at))| at));
        }
        Ok(true)
    }

    /// The live documents with the current key, if there are several.
    fn same(&mut self) -> Result<Vec<SameKey>> {
        let mut having = self.having.clone();
        for (at, (keyed, walk)) in self.segments.iter().zip(&mut self.walks).enumerate() {
            if keyed.is_old && walk.seek(&self.key)? && walk.term() == self.key {
                having.push(at);
            }
        }
        let mut documents = Vec::new();
        for at in having {
            let Some((walk, keyed)) = self.walks.get_mut(at).zip(self.segments.get(at)) else { continue };
            let found = keyed.segment.documents_of_term(&self.key, walk.info()?.0)?;
            let live = found.into_iter().filter(|&doc| keyed.segment.is_live(doc));
            documents.extend(live.map(|doc| (at, doc, &keyed.segment)));
        }
        if documents.len() < 2 {
            return Ok(Vec::new());
        }
        let mut same = Vec::with_capacity(documents.len());
        for (at, doc, segment) in documents {
            same.push(SameKey { at, doc, origin: segment.origin(doc)? });
        }
        Ok(same)
    }
}
