//! Counts how often the terms of a phrase occur at given positions relative to each other.
//!
//! Without slop it counts the places where all terms have exactly the positions of the phrase. For slop, see
//! `sloppy.rs`.

pub(crate) mod marks;
pub(crate) mod sloppy;

use crate::codec::{BLOCK, Impact, ListCursor, NO_MORE, PositionCursor, PostingPlace};
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::view::View;
use crate::search::leaf::{ListSource, PositionSource};
use crate::search::similarity::{PostingsSlice, Scorer, Similarity};
use sloppy::{Occurrences, sloppy};

/// Documents that contain a phrase.
pub(crate) struct PhraseCursor<'s, S> {
    matcher: PhraseMatcher<'s>,
    scorers: PhraseScorers<'s, S>,
    clock: Clock<'s>,
    /// Documents from here on are not searched.
    end: u32,
    doc: u32,
    /// The frequency of the phrase in the current document.
    freq: f32,
}

impl<'s, S: Similarity> PhraseCursor<'s, S> {
    /// At the first document of the view with the phrase.
    pub(crate) fn new(matcher: PhraseMatcher<'s>, scorers: PhraseScorers<'s, S>, view: &View<'s>) -> Self {
        let mut cursor =
            PhraseCursor { matcher, scorers, clock: view.clock, end: view.end, doc: 0, freq: 0.0 };
        cursor.advance(view.first);
        cursor
    }

    pub(crate) fn doc(&self) -> u32 {
        self.doc
    }

    /// Moves to the first document with the phrase that is not below `target`; never back.
    pub(crate) fn advance(&mut self, target: u32) -> u32 {
        if self.doc >= target && self.freq > 0.0 || self.doc == NO_MORE {
            return self.doc;
        }
        let mut target = target;
        loop {
            self.doc = self.agree(target);
            if self.doc == NO_MORE {
                return NO_MORE;
            }
            self.freq = self.matcher.freq(self.doc);
            if self.matcher.corrupt || self.clock.is_up() && self.freq == 0.0 {
                self.doc = NO_MORE;
                return NO_MORE;
            }
            if self.freq > 0.0 {
                return self.doc;
            }
            target = self.doc + 1;
        }
    }

    /// The first document from `target` on that contains all terms.
    fn agree(&mut self, target: u32) -> u32 {
        let mut doc = target;
        loop {
            let lists = self.matcher.terms.iter_mut();
            let reached = lists.map(|term| term.list.advance(doc)).max().unwrap_or(NO_MORE);
            if reached >= self.end {
                return NO_MORE;
            }
            if reached == doc {
                return reached;
            }
            doc = reached;
        }
    }

    /// The score of the current document.
    pub(crate) fn score(&self) -> f32 {
        self.scorers.score(self.doc, self.freq)
    }

    /// Returns true if a list is damaged.
    pub(crate) fn corrupt(&self) -> bool {
        self.matcher.corrupt()
    }
}

impl<S> BoundTerms<'_, S> {
    /// A counter for a phrase of terms with their positions; `lists` are their postings.
    ///
    /// # Errors
    /// An error if the leaf keeps no positions.
    pub(crate) fn phrase_matcher<'s>(
        &self,
        view: &View<'s>,
        terms: &[(u32, usize)],
        slop: u32,
        lists: &[&'s ListSource<'s>],
    ) -> Result<PhraseMatcher<'s>> {
        let mut parts = Vec::with_capacity(terms.len());
        for (&(place, term), &source) in terms.iter().zip(lists) {
            let found = self.found.refs[term].unwrap_or_default();
            let positions = view.through(self.plan.field_of(term)).positions(&found)?;
            let list = self.cursor(view, term, source)?;
            parts.push((PhraseTerm { list, positions }, Occurrences::new(place, term)));
        }
        Ok(PhraseMatcher::new(parts, slop))
    }
}

impl<'t, S: Similarity> BoundTerms<'t, S> {
    /// Scorers for a phrase of at least one term.
    pub(crate) fn phrase_scorers<'s>(
        &self,
        view: &View<'s>,
        terms: &[(u32, usize)],
        boost: f32,
    ) -> PhraseScorers<'s, S>
    where
        't: 's,
    {
        let field = terms.first().map_or(0, |&(_, first)| self.plan.field_of(first));
        let weights = terms.iter().map(|&(_, term)| self.weights[term]);
        let weights =
            if self.similarities[field].weights_add() { vec![weights.sum()] } else { weights.collect() };
        let scorer = |weight| self.scorer(view, field, self.similarities[field].boosted(weight, boost));
        PhraseScorers(weights.into_iter().map(scorer).collect())
    }
}

/// The scorers of the terms of a phrase, or one scorer for all of them.
pub(crate) struct PhraseScorers<'s, S>(pub(crate) Vec<Scorer<'s, S>>);

impl<S: Similarity> PhraseScorers<'_, S> {
    /// The score of a document where the phrase has the frequency `freq`.
    pub(crate) fn score(&self, doc: u32, freq: f32) -> f32 {
        self.0.iter().map(|scorer| scorer.score_freq(doc, freq)).sum()
    }

    /// Adds upper bounds of the scores of documents where the phrase has the frequencies `freqs`; at most a
    /// block of them.
    pub(crate) fn add_all(&self, docs: &[u32], freqs: &[u32], sums: &mut [f64]) {
        let mut scores = [0.0; BLOCK];
        let scores = &mut scores[..docs.len()];
        for scorer in &self.0 {
            scorer.score_all(PostingsSlice { docs, tfs: freqs }, scores);
            for (sum, &score) in sums.iter_mut().zip(&*scores) {
                *sum += f64::from(score) * self.slack();
            }
        }
    }

    /// The factor that makes a sum in 64 bits an upper bound of the sum in 32 bits.
    fn slack(&self) -> f64 {
        1.0 + 1e-7 * self.0.len().saturating_sub(1) as f64
    }

    /// The highest score that `impacts` allow.
    pub(crate) fn bound(&self, impacts: &[Impact]) -> f64 {
        self.slack() * self.0.iter().map(|scorer| f64::from(scorer.bound(impacts))).sum::<f64>()
    }
}

/// A term of a phrase: its documents and its positions in them.
pub(crate) struct PhraseTerm<'s> {
    pub(crate) list: ListCursor<'s>,
    pub(crate) positions: PositionSource<'s>,
}

/// Counts a phrase in documents that contain all of its terms.
pub(crate) struct PhraseMatcher<'s> {
    terms: Vec<PhraseTerm<'s>>,
    occurrences: Vec<Occurrences>,
    slop: u32,
    /// Where the phrase may begin, according to the terms looked at so far.
    starts: Vec<u32>,
    corrupt: bool,
}

impl<'s> PhraseMatcher<'s> {
    /// Each term comes with its position in the phrase and its number.
    pub(crate) fn new(mut terms: Vec<(PhraseTerm<'s>, Occurrences)>, slop: u32) -> Self {
        let first = terms.iter().map(|(_, occurrences)| occurrences.offset).min().unwrap_or(0);
        for (number, (_, occurrences)) in terms.iter_mut().enumerate() {
            (occurrences.number, occurrences.offset) = (number, occurrences.offset - first);
        }
        if slop == 0 {
            // Rare terms leave the least work to the others. With slop the order affects the count.
            terms.sort_by_key(|(term, _)| term.list.doc_freq());
        }
        let (terms, occurrences) = terms.into_iter().unzip();
        PhraseMatcher { terms, occurrences, slop, starts: Vec::new(), corrupt: false }
    }

    /// True if the terms may be moved.
    pub(crate) fn is_sloppy(&self) -> bool {
        self.slop > 0
    }

    /// The frequency of the phrase in `doc`; 0 if a list is damaged.
    pub(crate) fn freq(&mut self, doc: u32) -> f32 {
        self.count(|_, term| {
            if term.list.seek(doc) == doc { term.positions.of_current(&mut term.list) } else { Some(&[]) }
        })
    }

    /// Does the same for a document that contains all terms; `posting` gives the place and the frequency of
    /// each term by its number.
    #[inline]
    pub(crate) fn freq_at(&mut self, doc: u32, posting: impl Fn(usize) -> (PostingPlace, u32)) -> f32 {
        self.count(|number, term| {
            let (place, tf) = posting(number);
            term.positions.at(doc, place, tf)
        })
    }

    /// The terms, rarest first, if the phrase has no slop and the positions come from a segment: the position
    /// cursor, the position in the phrase, and the number of each term.
    pub(crate) fn exact_terms(&mut self) -> Option<Vec<(&mut PositionCursor<'s>, u32, usize)>> {
        if self.slop > 0 {
            return None;
        }
        let terms = self.terms.iter_mut().zip(&self.occurrences);
        let packed = terms.map(|(term, occurrences)| match &mut term.positions {
            PositionSource::Packed(cursor) => Some((&mut **cursor, occurrences.offset, occurrences.number)),
            PositionSource::Decoded(..) => None,
        });
        packed.collect()
    }

    /// Records that positions are damaged.
    pub(crate) fn give_up(&mut self) {
        self.corrupt = true;
    }

    /// The frequency of the phrase, where `positions` gives the positions of each term.
    #[inline]
    fn count<F>(&mut self, positions: F) -> f32
    where
        F: for<'p> Fn(usize, &'p mut PhraseTerm<'s>) -> Option<&'p [u32]>,
    {
        let freq = if self.slop == 0 { self.exact(positions) } else { self.sloppy(positions) };
        self.corrupt |= freq.is_none();
        freq.unwrap_or(0.0)
    }

    /// Stops reading once no start is left.
    #[inline]
    fn exact<F>(&mut self, positions: F) -> Option<f32>
    where
        F: for<'p> Fn(usize, &'p mut PhraseTerm<'s>) -> Option<&'p [u32]>,
    {
        for (place, (term, occurrences)) in self.terms.iter_mut().zip(&self.occurrences).enumerate() {
            let positions = positions(occurrences.number, term)?;
            if place == 0 {
                all_starts(positions, occurrences.offset, &mut self.starts);
            } else {
                keep_starts(positions, occurrences.offset, &mut self.starts);
            }
            if self.starts.is_empty() {
                return Some(0.0);
            }
        }
        Some(self.starts.len() as f32)
    }

    fn sloppy<F>(&mut self, positions: F) -> Option<f32>
    where
        F: for<'p> Fn(usize, &'p mut PhraseTerm<'s>) -> Option<&'p [u32]>,
    {
        for (term, occurrences) in self.terms.iter_mut().zip(&mut self.occurrences) {
            let positions = positions(occurrences.number, term)?;
            occurrences.positions.clear();
            occurrences.positions.extend_from_slice(positions);
        }
        Some(sloppy(&mut self.occurrences, self.slop))
    }

    /// Returns true if a list is damaged.
    pub(crate) fn corrupt(&self) -> bool {
        self.corrupt || self.terms.iter().any(|term| term.list.corrupt())
    }
}

/// Finds every place where a phrase could begin, given a term with these positions at `offset`.
pub(crate) fn all_starts(positions: &[u32], offset: u32, starts: &mut Vec<u32>) {
    starts.clear();
    starts.extend(positions.iter().filter_map(|position| position.checked_sub(offset)));
}

/// Keeps the ascending `starts` that such a term allows.
pub(crate) fn keep_starts(positions: &[u32], offset: u32, starts: &mut Vec<u32>) {
    if let ([start], [position]) = (&starts[..], positions) {
        // The usual case.
        if position.checked_sub(offset) != Some(*start) {
            starts.clear();
        }
        return;
    }
    let mut left = positions;
    starts.retain(|&start| {
        let wanted = start.saturating_add(offset);
        while left.first().is_some_and(|&position| position < wanted) {
            left = &left[1..];
        }
        left.first() == Some(&wanted)
    });
}
