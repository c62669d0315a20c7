//! How often terms stand in certain places beside each other in a document.
//!
//! Exactly: at how many places all terms stand as asked for. With slop, see `sloppy.rs`.

use super::budget::Clock;
use super::leaf::{ListSource, PositionSource};
use super::run::{Terms, View};
use super::similarity::{Scorer, Similarity};
use super::sloppy::{Occurrences, sloppy};
use crate::codec::{BLOCK, Impact, ListCursor, NO_MORE, PositionCursor, PostingPlace};
use crate::error::Result;

/// Documents that contain a phrase.
pub(super) struct PhraseCursor<'s, S> {
    matcher: PhraseMatcher<'s>,
    scorers: PhraseScorers<'s, S>,
    clock: Clock<'s>,
    /// Documents from here on are not looked at.
    end: u32,
    doc: u32,
    /// What the phrase counts in the document at hand.
    freq: f32,
}

impl<'s, S: Similarity> PhraseCursor<'s, S> {
    /// At the first document of the view with the phrase.
    pub(super) fn new(matcher: PhraseMatcher<'s>, scorers: PhraseScorers<'s, S>, view: &View<'s>) -> Self {
        let mut cursor =
            PhraseCursor { matcher, scorers, clock: view.clock, end: view.end, doc: 0, freq: 0.0 };
        cursor.advance(view.first);
        cursor
    }

    pub(super) fn doc(&self) -> u32 {
        self.doc
    }

    /// Moves to the first document with the phrase that is not below `target`; never back.
    pub(super) fn advance(&mut self, target: u32) -> u32 {
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

    /// The first document from `target` on that has all terms.
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

    /// The score of the document at hand.
    pub(super) fn score(&self) -> f32 {
        self.scorers.score(self.doc, self.freq)
    }

    /// True if a list turned out damaged.
    pub(super) fn corrupt(&self) -> bool {
        self.matcher.corrupt()
    }
}

impl<S> Terms<'_, S> {
    /// What counts a phrase of terms with their places; `lists` are theirs.
    ///
    /// # Errors
    /// [`Error::Options`](crate::Error::Options) if the leaf keeps no positions.
    pub(super) fn phrase_matcher<'s>(
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

impl<'t, S: Similarity> Terms<'t, S> {
    /// What scores a phrase of at least one term.
    pub(super) fn phrase_scorers<'s>(
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

/// What each term of a phrase adds to the score, or all together.
pub(super) struct PhraseScorers<'s, S>(pub(super) Vec<Scorer<'s, S>>);

impl<S: Similarity> PhraseScorers<'_, S> {
    /// The score of a document where the phrase counts `freq`.
    pub(super) fn score(&self, doc: u32, freq: f32) -> f32 {
        self.0.iter().map(|scorer| scorer.score_freq(doc, freq)).sum()
    }

    /// Adds bounds of the scores that documents would have where the phrase counts `freqs`; not more than a block of them.
    pub(super) fn add_all(&self, (docs, freqs): (&[u32], &[u32]), sums: &mut [f64]) {
        let mut scores = [0.0; BLOCK];
        let scores = &mut scores[..docs.len()];
        for scorer in &self.0 {
            scorer.score_all((docs, freqs), scores);
            for (sum, &score) in sums.iter_mut().zip(&*scores) {
                *sum += f64::from(score) * self.slack();
            }
        }
    }

    /// What a sum in 64 bits lacks to a bound of one in 32.
    fn slack(&self) -> f64 {
        1.0 + 1e-7 * self.0.len().saturating_sub(1) as f64
    }

    /// The highest score where no document has the phrase more often than `impacts` say.
    pub(super) fn bound(&self, impacts: &[Impact]) -> f64 {
        self.slack() * self.0.iter().map(|scorer| f64::from(scorer.bound(impacts))).sum::<f64>()
    }
}

/// A term of a phrase: its documents, and where in them it stands.
pub(super) struct PhraseTerm<'s> {
    pub(super) list: ListCursor<'s>,
    pub(super) positions: PositionSource<'s>,
}

/// Counts a phrase in documents that have all of its terms.
pub(super) struct PhraseMatcher<'s> {
    terms: Vec<PhraseTerm<'s>>,
    occurrences: Vec<Occurrences>,
    slop: u32,
    /// Where the phrase may begin, as far as the terms looked at say.
    starts: Vec<u32>,
    corrupt: bool,
}

impl<'s> PhraseMatcher<'s> {
    /// Each term has its place in the phrase and its number.
    pub(super) fn new(mut terms: Vec<(PhraseTerm<'s>, Occurrences)>, slop: u32) -> Self {
        let first = terms.iter().map(|(_, occurrences)| occurrences.offset).min().unwrap_or(0);
        for (number, (_, occurrences)) in terms.iter_mut().enumerate() {
            (occurrences.number, occurrences.offset) = (number, occurrences.offset - first);
        }
        if slop == 0 {
            // What is rare leaves the least to do. With slop the order is part of how it counts.
            terms.sort_by_key(|(term, _)| term.list.doc_freq());
        }
        let (terms, occurrences) = terms.into_iter().unzip();
        PhraseMatcher { terms, occurrences, slop, starts: Vec::new(), corrupt: false }
    }

    /// True if a place may count for more than each term alone.
    pub(super) fn is_sloppy(&self) -> bool {
        self.slop > 0
    }

    /// What the phrase counts in `doc`; 0 if something turned out damaged.
    pub(super) fn freq(&mut self, doc: u32) -> f32 {
        self.count(|_, term| match term.list.seek(doc) == doc {
            true => term.positions.of_current(&mut term.list),
            false => Some(&[]),
        })
    }

    /// The same in a document that has all terms, where for each of them, in the order in which they were given, it is known
    /// where its posting is and how often the term occurs.
    #[inline]
    pub(super) fn freq_at(&mut self, doc: u32, posting: impl Fn(usize) -> (PostingPlace, u32)) -> f32 {
        self.count(|number, term| {
            let (place, tf) = posting(number);
            term.positions.at(doc, place, tf)
        })
    }

    /// The terms, rarest first, where the phrase has to stand exactly as it is and positions are those of a segment: what
    /// reads positions, the place in the phrase, and which of the terms it is.
    pub(super) fn exact_terms(&mut self) -> Option<Vec<(&mut PositionCursor<'s>, u32, usize)>> {
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

    /// Notes that positions turned out damaged.
    pub(super) fn give_up(&mut self) {
        self.corrupt = true;
    }

    /// What the phrase counts where `positions` says for each term where it stands.
    #[inline]
    fn count<F>(&mut self, positions: F) -> f32
    where
        F: for<'p> Fn(usize, &'p mut PhraseTerm<'s>) -> Option<&'p [u32]>,
    {
        let freq = if self.slop == 0 { self.exact(positions) } else { self.sloppy(positions) };
        self.corrupt |= freq.is_none();
        freq.unwrap_or(0.0)
    }

    /// Terms that cannot change anything any more are not read.
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

    /// True if a list turned out damaged.
    pub(super) fn corrupt(&self) -> bool {
        self.corrupt || self.terms.iter().any(|term| term.list.corrupt())
    }
}

/// Every place where a phrase could begin that has a term of these positions at `offset`.
pub(super) fn all_starts(positions: &[u32], offset: u32, starts: &mut Vec<u32>) {
    starts.clear();
    starts.extend(positions.iter().filter_map(|position| position.checked_sub(offset)));
}

/// Leaves of `starts`, which rise, those that such a term allows.
pub(super) fn keep_starts(positions: &[u32], offset: u32, starts: &mut Vec<u32>) {
    if let ([start], [position]) = (&starts[..], positions) {
        // What is mostly so.
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
