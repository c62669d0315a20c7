//! The documents that an expression may match, as a query: conditions on columns that every match satisfies.

use std::ops::Bound;

use super::entries::EntryReader;
use super::find::{FindType, KindSet, NamePart, Requirements, Span};
use super::order::below_prefix;
use crate::query::{BoolQuery, Pattern, Query, ValueRange, WildcardPart};
use crate::schema::{Field, Value};

/// Entries at and below a path.
pub(super) fn below(reader: &EntryReader<'_>, path: &[u8]) -> Query {
    Query::Values(ValueRange::one(reader.field("path"), Value::Text(path.to_vec())))
}

/// Entries in a directory, without those in its directories.
pub(super) fn inside(reader: &EntryReader<'_>, directory: &[u8]) -> Query {
    let prefix = below_prefix(directory);
    let depth = Value::Unsigned(names_of(directory) as u64 + 1);
    let depth = ValueRange::one(reader.field("depth"), depth);
    let below = ValueRange::prefix(reader.field("path"), &prefix);
    all_of(vec![Query::Values(below), Query::Values(depth)])
}

/// Directories below a path, down to this depth.
pub(super) fn directories_below(reader: &EntryReader<'_>, path: &[u8], depth: usize) -> Query {
    let prefix = below_prefix(path);
    let most = (names_of(path) + depth) as u64;
    let (low, high) = (Bound::Unbounded, Bound::Included(Value::Unsigned(most)));
    all_of(vec![
        Query::Values(ValueRange::prefix(reader.field("path"), &prefix)),
        Query::Values(ValueRange { field: reader.field("depth"), low, high }),
        Query::Values(ValueRange::one(reader.field("type"), Value::Text(b"directory".to_vec()))),
    ])
}

/// The number of names in a path.
fn names_of(path: &[u8]) -> usize {
    path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).count()
}

/// Entries that satisfy all conditions, or whose values are not known.
pub(super) fn matching(reader: &EntryReader<'_>, wanted: &Requirements) -> Vec<Query> {
    let mut filter = Vec::new();
    for parts in &wanted.names {
        filter.push(any_of(parts.iter().map(|part| named(reader, part)).collect()));
    }
    for (name, span) in [
        ("size", wanted.size),
        ("uid", wanted.uid),
        ("gid", wanted.gid),
        ("inode", wanted.inode),
        ("links", wanted.links),
    ] {
        let bounds = bounds(span, (0, u64::MAX), Value::Unsigned);
        filter.extend(
            bounds.map(|(low, high)| or_unknown(reader, ValueRange { field: reader.field(name), low, high })),
        );
    }
    for (name, span) in [("mtime", wanted.mtime), ("atime", wanted.atime), ("ctime", wanted.ctime)] {
        let bounds = bounds(span, (i64::MIN, i64::MAX), Value::Date);
        filter.extend(
            bounds.map(|(low, high)| or_unknown(reader, ValueRange { field: reader.field(name), low, high })),
        );
    }
    for (name, owners) in [("owner", &wanted.owners), ("group", &wanted.groups)] {
        let Some(owners) = owners else { continue };
        let field = reader.field(name);
        let one = |owner: &Vec<u8>| Query::Values(ValueRange::one(field, Value::Text(owner.clone())));
        filter.push(with_unknown(reader, field, owners.iter().map(one).collect()));
    }
    filter.extend(kinds(reader, wanted.kinds));
    filter
}

/// All of these conditions.
pub(super) fn all_of(mut filter: Vec<Query>) -> Query {
    match (filter.pop(), filter.is_empty()) {
        (None, _) => Query::All,
        (Some(only), true) => only,
        (Some(last), false) => {
            filter.push(last);
            Query::Bool(BoolQuery { filter, ..BoolQuery::default() })
        }
    }
}

/// Entries whose names have a part.
///
/// There are far fewer extensions than names, so `*.h5` looks for the extension, and for `.h5` itself, which
/// has none.
fn named(reader: &EntryReader<'_>, part: &NamePart) -> Query {
    let field = reader.field("name");
    let wildcard = |parts| Query::ValuePattern { field, pattern: Pattern::Wildcard(parts) };
    let text = |text: &Vec<u8>| WildcardPart::Text(text.clone());
    match part {
        NamePart::Equal(name) => Query::Values(ValueRange::one(field, Value::Text(name.clone()))),
        NamePart::Prefix(prefix) => Query::Values(ValueRange::prefix(field, prefix)),
        NamePart::Suffix(suffix) if is_extension(suffix) => {
            let extension = suffix.get(1..).unwrap_or_default().to_vec();
            let by_extension = ValueRange::one(reader.field("ext"), Value::Text(extension));
            let by_extension = Query::Values(by_extension);
            if !reader.may_have(field, suffix) {
                return by_extension;
            }
            let itself = ValueRange::one(field, Value::Text(suffix.clone()));
            Query::any_of(vec![by_extension, Query::Values(itself)])
        }
        NamePart::Suffix(suffix) => wildcard(vec![WildcardPart::Anything, text(suffix)]),
        NamePart::Contains(part) => {
            wildcard(vec![WildcardPart::Anything, text(part), WildcardPart::Anything])
        }
    }
}

/// True for a dot and an extension.
fn is_extension(suffix: &[u8]) -> bool {
    suffix.split_first().is_some_and(|(dot, rest)| *dot == b'.' && !rest.is_empty() && !rest.contains(&b'.'))
}

/// The bounds of a span; `None` for one that allows everything.
fn bounds<T: Ord + Copy>(
    span: Span<T>,
    all: (T, T),
    value: impl Fn(T) -> Value,
) -> Option<(Bound<Value>, Bound<Value>)> {
    let is_whole = (span.least, span.greatest) == all;
    (!is_whole).then(|| (Bound::Included(value(span.least)), Bound::Included(value(span.greatest))))
}

fn or_unknown(reader: &EntryReader<'_>, range: ValueRange) -> Query {
    with_unknown(reader, range.field, vec![Query::Values(range)])
}

/// Documents that match one of the queries, or have no value of the field. Expressions count the latter.
pub(super) fn with_unknown(reader: &EntryReader<'_>, field: Field, mut queries: Vec<Query>) -> Query {
    if !reader.all_have(field) {
        queries.push(Query::Bool(BoolQuery {
            must_not: vec![Query::Values(ValueRange::any(field))],
            ..BoolQuery::default()
        }));
    }
    any_of(queries)
}

/// Any of these conditions.
fn any_of(mut queries: Vec<Query>) -> Query {
    match (queries.pop(), queries.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            queries.extend(last);
            Query::any_of(queries)
        }
    }
}

fn kinds(reader: &EntryReader<'_>, wanted: KindSet) -> Option<Query> {
    let names = [
        ("file", &[FindType::Regular][..]),
        ("directory", &[FindType::Directory]),
        ("link", &[FindType::Link]),
        ("fifo", &[FindType::Pipe]),
        ("socket", &[FindType::Socket]),
        ("device", &[FindType::Block, FindType::Character]),
    ];
    let field = reader.field("type");
    let has = |kinds: &[FindType]| kinds.iter().any(|&kind| wanted.contains(kind));
    if names.iter().all(|(_, kinds)| has(kinds)) {
        return None;
    }
    let found = names.iter().filter(|(_, kinds)| has(kinds));
    let one = |name: &str| Query::Values(ValueRange::one(field, Value::Text(name.into())));
    Some(with_unknown(reader, field, found.map(|(name, _)| one(name)).collect()))
}
