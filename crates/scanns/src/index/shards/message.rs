//! The content of messages. Fields have the numbers that they have in the schema of all shards.

use serde::{Deserialize, Serialize};

use crate::schema::{Field, Value};
use crate::search::aggregate::partial::PartialAggregation;
use crate::search::aggregate::{GroupBy, GroupHead, NodeParts};
use crate::search::statistics::TermStatistics;
use crate::search::{Hit, KeyOrder, Model, Snippet, SnippetOptions, SortKey};

/// What a shard has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Description {
    /// The index, for messages.
    pub(super) name: String,
    pub(super) fingerprint: u64,
    pub(super) documents: u64,
    #[serde(with = "serde_bytes")]
    pub(super) schema: Vec<u8>,
}

/// The schema of all shards, for a shard that has another one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CommonSchema {
    #[serde(with = "serde_bytes")]
    pub(super) schema: Vec<u8>,
}

/// A question to all shards.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// The fingerprint of each shard, so that all rounds are about the same commits.
    pub(super) fingerprints: Vec<u64>,
    /// A digest of the schema of all shards.
    pub(super) schema: u64,
    pub(super) question: Question,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Question {
    /// The statistics of the terms of queries, as JSON.
    Statistics(Vec<String>),
    /// Searches with the statistics of all shards; `None` for one that is finished.
    Search { statistics: TermStatistics, searches: Vec<Option<SearchRequest>> },
}

/// One search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SearchRequest {
    /// The query, as JSON.
    pub(super) query: String,
    pub(super) model: Model,
    pub(super) hits: Option<WantedHits>,
    pub(super) count: bool,
    pub(super) aggregations: Vec<PartialAggregation>,
    pub(super) groups: Option<WantedGroups>,
    /// The fields whose values are returned with each hit.
    pub(super) fields: Vec<Field>,
    pub(super) shown: Option<WantedShown>,
}

/// What is returned of the documents of the hits of the page, beside their keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardShow {
    /// The stored text.
    pub content: bool,
    /// How the score was computed.
    pub explain: bool,
    /// The best parts of the text of a field.
    pub snippets: Option<ShardSnippets>,
}

/// Which snippets are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardSnippets {
    /// The field.
    pub field: Field,
    /// The options.
    pub options: SnippetOptions,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WantedShown {
    pub(super) show: ShardShow,
    /// Hits of all shards, with their places among those of all shards.
    pub(super) hits: Vec<Hit>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WantedHits {
    pub(super) order: ShardOrder,
    pub(super) most: usize,
}

/// The order of hits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShardOrder {
    /// The best score first.
    Score,
    /// By values of columns.
    Fields(Vec<SortKey>),
    /// By key.
    Key(KeyOrder),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum WantedGroups {
    /// The first groups.
    Heads(GroupBy),
    /// The hits of groups that are known.
    Members(GroupBy, Vec<GroupHead>),
}

/// The answer of a shard, or why it has none.
pub(super) type Reply<T> = std::result::Result<T, String>;

/// The answer to a search. `is_cut` is true if time was up before everything was found.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SearchReply {
    pub(super) hits: Vec<FoundHit>,
    pub(super) count: Option<u64>,
    pub(super) aggregated: Vec<NodeParts>,
    pub(super) heads: Vec<GroupHead>,
    pub(super) members: Vec<FoundGroup>,
    /// Of the wanted hits that are in this shard, in order.
    pub(super) shown: Vec<ShardShown>,
    pub(super) is_cut: bool,
}

/// A hit of a shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FoundHit {
    pub(super) hit: Hit,
    /// The key of the document.
    #[serde(with = "serde_bytes")]
    pub(super) key: Vec<u8>,
    /// The values that hits are sorted by.
    pub(super) keys: Vec<Option<Value>>,
    /// The values of the requested fields.
    pub(super) values: Vec<Vec<Value>>,
}

/// What was wanted of the document of a hit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShardShown {
    /// The stored text; `None` if none is stored.
    #[serde(with = "serde_bytes")]
    pub content: Option<Vec<u8>>,
    /// How the score was computed: a line for each part.
    pub explanation: Option<String>,
    /// The snippets; `None` if the index stores no text for the field.
    pub snippets: Option<Vec<Snippet>>,
    /// Why the text could not be read, for example because its file has changed.
    pub problem: Option<String>,
}

/// The hits of a group.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FoundGroup {
    pub(super) count: u64,
    pub(super) hits: Vec<FoundHit>,
}
