//! Joins, against a slow evaluation that compares every document with every other one.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::query::{BoolQuery, JoinOn, JoinQuery, JoinScore, ValueRange};
use crate::schema::{Document, FieldEntry, FieldKind, Schema, Value};
use crate::search::{Hit, MATCH_WINDOW, MatchBits, SearchThreads, docs_of};
use crate::segment::{DocBits, VisibleDocs};
use crate::store::RamDirectory;

mod answers;
mod refusals;

/// The fields of the documents of these tests.
struct JoinFields {
    schema: Schema,
    text: Field,
    /// A column with the number of the document.
    number: Field,
    /// Columns of keywords.
    words: [Field; 2],
    /// Columns of unsigned numbers.
    sizes: [Field; 2],
    /// A column of signed numbers.
    signed: Field,
}

fn join_fields() -> JoinFields {
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text")).unwrap();
    let mut column = |name, kind| schema.add(FieldEntry::new(name, kind).column()).unwrap();
    let number = column("number", FieldKind::Unsigned);
    let words = [column("parent", FieldKind::Keyword), column("tag", FieldKind::Keyword)];
    let sizes = [column("size", FieldKind::Unsigned), column("limit", FieldKind::Unsigned)];
    let signed = column("balance", FieldKind::Signed);
    JoinFields { schema, text, number, words, sizes, signed }
}

/// What joins compare of a document: its key, and by column its values.
#[derive(Clone, Debug, Default)]
struct Row {
    key: String,
    words: [Vec<String>; 2],
    sizes: [Vec<u64>; 2],
    signed: Vec<i64>,
}

/// A join in a random query.
fn join(from: JoinOn, to: JoinOn, query: Query, score: JoinScore) -> Query {
    Query::Join(JoinQuery { from, to, query: Box::new(query), score })
}

const SCORES: [JoinScore; 5] =
    [JoinScore::None, JoinScore::Max, JoinScore::Sum, JoinScore::Mean, JoinScore::Min];
