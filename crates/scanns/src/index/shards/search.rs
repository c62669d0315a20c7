//! The rounds of a search over several shards.

use std::collections::{BTreeMap, VecDeque};

use super::merge::{in_shard, of_shard, sort, sort_by_fields};
use super::message::{
    FoundHit, Question, Reply, Request, SearchReply, SearchRequest, ShardShow, ShardShown, WantedGroups,
    WantedHits, WantedShown,
};
use super::shard_set::{ShardQuery, ShardSet};
use super::wire::{decode, encode};
use crate::column::ColumnKind;
use crate::error::{Error, Result};
use crate::schema::{Field, Value};
use crate::search::Hit;
use crate::search::aggregate::joined::JoinedAggregations;
use crate::search::aggregate::{Aggregated, Aggregation, GroupBy, GroupHead};
use crate::search::statistics::TermStatistics;

/// A search over several shards; see [`ShardSet`].
#[derive(Debug)]
pub struct ShardSearch {
    set: ShardSet,
    allows_missing: bool,
    missing: Vec<MissingShard>,
    statistics: Option<TermStatistics>,
    searches: Vec<OneSearch>,
}

/// A shard that did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingShard {
    /// The number of the shard.
    pub shard: usize,
    /// Its index.
    pub name: String,
    /// Why it did not answer.
    pub reason: String,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardAnswer {
    /// The hits, in order.
    pub hits: Vec<ShardHit>,
    /// The number of all matches, if it was asked for.
    pub count: Option<u64>,
    /// The answers to the aggregations.
    pub aggregated: Vec<Aggregated>,
    /// The groups, if they were asked for.
    pub groups: Option<ShardGroups>,
    /// The shards that did not answer. The answer lacks their documents, and scores lack their terms if they
    /// were missing from the start.
    pub missing: Vec<MissingShard>,
    /// True if the time of a shard was up before it had found everything. A shard whose time was up before it
    /// had looked up the terms is among `missing`, since nothing can be scored without its terms.
    pub is_cut: bool,
}

/// A hit of a shard.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardHit {
    /// The number of the shard.
    pub shard: usize,
    /// The hit in the snapshot of the shard.
    pub hit: Hit,
    /// The key of the document.
    pub key: Vec<u8>,
    /// The values that hits are sorted by.
    pub keys: Vec<Option<Value>>,
    /// The values of the requested fields.
    pub values: Vec<Vec<Value>>,
    /// What was requested of the document; empty for the hits of groups.
    pub shown: ShardShown,
}

/// Hits by group.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardGroups {
    /// The first groups, in the order of their first hits.
    pub groups: Vec<ShardGroup>,
    /// The number of groups.
    pub total: u64,
    /// The number of documents without a value.
    pub missing: u64,
}

/// The hits of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardGroup {
    /// The value of the group; `None` for documents without a value.
    pub value: Option<Value>,
    /// The number of hits.
    pub count: u64,
    /// The first hits.
    pub hits: Vec<ShardHit>,
}

/// The state of one question.
#[derive(Debug)]
struct OneSearch {
    asked: ShardQuery,
    /// The query as JSON.
    query: String,
    /// The answers to the aggregations, and then to the number of groups if groups are wanted.
    aggregations: JoinedAggregations,
    groups: GroupState,
    is_first: bool,
    /// Once the first answers are there, the hits of the page.
    hits: Vec<FoundHit>,
    /// What is shown of each of them, when it is known.
    shown: Option<Vec<ShardShown>>,
    count: u64,
    is_cut: bool,
}

#[derive(Debug)]
enum GroupState {
    Unwanted,
    Heads,
    Members(Vec<GroupHead>),
    Done(Vec<ShardGroup>),
}

/// The answers of shards, by number.
type Answers<T> = Vec<(usize, T)>;

impl ShardSet {
    /// Begins a search with several questions, which are answered together.
    ///
    /// # Errors
    /// [`Error::InvalidField`] if a query contains a field that no shard has.
    pub fn search(&self, queries: Vec<ShardQuery>) -> Result<ShardSearch> {
        ShardSearch::new(self.clone(), queries)
    }
}

impl ShardSearch {
    pub(super) fn new(set: ShardSet, queries: Vec<ShardQuery>) -> Result<Self> {
        let searches = queries.into_iter().map(|asked| OneSearch::new(&set, asked));
        let searches = searches.collect::<Result<_>>()?;
        Ok(ShardSearch { set, allows_missing: false, missing: Vec::new(), statistics: None, searches })
    }

    /// Accepts an answer that lacks shards, and says which. Otherwise a shard that does not answer is an
    /// error.
    #[must_use]
    pub fn allow_missing(mut self) -> Self {
        self.allows_missing = true;
        self
    }

    /// Returns the next message to all shards; `None` if the search is finished.
    ///
    /// # Errors
    /// An error if the message cannot be encoded.
    pub fn next(&self) -> Result<Option<Vec<u8>>> {
        let question = match &self.statistics {
            None => Question::Statistics(self.searches.iter().map(|one| one.query.clone()).collect()),
            // The time of all shards was up.
            Some(_) if self.missing.len() == self.set.shards() => return Ok(None),
            Some(statistics) => {
                let searches: Vec<_> = self.searches.iter().map(OneSearch::next).collect();
                if searches.iter().all(Option::is_none) {
                    return Ok(None);
                }
                Question::Search { statistics: statistics.clone(), searches }
            }
        };
        let (fingerprints, schema) = (self.set.fingerprints.clone(), self.set.digest);
        encode(&Request { fingerprints, schema, question }).map(Some)
    }

    /// Takes the answers of all shards to the last message, in the order of the shards; the error of a shard
    /// says why it did not answer.
    ///
    /// # Errors
    /// [`Error::ShardAnswer`] if a shard did not answer and that is not allowed, or says that it cannot;
    /// [`Error::Corrupt`] if an answer is damaged.
    pub fn take(&mut self, answers: Vec<std::result::Result<Vec<u8>, String>>) -> Result<()> {
        if answers.len() != self.set.shards() {
            return Err(Error::invalid("number of answers", answers.len(), "one for each shard"));
        }
        let mut given = Vec::new();
        for (shard, answer) in answers.into_iter().enumerate() {
            if self.missing.iter().any(|missing| missing.shard == shard) {
                continue;
            }
            match answer {
                Ok(bytes) => given.push((shard, bytes)),
                Err(reason) => self.lack(shard, reason)?,
            }
        }
        if given.is_empty() {
            let reason = self.missing.last().map_or_else(String::new, |missing| missing.reason.clone());
            return Err(self.error(0, reason));
        }
        if self.statistics.is_none() { self.take_statistics(given) } else { self.take_found(given) }
    }

    /// Goes on without a shard, if that is allowed.
    fn lack(&mut self, shard: usize, reason: String) -> Result<()> {
        if !self.allows_missing {
            return Err(self.error(shard, reason));
        }
        let name = self.set.names.get(shard).cloned().unwrap_or_default();
        self.missing.push(MissingShard { shard, name, reason });
        Ok(())
    }

    fn error(&self, shard: usize, reason: String) -> Error {
        Error::ShardAnswer { shard, index: self.set.names.get(shard).cloned().unwrap_or_default(), reason }
    }

    fn take_statistics(&mut self, given: Answers<Vec<u8>>) -> Result<()> {
        let mut all = TermStatistics::default();
        for (shard, bytes) in given {
            let reply: Reply<Option<TermStatistics>> = decode(&bytes)?;
            match reply.map_err(|reason| self.error(shard, reason))? {
                Some(found) => all.join(found),
                None => {
                    self.lack(
                        shard,
                        "its time was up before it had looked up the terms of the query".into(),
                    )?;
                    self.searches.iter_mut().for_each(|search| search.is_cut = true);
                }
            }
        }
        self.statistics = Some(all);
        Ok(())
    }

    fn take_found(&mut self, given: Answers<Vec<u8>>) -> Result<()> {
        let mut of_searches: Vec<Answers<SearchReply>> = self.searches.iter().map(|_| Vec::new()).collect();
        for (shard, bytes) in given {
            let replies: Vec<Reply<Option<SearchReply>>> = decode(&bytes)?;
            if replies.len() != self.searches.len() {
                return Err(self.error(shard, "it does not answer what was asked".into()));
            }
            for (of_search, reply) in of_searches.iter_mut().zip(replies) {
                let reply = reply.map_err(|reason| self.error(shard, reason))?;
                of_search.extend(reply.map(|reply| (shard, reply)));
            }
        }
        let schema = self.set.schema();
        let kind = |field: Field| schema.entry(field).map(|entry| ColumnKind::of(&entry.kind));
        for (search, replies) in self.searches.iter_mut().zip(of_searches) {
            if search.next().is_some() {
                search.take(replies, &kind)?;
            }
        }
        Ok(())
    }

    /// Returns the answers, in the order of the questions, when there is no next message.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is a next message.
    pub fn finish(self) -> Result<Vec<ShardAnswer>> {
        if self.next()?.is_some() {
            return Err(Error::invalid("search", "unfinished", "one without a next message"));
        }
        let missing = self.missing;
        Ok(self.searches.into_iter().map(|one| one.finish(missing.clone())).collect())
    }
}

impl OneSearch {
    fn new(set: &ShardSet, asked: ShardQuery) -> Result<Self> {
        asked.model.check()?;
        let name = |field| set.schema().entry(field).map(|entry| entry.name.clone());
        let query = asked.query.to_json(None, &name)?;
        let mut aggregations = asked.aggregations.clone();
        let total = |by: &GroupBy| Aggregation::Distinct { field: by.field, exact: true };
        aggregations.extend(asked.groups.as_ref().map(total));
        let groups = match &asked.groups {
            None => GroupState::Unwanted,
            Some(by) if by.groups == 0 => GroupState::Done(Vec::new()),
            Some(_) => GroupState::Heads,
        };
        Ok(OneSearch {
            query,
            aggregations: JoinedAggregations::new(&aggregations),
            groups,
            is_first: true,
            hits: Vec::new(),
            shown: (asked.show == ShardShow::default()).then(Vec::new),
            count: 0,
            is_cut: false,
            asked,
        })
    }

    /// What to ask next; `None` if the answer is complete.
    fn next(&self) -> Option<SearchRequest> {
        let aggregations = self.aggregations.next();
        let groups = match (&self.groups, &self.asked.groups) {
            (GroupState::Heads, Some(by)) => Some(WantedGroups::Heads(by.clone())),
            (GroupState::Members(heads), Some(by)) => Some(WantedGroups::Members(by.clone(), heads.clone())),
            _ => None,
        };
        let shown = self.wanted_shown();
        if !self.is_first && aggregations.is_none() && groups.is_none() && shown.is_none() {
            return None;
        }
        let most = if self.asked.k == 0 { 0 } else { self.asked.skip.saturating_add(self.asked.k) };
        let hits = WantedHits { order: self.asked.order.clone(), most };
        Some(SearchRequest {
            query: self.query.clone(),
            model: self.asked.model,
            hits: (self.is_first && most > 0).then_some(hits),
            count: self.is_first && self.asked.count,
            aggregations: aggregations.unwrap_or_default(),
            groups,
            fields: self.asked.fields.clone(),
            shown,
        })
    }

    /// What to ask about the hits of the page.
    fn wanted_shown(&self) -> Option<WantedShown> {
        if self.is_first || self.shown.is_some() || self.hits.is_empty() {
            return None;
        }
        Some(WantedShown { show: self.asked.show, hits: self.hits.iter().map(|found| found.hit).collect() })
    }

    fn take(
        &mut self,
        replies: Answers<SearchReply>,
        kind: &dyn Fn(Field) -> Option<ColumnKind>,
    ) -> Result<()> {
        let (mut parts, mut heads, mut members) = (Vec::new(), Vec::new(), Vec::new());
        let (wants_shown, mut shown) = (self.wanted_shown().is_some(), BTreeMap::new());
        for (shard, reply) in replies {
            shown.insert(shard, VecDeque::from(reply.shown));
            self.is_cut |= reply.is_cut;
            self.count = self.count.saturating_add(reply.count.unwrap_or(0));
            self.hits.extend(reply.hits.into_iter().map(|found| placed(shard, found)));
            parts.push(reply.aggregated);
            let place = |head: GroupHead| {
                let mut hit = head.hit;
                hit.hit = in_shard(shard, hit.hit);
                GroupHead { hit, ..head }
            };
            heads.extend(reply.heads.into_iter().map(place));
            members.push((shard, reply.members));
        }
        if self.aggregations.next().is_some() {
            self.aggregations.take(parts, kind)?;
        }
        if wants_shown {
            let of_hit = |found: &FoundHit| {
                let of_shard = shown.get_mut(&of_shard(found.hit).0);
                of_shard.and_then(VecDeque::pop_front).unwrap_or_else(not_shown)
            };
            self.shown = Some(self.hits.iter().map(of_hit).collect());
        }
        if self.is_first {
            self.is_first = false;
            sort(&mut self.hits, &self.asked.order);
            self.hits.drain(..self.asked.skip.min(self.hits.len()));
            self.hits.truncate(self.asked.k);
        }
        let Some(by) = &self.asked.groups else { return Ok(()) };
        self.groups = match std::mem::replace(&mut self.groups, GroupState::Unwanted) {
            GroupState::Heads => {
                by.first(&mut heads);
                if heads.is_empty() { GroupState::Done(Vec::new()) } else { GroupState::Members(heads) }
            }
            GroupState::Members(heads) => GroupState::Done(joined_groups(by, heads, members)?),
            other => other,
        };
        Ok(())
    }

    fn finish(self, missing: Vec<MissingShard>) -> ShardAnswer {
        let ShardQuery { count, groups, .. } = self.asked;
        let shown = self.shown.into_iter().flatten().chain(std::iter::repeat_with(ShardShown::default));
        let hit = |(found, shown)| ShardHit { shown, ..ShardHit::of(found) };
        let hits = self.hits.into_iter().zip(shown).map(hit).collect();
        let mut aggregated = self.aggregations.finish();
        let distinct = groups.as_ref().and_then(|_| aggregated.pop());
        let groups = groups.map(|by| {
            let (mut total, mut missing) = (0, 0);
            if let Some(Aggregated::Distinct(distinct)) = distinct {
                missing = distinct.missing;
                total = distinct.values.saturating_add(u64::from(by.missing && missing > 0));
            }
            let groups = if let GroupState::Done(groups) = self.groups { groups } else { Vec::new() };
            ShardGroups { groups, total, missing }
        });
        let count = count.then_some(self.count);
        ShardAnswer { hits, count, aggregated, groups, missing, is_cut: self.is_cut }
    }
}

/// What is shown of a hit whose shard no longer answers.
fn not_shown() -> ShardShown {
    ShardShown { problem: Some("its shard did not answer".into()), ..ShardShown::default() }
}

/// A hit with its place among those of all shards.
fn placed(shard: usize, found: FoundHit) -> FoundHit {
    FoundHit { hit: in_shard(shard, found.hit), ..found }
}

/// The groups of all shards.
fn joined_groups(
    by: &GroupBy,
    heads: Vec<GroupHead>,
    members: Answers<Vec<super::message::FoundGroup>>,
) -> Result<Vec<ShardGroup>> {
    let mut groups: Vec<(Option<Value>, u64, Vec<FoundHit>)> =
        heads.into_iter().map(|head| (head.value, 0, Vec::new())).collect();
    for (shard, of_shard) in members {
        if of_shard.len() != groups.len() {
            return Err(Error::corrupt("the answer of a shard", "it has other groups than were asked for"));
        }
        for ((_, count, hits), found) in groups.iter_mut().zip(of_shard) {
            *count = u64::saturating_add(*count, found.count);
            hits.extend(found.hits.into_iter().map(|found| placed(shard, found)));
        }
    }
    let keys = by.order();
    let group = |(value, count, mut hits): (Option<Value>, u64, Vec<FoundHit>)| {
        sort_by_fields(&mut hits, &keys);
        let hits = hits.into_iter().take(by.hits).map(ShardHit::of).collect();
        ShardGroup { value, count, hits }
    };
    Ok(groups.into_iter().map(group).collect())
}

impl ShardHit {
    fn of(found: FoundHit) -> Self {
        let (shard, hit) = of_shard(found.hit);
        let shown = ShardShown::default();
        ShardHit { shard, hit, key: found.key, keys: found.keys, values: found.values, shown }
    }
}
