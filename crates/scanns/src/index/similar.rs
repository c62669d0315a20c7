//! Queries made of documents: those that answer a query expand it, and one document finds others like it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Snapshot;
use crate::error::{Error, Result};
use crate::schema::{Field, Value};
use crate::search::{Answer, Hit, Leaf, Model, MoreLikeThis, Query, Rm3};
use crate::segment::TermInDocument;
use crate::tokenize::{MAX_TOKEN, TokenSink, Tokenizer};

impl Snapshot {
    /// A query that takes terms of the documents that answer it best, to be asked instead of it in `field`, the one that
    /// is searched where none is named. Optional words are weighed anew; of any other query what it requires and
    /// excludes stays so, and the terms only count for the order. One that no document answers stays as it is.
    ///
    /// # Errors
    /// [`Error::Options`] if the index has no vectors of the field, or what is asked is outside its range.
    pub fn expand(&self, query: &Query, field: Field, model: Model, rm3: &Rm3) -> Result<Query> {
        rm3.check()?;
        if !self.info().stored.vectors {
            let message = "the index has no vectors, which feedback takes terms from: \
                           build it with --vectors, or leave feedback out";
            return Err(Error::Options(message.into()));
        }
        if field != self.default_field() {
            let name = |field| self.schema().entry(field).map_or("", |entry| &entry.name);
            return Err(Error::Options(format!(
                "feedback takes terms from vectors, and those of the index are of the field {}, not of {}: search without \
                 --field, or leave feedback out",
                name(self.default_field()),
                name(field)
            )));
        }
        let all = self.all_documents();
        let mut documents = Vec::new();
        for hit in self.best(query, model, rm3)? {
            let vector = frequencies(self.vector(&hit)?.unwrap_or_default());
            let is_rare = |term: &[u8]| {
                let share = self.doc_freq(field, term)? as f32 / all as f32;
                Ok(share <= rm3.common)
            };
            documents.push(Answer { score: hit.score, terms: rm3.most_frequent(vector, is_rare)? });
        }
        Ok(rm3.expand(query, field, &documents))
    }

    /// The documents to take terms from. Of equally good ones those with the smaller keys come first, so that it does
    /// not matter how documents are spread.
    fn best(&self, query: &Query, model: Model, rm3: &Rm3) -> Result<Vec<Hit>> {
        let hits = self.searcher().top_k(query, model, rm3.first_pass.max(rm3.documents))?;
        let mut named = hits
            .into_iter()
            .map(|hit| Ok((self.key(&hit)?, hit)))
            .collect::<Result<Vec<(Vec<u8>, Hit)>>>()?;
        named.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.0.cmp(&b.0)));
        Ok(named.into_iter().take(rm3.documents).map(|(_, hit)| hit).collect())
    }

    /// The document of that name, as [`Snapshot::key`] has it, with a score of 0; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Options`] for the name of a file whose lines are documents.
    pub fn hit(&self, key: &[u8]) -> Result<Option<Hit>> {
        let mut has_lines = false;
        for (leaf, segment) in self.leaves().iter().enumerate() {
            // A file may be called as a line of another one: each range is of one thing that is called so.
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
            return Err(Error::Options(format!("each line of {key} is a document: name one, as {key}:1")));
        }
        Ok(None)
    }

    /// How many documents have the term in a field, deleted ones included.
    pub fn doc_freq(&self, field: Field, term: &[u8]) -> Result<u64> {
        let found = self.segments_in(field).iter().map(|segment| segment.find(term));
        found.map(|found| Ok(found?.map_or(0, |term| u64::from(term.doc_freq)))).sum()
    }

    /// A query for documents that are like that of a hit in a field; it finds that one too. Its terms come from the
    /// vector of the document, or from its text, where the index has either.
    ///
    /// # Errors
    /// [`Error::Options`] if the index has neither, [`Error::SourceChanged`] if it refers to a file that has changed.
    pub fn like(&self, hit: &Hit, field: Field, options: &MoreLikeThis) -> Result<Query> {
        let is_default = field == self.default_field();
        if let Some(vector) = self.vector(hit)?.filter(|_| is_default) {
            return self.like_terms(field, frequencies(vector), options);
        }
        let text = match is_default {
            true => self.document(hit)?,
            false => self.values_of(hit, field)?,
        };
        let Some(text) = text else {
            let message = "the index has neither vectors nor the text of that field, so it cannot tell what the \
                           document is about: build it with --vectors, --store content or --store reference, \
                           or give the text";
            return Err(Error::Options(message.into()));
        };
        self.like_text(field, &text, options)
    }

    /// A query for documents that are like a text in a field.
    ///
    /// # Errors
    /// [`Error::Options`] if what is asked is outside its range.
    pub fn like_text(&self, field: Field, text: &[u8], options: &MoreLikeThis) -> Result<Query> {
        let mut counted = Counted::default();
        match self.schema().analyzer(field) {
            Some(analyzer) => Tokenizer::new(analyzer).run(&mut text.to_vec(), 0..text.len(), &mut counted),
            // A field that is searched as a whole.
            None => counted.add(text.get(..MAX_TOKEN).unwrap_or(text)),
        }
        self.like_terms(field, counted.terms.into_iter().collect(), options)
    }

    /// The best `k` documents that are like that of a hit, without that one.
    ///
    /// # Errors
    /// Those of [`Snapshot::like`].
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
    ) -> Result<Query> {
        options.check()?;
        let query = options.query(terms, self.all_documents(), |term| self.doc_freq(field, term))?;
        Ok(if field == self.default_field() { query } else { Query::In(field, Box::new(query)) })
    }

    /// The stored texts of a field of a document, one after the other.
    fn values_of(&self, hit: &Hit, field: Field) -> Result<Option<Vec<u8>>> {
        let texts = self.values(hit)?.into_iter().flatten().filter_map(|(of, value)| match value {
            Value::Text(text) if of == field => Some(text),
            _ => None,
        });
        Ok(texts.reduce(|all, next| [&all[..], b"\n", &next[..]].concat()))
    }

    /// Documents, deleted ones included, as [`Snapshot::doc_freq`] counts them.
    fn all_documents(&self) -> u64 {
        self.segments().iter().map(|segment| segment.documents + segment.deleted).sum()
    }

    fn default_field(&self) -> Field {
        self.schema().default_field().unwrap_or_default()
    }
}

/// A sink that counts each different token.
#[derive(Default)]
struct Counted {
    terms: BTreeMap<Vec<u8>, usize>,
}

impl Counted {
    fn add(&mut self, term: &[u8]) {
        match self.terms.get_mut(term) {
            Some(count) => *count += 1,
            None => drop(self.terms.insert(term.to_vec(), 1)),
        }
    }
}

impl TokenSink for Counted {
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
