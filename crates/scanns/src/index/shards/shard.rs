//! Answers messages about one of several indexes that are searched as one.

use super::merge::of_shard;
use super::message::{
    CommonSchema, Description, FoundGroup, FoundHit, Question, Reply, Request, SearchReply, SearchRequest,
    ShardOrder, ShardShow, ShardShown, ShardSnippets, WantedGroups, WantedHits, WantedShown,
};
use super::wire::{decode, encode};
use crate::error::{Error, Result};
use crate::index::commit::schema_bytes::{put_schema, read_schema};
use crate::index::snapshot::Snapshot;
use crate::index::snapshot::batch::{BatchField, BatchOptions, BatchVisit};
use crate::query::{Operator, Query, WeightedField};
use crate::schema::{Field, Value};
use crate::search::aggregate::{Group, GroupBy, SortedHit};
use crate::search::statistics::TermStatistics;
use crate::search::{Budget, Hit, KeyPage, PreparedQuery, SearchThreads, Searcher};

/// One of several indexes that are searched as one; see [`ShardSet`](super::ShardSet).
#[derive(Debug)]
pub struct Shard {
    snapshot: Snapshot,
    /// A digest of the schema.
    schema: u64,
}

impl Shard {
    /// Makes a shard of a snapshot, which may itself be of several indexes.
    pub fn new(snapshot: Snapshot) -> Self {
        let schema = schema_digest(&put_schema(snapshot.schema()));
        Shard { snapshot, schema }
    }

    /// Returns the snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Describes the shard, for [`ShardSet::new`](super::ShardSet::new).
    ///
    /// # Errors
    /// An error if the description cannot be encoded.
    pub fn describe(&self) -> Result<Vec<u8>> {
        encode(&Description {
            name: self.snapshot.name(),
            fingerprint: self.snapshot.fingerprint(),
            documents: self.snapshot.info().documents,
            schema: put_schema(self.snapshot.schema()),
        })
    }

    /// Takes over the schema of all shards: [`ShardSet::schema_message`](super::ShardSet::schema_message).
    /// Shards with equal schemas need not be told.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if `message` is no such message, [`Error::Conflict`] if the schema does not fit the
    /// index.
    pub fn with_schema(self, message: &[u8]) -> Result<Self> {
        let CommonSchema { schema } = decode(message)?;
        let digest = schema_digest(&schema);
        let schema = read_schema(&schema)
            .ok_or_else(|| Error::corrupt("the schema of all shards", "its fields are not valid"))?;
        Ok(Shard { snapshot: self.snapshot.in_schema(schema)?, schema: digest })
    }

    /// Answers a message of a [`ShardSearch`](super::ShardSearch) to shard number `shard`, in the order of
    /// the descriptions. A question that cannot be answered has an answer that says why.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if `message` is no such message, [`Error::Conflict`] if it has another version.
    pub fn answer(
        &self,
        shard: usize,
        message: &[u8],
        budget: Option<&Budget>,
        threads: Option<&SearchThreads>,
    ) -> Result<Vec<u8>> {
        let request: Request = decode(message)?;
        let failed = |error: Error| error.to_string();
        let known = self.check(shard, &request).map_err(failed);
        match request.question {
            Question::Statistics(queries) => {
                let found = known.and_then(|()| self.statistics(&queries, budget).map_err(failed));
                encode::<Reply<Option<TermStatistics>>>(&found)
            }
            Question::Search { statistics, searches } => {
                let searcher = self.snapshot.searcher().with_statistics(&statistics);
                let searcher = limited(searcher, budget);
                let searcher = match threads {
                    Some(threads) => searcher.with_threads(threads),
                    None => searcher,
                };
                let answer = |asked: &Option<SearchRequest>| -> Reply<Option<SearchReply>> {
                    known.clone()?;
                    let Some(asked) = asked else { return Ok(None) };
                    let mut found = self.search(&searcher, asked).map_err(failed)?;
                    if let Some(wanted) = &asked.shown {
                        found.shown = self.shown(shard, &statistics, asked, wanted).map_err(failed)?;
                    }
                    found.is_cut = budget.is_some_and(Budget::ran_out);
                    Ok(Some(found))
                };
                encode::<Vec<Reply<Option<SearchReply>>>>(&searches.iter().map(answer).collect())
            }
        }
    }

    /// Checks that the message is about this commit and this schema.
    fn check(&self, shard: usize, request: &Request) -> Result<()> {
        let remedy = "describe the shards again, and repeat the search";
        if request.fingerprints.get(shard) != Some(&self.snapshot.fingerprint()) {
            return Err(Error::Conflict {
                what: format!("the index {} of shard {shard}", self.snapshot.name()),
                with: "the one that was described, which was another or has changed".into(),
                remedy: remedy.into(),
            });
        }
        if request.schema != self.schema {
            return Err(Error::Conflict {
                what: format!("the fields of shard {shard}"),
                with: "those of all shards".into(),
                remedy: "give the shard the schema of all shards first".into(),
            });
        }
        Ok(())
    }

    fn query(&self, json: &str) -> Result<Query> {
        // Every clause of the JSON names its field.
        let query = self.snapshot.parse_json_in(&[] as &[WeightedField], json, Operator::Or)?;
        if query.has_join() {
            // Documents of other shards may match the query inside.
            return Err(Error::Unsupported {
                what: "a join over indexes in other processes".into(),
                remedy: "open the indexes as one with Snapshot::open_all".into(),
            });
        }
        Ok(query)
    }

    /// The statistics of the terms of queries; `None` if the time was up before.
    fn statistics(&self, queries: &[String], budget: Option<&Budget>) -> Result<Option<TermStatistics>> {
        let (mut all, searcher) = (TermStatistics::default(), limited(self.snapshot.searcher(), budget));
        for query in queries {
            searcher.prepare(&self.query(query)?)?.add_statistics(&mut all)?;
        }
        // Scores with some of the statistics would be wrong.
        Ok((!budget.is_some_and(Budget::ran_out)).then_some(all))
    }

    /// Calls `visit` with batches of the documents that match the query of a message: the second one of a
    /// search with one question. Fuzzy words stand for the same terms in all shards.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if `message` is no such message, [`Error::Conflict`] if it is about another commit;
    /// and the errors of [`Snapshot::for_each_batch`].
    pub fn for_each_batch(
        &self,
        shard: usize,
        message: &[u8],
        fields: &[BatchField],
        options: &BatchOptions,
        visit: &mut BatchVisit<'_>,
    ) -> Result<()> {
        let request: Request = decode(message)?;
        self.check(shard, &request)?;
        let other = "it does not ask for the documents of one query";
        let Question::Search { statistics, searches } = request.question else {
            return Err(Error::corrupt("a message between shards", other));
        };
        let [Some(asked)] = searches.as_slice() else {
            return Err(Error::corrupt("a message between shards", other));
        };
        let searcher = self.snapshot.searcher().with_statistics(&statistics);
        self.snapshot.for_each_batch_of(&searcher, &self.query(&asked.query)?, fields, options, visit)
    }

    fn search(&self, searcher: &Searcher<'_>, asked: &SearchRequest) -> Result<SearchReply> {
        let query = self.query(&asked.query)?;
        let prepared = searcher.prepare(&query)?;
        let found = asked.hits.as_ref().map(|wanted| self.hits(&prepared, asked, wanted)).transpose()?;
        let mut reply = SearchReply {
            hits: found.unwrap_or_default(),
            count: if asked.count { Some(prepared.count()?) } else { None },
            aggregated: prepared.aggregate_parts(&asked.aggregations)?,
            heads: Vec::new(),
            members: Vec::new(),
            shown: Vec::new(),
            is_cut: false,
        };
        match &asked.groups {
            None => {}
            Some(WantedGroups::Heads(by)) => reply.heads = prepared.heads_of_groups(asked.model, by)?,
            Some(WantedGroups::Members(by, heads)) => {
                // A group of one hit is not sorted otherwise, since its first hit is known.
                let by = GroupBy { hits: by.hits.max(2), ..by.clone() };
                for Group { count, hits, .. } in
                    prepared.members_of_groups(asked.model, &by, heads.clone())?
                {
                    let hits = hits.into_iter().map(|hit| self.found(searcher, hit, &asked.fields));
                    reply.members.push(FoundGroup { count, hits: hits.collect::<Result<_>>()? });
                }
            }
        }
        Ok(reply)
    }

    fn hits(
        &self,
        prepared: &PreparedQuery<'_, '_, '_>,
        asked: &SearchRequest,
        wanted: &WantedHits,
    ) -> Result<Vec<FoundHit>> {
        let unsorted = |hit: Hit| SortedHit { hit, keys: Vec::new() };
        let (model, most) = (asked.model, wanted.most);
        let hits: Vec<SortedHit> = match &wanted.order {
            ShardOrder::Score => prepared.top_k(model, most)?.into_iter().map(unsorted).collect(),
            ShardOrder::Fields(keys) => prepared.top_k_sorted(model, keys, most, None)?,
            ShardOrder::Key(order) => {
                let page = KeyPage { order: *order, limit: most, after: None };
                let found = prepared.top_by_key(model, page, |_| ())?;
                found.into_iter().map(|found| unsorted(found.hit)).collect()
            }
        };
        hits.into_iter().map(|hit| self.found(prepared.searcher, hit, &asked.fields)).collect()
    }

    /// What is wanted of the hits that are in this shard.
    fn shown(
        &self,
        shard: usize,
        statistics: &TermStatistics,
        asked: &SearchRequest,
        wanted: &WantedShown,
    ) -> Result<Vec<ShardShown>> {
        let (query, ShardShow { content, explain, snippets }) = (self.query(&asked.query)?, wanted.show);
        let field = snippets.map_or_else(Field::default, |snippets| snippets.field);
        let searcher = self.snapshot.searcher_in(field).with_statistics(statistics);
        let prepared = searcher.prepare(&query)?;
        let analyzer = self.snapshot.schema().analyzer(field);
        let highlighter = |snippets: ShardSnippets| searcher.highlighter(&query, analyzer, snippets.options);
        let mut highlighter = snippets.map(highlighter).transpose()?;
        let own = wanted.hits.iter().map(|&hit| of_shard(hit)).filter(|(of, _)| *of == shard);
        let one = |(_, hit): (usize, Hit)| {
            let mut shown = ShardShown::default();
            if explain {
                let explanation = prepared.explain(asked.model, &hit)?;
                shown.explanation = explanation.map(|explanation| explanation.to_string());
            }
            // A text that cannot be read is no reason to lose the hits.
            if content {
                match self.snapshot.document(&hit) {
                    Ok(text) => shown.content = text,
                    Err(error) => shown.problem = Some(error.to_string()),
                }
            }
            if let Some(highlighter) = &mut highlighter {
                match self.snapshot.snippets(&hit, field, highlighter) {
                    Ok(snippets) => shown.snippets = snippets,
                    Err(error) => shown.problem = Some(error.to_string()),
                }
            }
            Ok(shown)
        };
        own.map(one).collect()
    }

    /// A hit with its key and the values of fields.
    fn found(&self, searcher: &Searcher<'_>, sorted: SortedHit, fields: &[Field]) -> Result<FoundHit> {
        let SortedHit { hit, keys } = sorted;
        let values: Vec<Vec<Value>> =
            if fields.is_empty() { Vec::new() } else { self.snapshot.field_values(&hit, fields)? };
        Ok(FoundHit { key: searcher.key(&hit)?, hit, keys, values })
    }
}

fn limited<'a>(searcher: Searcher<'a>, budget: Option<&'a Budget>) -> Searcher<'a> {
    match budget {
        Some(budget) => searcher.within(budget),
        None => searcher,
    }
}

/// A digest of an encoded schema.
pub(super) fn schema_digest(schema: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(schema)
}
