//! All shards of an index, as those who ask them know them.

use super::message::{CommonSchema, Description, ShardOrder, ShardShow};
use super::shard::schema_digest;
use super::wire::{decode, encode};
use crate::error::{Error, Result};
use crate::index::commit::schema_bytes::{put_schema, read_schema};
use crate::index::snapshot::words::QueryWords;
use crate::query::{Operator, Query, WeightedField, parse, parse_json};
use crate::schema::{Field, Schema};
use crate::search::Model;
use crate::search::aggregate::{Aggregation, GroupBy};

/// Several indexes that are searched as one, in document order.
///
/// ```
/// use scanns::schema::{Document, FieldEntry, Schema};
/// use scanns::shards::{Shard, ShardQuery, ShardSet};
/// use scanns::{Index, query::Operator};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text"))?;
/// let mut shards = Vec::new();
/// for (name, key) in [("2025.scanns", "mail-1"), ("2026.scanns", "mail-2")] {
///     let index = Index::create(place.path().join(name), &schema)?;
///     let writer = index.writer()?;
///     writer.add(&Document::new(key).text(text, "The index is ready."))?;
///     writer.commit()?;
///     shards.push(Shard::new(index.snapshot()?));
/// }
///
/// let set = ShardSet::new(&[shards[0].describe()?, shards[1].describe()?])?;
/// let query = set.parse(&[], "ready", Operator::And)?;
/// let mut search = set.search(vec![ShardQuery::new(query, 10)])?;
/// while let Some(message) = search.next()? {
///     // In other processes, the message travels to the shards, and the answers travel back.
///     let answer = |(number, shard): (usize, &Shard)| {
///         shard.answer(number, &message, None, None).map_err(|error| error.to_string())
///     };
///     let answers = shards.iter().enumerate().map(answer).collect();
///     search.take(answers)?;
/// }
/// let answers = search.finish()?;
/// assert_eq!(answers[0].hits[1].key, b"mail-2");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ShardSet {
    pub(super) names: Vec<String>,
    pub(super) fingerprints: Vec<u64>,
    documents: u64,
    schema: Schema,
    /// A digest of the schema.
    pub(super) digest: u64,
}

/// A question to all shards.
#[derive(Clone, Debug)]
pub struct ShardQuery {
    /// The query, with the fields of [`ShardSet::schema`].
    pub query: Query,
    /// The model that scores hits.
    pub model: Model,
    /// The order of hits.
    pub order: ShardOrder,
    /// The maximum number of hits to return.
    pub k: usize,
    /// The number of hits to leave out at the front: those of previous pages.
    pub skip: usize,
    /// True if all matches are counted.
    pub count: bool,
    /// Aggregations over all matches.
    pub aggregations: Vec<Aggregation>,
    /// The groups to return.
    pub groups: Option<GroupBy>,
    /// The fields whose values are returned with each hit.
    pub fields: Vec<Field>,
    /// What else is returned of the documents of hits.
    pub show: ShardShow,
}

impl ShardQuery {
    /// Asks for the best `k` hits, by the default model.
    pub fn new(query: Query, k: usize) -> Self {
        ShardQuery {
            query,
            model: Model::default(),
            order: ShardOrder::Score,
            k,
            skip: 0,
            count: false,
            aggregations: Vec::new(),
            groups: None,
            fields: Vec::new(),
            show: ShardShow::default(),
        }
    }
}

impl ShardSet {
    /// Takes the descriptions of all shards, [`Shard::describe`](super::Shard::describe), in document order.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if one is no description; [`Error::Conflict`] for another version, or if two
    /// indexes have fields of the same name that differ; [`Error::InvalidValue`] without a shard.
    pub fn new<B: AsRef<[u8]>>(descriptions: &[B]) -> Result<Self> {
        let mut all: Vec<(Description, Schema)> = Vec::new();
        for bytes in descriptions {
            let description: Description = decode(bytes.as_ref())?;
            let schema = read_schema(&description.schema)
                .ok_or_else(|| Error::corrupt("the description of a shard", "its fields are not valid"))?;
            all.push((description, schema));
        }
        if all.is_empty() {
            return Err(Error::invalid("number of shards", 0, "at least one"));
        }
        let named: Vec<(String, &Schema)> =
            all.iter().map(|(description, schema)| (description.name.clone(), schema)).collect();
        let schema = crate::schema::joined_schema(&named)?.0;
        Ok(ShardSet {
            names: all.iter().map(|(description, _)| description.name.clone()).collect(),
            fingerprints: all.iter().map(|(description, _)| description.fingerprint).collect(),
            documents: all.iter().fold(0, |sum, (one, _)| sum.saturating_add(one.documents)),
            digest: schema_digest(&put_schema(&schema)),
            schema,
        })
    }

    /// Returns the message that gives shards the schema of all shards, if one of them has another schema.
    ///
    /// # Errors
    /// An error if it cannot be encoded.
    pub fn schema_message(&self) -> Result<Vec<u8>> {
        encode(&CommonSchema { schema: put_schema(&self.schema) })
    }

    /// Returns the fields of all shards.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of shards.
    pub fn shards(&self) -> usize {
        self.names.len()
    }

    /// Returns the number of documents of all shards.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Parses a query; see [`Snapshot::parse_in`](crate::Snapshot::parse_in).
    ///
    /// # Errors
    /// [`Error::Query`] if the text is not a query or names an unknown field.
    pub fn parse(&self, fields: &[WeightedField], text: &str, operator: Operator) -> Result<Query> {
        parse(text, operator, &mut QueryWords::new(&self.schema, fields))
    }

    /// Parses a query in JSON; see [`Snapshot::parse_json_in`](crate::Snapshot::parse_json_in).
    ///
    /// # Errors
    /// [`Error::Query`] if the text is not a query or names an unknown field.
    pub fn parse_json(&self, fields: &[WeightedField], text: &str, operator: Operator) -> Result<Query> {
        parse_json(text, operator, &mut QueryWords::new(&self.schema, fields))
    }
}
