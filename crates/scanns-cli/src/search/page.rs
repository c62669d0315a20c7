//! One page of hits in an order, and the token of the next page.
//!
//! A token names the last hit of a page and the commit of the index, or of each of several indexes. It has
//! a digest of the query and the options, since the hits after that hit differ with another query, model or
//! commit. A checksum of the token shows whether it was changed.

use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::{Result, anyhow, bail};
use scanns::aggregate::{Aggregated, Aggregation};
use scanns::schema::{Field, Value};
use scanns::search::{Budget, Collapsed, KeyOrder, KeyPage, Model, NearHits, PreparedQuery, Searcher};
use scanns::{Hit, Query, Snapshot};

use super::order;
use crate::args::{SearchArgs, SortArg};
use crate::progress::Ticker;

/// The token of the first page.
const START: &str = "start";

/// The query with everything that affects its hits.
pub(super) struct Asked<'a> {
    pub(super) args: &'a SearchArgs,
    pub(super) snapshot: &'a Snapshot,
    pub(super) searcher: &'a Searcher<'a>,
    pub(super) query: &'a Query,
    pub(super) prepared: &'a PreparedQuery<'a, 'a, 'a>,
    pub(super) model: Model,
    pub(super) field: Field,
    /// The example of --like, if it is a document; it is not a hit.
    pub(super) itself: Option<Hit>,
    pub(super) budget: Option<&'a Budget>,
}

impl Asked<'_> {
    pub(super) fn is_itself(&self, hit: &Hit) -> bool {
        self.itself.is_some_and(|itself| (itself.leaf, itself.doc) == (hit.leaf, hit.doc))
    }
}

/// A hit, and the values of the columns that it was sorted by, if any.
pub(super) type SortedPage = (Hit, Vec<Option<Value>>);

/// A page.
pub(super) struct Page {
    /// The number of hits before this page.
    pub(super) before: usize,
    pub(super) hits: Vec<SortedPage>,
    /// For each hit the number of later ones that nearly repeat it; empty without --collapse.
    pub(super) near: Vec<u64>,
    /// The number of best hits among which near-duplicates were counted, if that is not all.
    pub(super) compared: Option<usize>,
    /// The token of the next page, if there may be more hits.
    pub(super) next: Option<String>,
    /// The answers to the aggregations over all matches.
    pub(super) aggregated: Vec<Aggregated>,
}

/// The requested page, and the answers to `aggregations`, in one pass where that is fastest.
pub(super) fn page(asked: &Asked<'_>, aggregations: &[Aggregation]) -> Result<Page> {
    if let Some(distance) = asked.args.columns.collapse {
        return collapsed(asked, distance, aggregations);
    }
    let Asked { args, snapshot, searcher, query, prepared, model, field, itself, budget: _ } = asked;
    let wanted = args.top.saturating_add(itself.iter().count());
    let generation = snapshot.fingerprint();
    let digest = digest(&snapshot.query_json_in(&[], query)?, *model, *field, &args.page.sort);
    let token = match args.page.after.as_deref() {
        None | Some(START) => None,
        Some(text) => Some(Token::parse(text)?.of(generation, digest)?),
    };
    let after = token.map(|token| token.hit);
    let plain = |hits: Vec<Hit>| hits.into_iter().map(|hit| (hit, Vec::new())).collect();
    let (mut hits, aggregated): (Vec<SortedPage>, _) = match (&args.page.sort, after) {
        (SortArg::Score, after) => {
            let k = if after.is_some() { args.top } else { wanted };
            let found = prepared.top_k_and_aggregate(*model, k, after, aggregations)?;
            (plain(found.hits), found.aggregated)
        }
        (SortArg::Fields(fields), after) => {
            let keys = order::keys(snapshot, fields)?;
            let after = after.map(|hit| searcher.sorted_hit(&keys, hit)).transpose()?;
            let after = after.as_ref();
            let found = prepared.top_k_sorted_and_aggregate(*model, &keys, wanted, after, aggregations)?;
            (found.hits.into_iter().map(|found| (found.hit, found.keys)).collect(), found.aggregated)
        }
        (sort, after) => {
            let order = if *sort == SortArg::Key { KeyOrder::Ascending } else { KeyOrder::Descending };
            let mut ticker = Ticker::new("document");
            let page = KeyPage { order, limit: wanted, after: after.as_ref() };
            let found = prepared.top_by_key(*model, page, |seen| ticker.at(seen))?;
            ticker.clear();
            (plain(found.into_iter().map(|found| found.hit).collect()), prepared.aggregate(aggregations)?)
        }
    };
    hits.retain(|(hit, _)| !asked.is_itself(hit));
    hits.truncate(args.top);
    let before = token.map_or(0, |token| token.rank);
    let next = hits
        .last()
        .filter(|_| hits.len() == args.top && !args.like.is_given())
        .map(|(hit, _)| Token { generation, digest, rank: before + hits.len(), hit: *hit }.text());
    Ok(Page { before, hits, near: Vec::new(), compared: None, next, aggregated })
}

/// The best hits without those that nearly repeat a better one, and the answers to `aggregations`.
fn collapsed(asked: &Asked<'_>, distance: u32, aggregations: &[Aggregation]) -> Result<Page> {
    let Asked { args, snapshot, prepared, .. } = asked;
    let Some(field) = snapshot.sketch_field() else {
        bail!("--collapse: the index has no sketches of texts: build one with --near-duplicates");
    };
    let keys = match &args.page.sort {
        SortArg::Score => Vec::new(),
        SortArg::Fields(fields) => order::keys(snapshot, fields)?,
        SortArg::Key | SortArg::KeyDown => bail!("--collapse: hits can be sorted by score or columns"),
    };
    let near = NearHits { field, distance, without: asked.itself };
    let Collapsed { hits, seen, is_all } = prepared.top_collapsed(asked.model, &keys, args.top, near)?;
    let near = hits.iter().map(|kept| kept.near).collect();
    let hits = hits.into_iter().map(|kept| (kept.hit.hit, kept.hit.keys)).collect();
    let (compared, aggregated) = ((!is_all).then_some(seen), prepared.aggregate(aggregations)?);
    Ok(Page { before: 0, hits, near, compared, next: None, aggregated })
}

/// A digest of what must be the same for all pages.
fn digest(query: &str, model: Model, field: Field, sort: &SortArg) -> u64 {
    let mut hasher = DefaultHasher::new();
    (query, format!("{model:?} {field:?} {sort:?}")).hash(&mut hasher);
    hasher.finish()
}

/// A position in the hits of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Token {
    generation: u64,
    digest: u64,
    /// The number of hits up to this one, inclusive.
    rank: usize,
    hit: Hit,
}

impl Token {
    fn text(&self) -> String {
        let Token { generation, digest, rank, hit } = self;
        let (leaf, doc, score) = (hit.leaf, hit.doc, hit.score.to_bits());
        format!("{generation:x}-{digest:x}-{rank:x}-{leaf:x}-{doc:x}-{score:x}-{:x}", self.check())
    }

    /// A checksum of all parts.
    fn check(&self) -> u64 {
        let Token { generation, digest, rank, hit } = self;
        let mut hasher = DefaultHasher::new();
        (generation, digest, rank, hit.leaf, hit.doc, hit.score.to_bits()).hash(&mut hasher);
        hasher.finish()
    }

    fn parse(text: &str) -> Result<Self> {
        let wrong = || anyhow!("--after {text}: not a page token: use one that was printed, or {START}");
        let numbers: Option<Vec<u64>> =
            text.split('-').map(|part| u64::from_str_radix(part, 16).ok()).collect();
        let Some([generation, digest, rank, leaf, doc, score, check]) =
            numbers.as_deref().and_then(|numbers| <&[u64; 7]>::try_from(numbers).ok())
        else {
            return Err(wrong());
        };
        let (Ok(rank), Ok(leaf), Ok(doc), Ok(score)) =
            (usize::try_from(*rank), usize::try_from(*leaf), u32::try_from(*doc), u32::try_from(*score))
        else {
            return Err(wrong());
        };
        let hit = Hit { score: f32::from_bits(score), leaf, doc };
        let token = Token { generation: *generation, digest: *digest, rank, hit };
        if token.check() == *check { Ok(token) } else { Err(wrong()) }
    }

    /// Returns the token, if it belongs to the query and the commit.
    fn of(self, generation: u64, digest: u64) -> Result<Self> {
        if self.digest != digest {
            bail!(
                "--after: the token belongs to another query, field, model or order: use the same as before"
            );
        }
        if self.generation != generation {
            bail!("--after: the index has changed since that page: start again with --after {START}");
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_read_back_and_nothing_else_does() {
        let hit = Hit { score: -1.5e-7, leaf: 3, doc: u32::MAX };
        let token = Token { generation: 12, digest: u64::MAX, rank: 30, hit };
        assert_eq!(Token::parse(&token.text()).unwrap(), token);
        assert!(
            token.of(12, u64::MAX).is_ok() && token.of(13, u64::MAX).is_err() && token.of(12, 0).is_err()
        );
        for text in [
            "",
            "start ",
            "1-2-3-4-5-6",
            "1-2-3-4-5-6-7",
            "1-2-3-4-5-6-7-8",
            "1-2-3-4-100000000-6-7",
            "1-2-3-4-5-6-g",
            "1-2-3--5-6-7",
        ] {
            assert!(Token::parse(text).is_err(), "{text}");
        }
        let whole = token.text();
        for at in 0..whole.len() {
            assert!(Token::parse(&whole[..at]).is_err(), "cut after {at}");
            let other = if &whole[at..=at] == "7" { "8" } else { "7" };
            let changed = [&whole[..at], other, &whole[at + 1..]].concat();
            assert!(Token::parse(&changed).is_err(), "{changed} instead of {whole}");
        }
    }

    #[test]
    fn the_digest_is_of_all_that_must_be_the_same() {
        let (model, field) = (Model::Classic, Field::default());
        let one = digest("a", model, field, &SortArg::Score);
        assert_eq!(one, digest("a", model, field, &SortArg::Score));
        assert_ne!(one, digest("b", model, field, &SortArg::Score));
        assert_ne!(one, digest("a", Model::Dph, field, &SortArg::Score));
        assert_ne!(one, digest("a", model, field, &SortArg::Key));
    }
}
