//! Creates queries from documents: query expansion with the best hits, and search for similar documents.

use std::collections::BTreeMap;
use std::ops::Range;

use super::open::Snapshot;
use crate::error::{Error, Result};
use crate::query::Query;
use crate::schema::{Field, MAX_TOKEN};
use crate::search::{Answer, Hit, Leaf, Model, MoreLikeThis, Rm3, Searcher};
use crate::segment::{Segment, TermInDocument};
use crate::tokenize::{TokenSink, Tokenizer};

impl Snapshot {
    /// Expands a query with terms that the documents that match it best have in `field`. A query of optional
    /// words gets new weights. Any other query keeps its required and excluded parts, and the new terms only
    /// change the order of hits. A query without hits is returned unchanged. The terms come from the vectors
    /// of the documents, or from their stored texts, which takes longer.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the index has neither for the field; [`Error::InvalidValue`] for parameters
    /// outside their range; [`Error::SourceChanged`] if it refers to a file that has changed.
    pub fn expand(&self, query: &Query, field: Field, model: Model, rm3: &Rm3) -> Result<Query> {
        self.expand_within(&self.searcher(), query, field, model, rm3)
    }

    /// Does the same with the hits of a searcher of this snapshot. If its budget runs out, the terms come
    /// from the hits that were found until then.
    ///
    /// # Errors
    /// The errors of [`Snapshot::expand`].
    pub fn expand_within(
        &self,
        searcher: &Searcher<'_>,
        query: &Query,
        field: Field,
        model: Model,
        rm3: &Rm3,
    ) -> Result<Query> {
        rm3.check()?;
        let all = self.all_documents();
        let mut documents = Vec::new();
        for hit in self.best(searcher, query, model, rm3)? {
            let Some(counts) = self.term_counts(&hit, field)? else {
                let name = self.schema().entry(field).map_or("", |entry| &entry.name);
                return Err(Error::Unsupported {
                    what: format!("query expansion in field {name} without vectors or stored text"),
                    remedy: "build the index with vectors, or store the field, or leave the expansion out"
                        .into(),
                });
            };
            let is_rare = |term: &[u8]| {
                let share = self.doc_freq(field, term)? as f32 / all as f32;
                Ok(share <= rm3.common)
            };
            documents.push(Answer { score: hit.score, terms: rm3.most_frequent(counts, is_rare)? });
        }
        Ok(rm3.expand(query, field, &documents))
    }

    /// The documents from which to take terms. Documents with equal scores are sorted by key, so that the
    /// answer does not depend on the segments.
    fn best(&self, searcher: &Searcher<'_>, query: &Query, model: Model, rm3: &Rm3) -> Result<Vec<Hit>> {
        let hits = searcher.top_k(query, model, rm3.first_pass.max(rm3.documents))?;
        let mut named = hits
            .into_iter()
            .map(|hit| Ok((self.key(&hit)?, hit)))
            .collect::<Result<Vec<(Vec<u8>, Hit)>>>()?;
        named.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.0.cmp(&b.0)));
        Ok(named.into_iter().take(rm3.documents).map(|(_, hit)| hit).collect())
    }

    /// Returns the document with a key, as [`Snapshot::key`] returns it, as a hit with score 0; `None` if no
    /// document has the key.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for the path of a file whose lines are documents.
    pub fn hit(&self, key: impl AsRef<[u8]>) -> Result<Option<Hit>> {
        let key = key.as_ref();
        let mut has_lines = false;
        for (leaf, segment) in self.leaves().iter().enumerate() {
            // A file may have the same name as a line of another file; each range belongs to one of them.
            for mut documents in segment.documents_named([key])? {
                let Some(doc) = documents.find(|&doc| segment.is_live(doc)) else { continue };
                if segment.key(doc)? == key {
                    return Ok(Some(Hit { score: 0.0, leaf, doc }));
                }
                has_lines = true;
            }
        }
        if has_lines {
            let key = String::from_utf8_lossy(key);
            return Err(Error::invalid("key", &key, format!("a line of the file, such as {key}:1")));
        }
        Ok(None)
    }

    /// Returns the number of documents with a key. For the path of a file whose lines are documents, it is
    /// the number of its lines.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if keys cannot be read.
    pub fn count_of_key(&self, key: impl AsRef<[u8]>) -> Result<u64> {
        let mut count = 0;
        for segment in self.leaves() {
            let named = segment.documents_named([key.as_ref()])?.into_iter().flatten();
            count += named.filter(|&doc| segment.is_live(doc)).count() as u64;
        }
        Ok(count)
    }

    /// Returns the number of documents with the term in a field, including deleted documents unless the
    /// snapshot is [seen by a view](Snapshot::seen_by).
    pub fn doc_freq(&self, field: Field, term: &[u8]) -> Result<u64> {
        let of_segment = |segment: &Segment| match segment.find(term)? {
            Some(found) => Ok(segment.figures(&found)?.doc_freq),
            None => Ok(0),
        };
        self.segments_in(field).iter().map(of_segment).sum()
    }

    /// Returns a query for documents similar to the document of a hit in a field. It also matches that
    /// document. The terms come from the vector of the document, or from its stored text.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the index has neither; [`Error::SourceChanged`] if it refers to a file that
    /// has changed.
    pub fn like(&self, hit: &Hit, field: Field, options: &MoreLikeThis) -> Result<Query> {
        self.like_until(hit, field, options, &|| false)
    }

    /// Does the same until `stop` returns true, which is asked before each term is looked up.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it was stopped, and the errors of [`Snapshot::like`].
    pub fn like_until(
        &self,
        hit: &Hit,
        field: Field,
        options: &MoreLikeThis,
        stop: &dyn Fn() -> bool,
    ) -> Result<Query> {
        let Some(counts) = self.term_counts(hit, field)? else {
            return Err(Error::Unsupported {
                what: "finding similar documents without a stored vector or stored text".into(),
                remedy: "build the index with vectors, or with store content or reference, or give the text"
                    .into(),
            });
        };
        self.like_terms(field, counts, options, stop)
    }

    /// The terms of a document in a field with their frequencies, from its vector or else from its stored
    /// text; `None` if the index has neither.
    fn term_counts(&self, hit: &Hit, field: Field) -> Result<Option<CountedTerms>> {
        if self.schema().entry(field).is_none_or(|entry| entry.postings().is_none()) {
            return Ok(None);
        }
        let is_default = field == self.default_field_of(hit);
        if let Some(vector) = self.vector(hit)?.filter(|_| is_default) {
            return Ok(Some(frequencies(vector)));
        }
        let text = if is_default {
            self.document(hit)?
        } else {
            self.texts(hit, field)?.map(|texts| texts.join(&b'\n'))
        };
        Ok(text.map(|text| self.counts_of(field, &text)))
    }

    /// The terms of a text in a field with their frequencies.
    fn counts_of(&self, field: Field, text: &[u8]) -> CountedTerms {
        let mut counted = TokenCounts::default();
        match self.schema().analyzer(field) {
            Some(analyzer) => Tokenizer::new(analyzer).run(&mut text.to_vec(), 0..text.len(), &mut counted),
            // Each value of this field is one term.
            None => counted.add(text.get(..MAX_TOKEN).unwrap_or(text)),
        }
        counted.terms.into_iter().collect()
    }

    /// Returns a query for documents similar to a text in a field.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for options outside their range.
    pub fn like_text(&self, field: Field, text: &[u8], options: &MoreLikeThis) -> Result<Query> {
        self.like_terms(field, self.counts_of(field, text), options, &|| false)
    }

    /// Returns the best `k` documents similar to the document of a hit, excluding that document.
    ///
    /// # Errors
    /// The errors of [`Snapshot::like`].
    pub fn more_like(&self, hit: &Hit, model: Model, k: usize, options: &MoreLikeThis) -> Result<Vec<Hit>> {
        let query = self.like(hit, self.default_field(), options)?;
        let mut hits = self.searcher().top_k(&query, model, k.saturating_add(1))?;
        hits.retain(|found| (found.leaf, found.doc) != (hit.leaf, hit.doc));
        hits.truncate(k);
        Ok(hits)
    }

    fn like_terms(
        &self,
        field: Field,
        terms: Vec<(Vec<u8>, usize)>,
        options: &MoreLikeThis,
        stop: &dyn Fn() -> bool,
    ) -> Result<Query> {
        options.check()?;
        let doc_freq = |term: &[u8]| if stop() { Err(Error::Cancelled) } else { self.doc_freq(field, term) };
        options.query(field, terms, self.all_documents(), doc_freq)
    }

    /// The number of documents, counted as in [`Snapshot::doc_freq`].
    fn all_documents(&self) -> u64 {
        self.segments().iter().map(|segment| segment.documents + segment.deleted).sum()
    }
}

/// Distinct terms, each with its frequency.
type CountedTerms = Vec<(Vec<u8>, usize)>;

/// A token sink that counts each distinct token.
#[derive(Default)]
struct TokenCounts {
    terms: BTreeMap<Vec<u8>, usize>,
}

impl TokenCounts {
    fn add(&mut self, term: &[u8]) {
        match self.terms.get_mut(term) {
            Some(count) => *count += 1,
            None => drop(self.terms.insert(term.to_vec(), 1)),
        }
    }
}

impl TokenSink for TokenCounts {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.chunks_exact(2) {
            self.add(&text[base + usize::from(pair[0])..base + usize::from(pair[1])]);
        }
    }

    fn token(&mut self, token: &[u8], _: Range<usize>) {
        self.add(token);
    }
}

fn frequencies(vector: Vec<TermInDocument>) -> Vec<(Vec<u8>, usize)> {
    vector.into_iter().map(|term| (term.frequency(), term.term)).map(|(freq, term)| (term, freq)).collect()
}
