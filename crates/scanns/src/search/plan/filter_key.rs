//! The bytes that identify a filter: two filters with the same bytes match the same documents of a snapshot.

use std::ops::Bound;

use super::node::{DocSource, NodeKind, PlanNode};
use super::query_plan::QueryPlan;
use crate::query::ValueRange;
use crate::schema::Value;
use crate::search::fields::Fields;

/// The bytes that identify a node of a plan as a filter; `None` for joins, whose documents depend on others.
pub(super) fn filter_key(node: &PlanNode, plan: &QueryPlan, fields: &Fields) -> Option<Vec<u8>> {
    let mut writer = KeyWriter { plan, fields, key: Vec::with_capacity(64) };
    writer.node(node)?;
    Some(writer.key)
}

struct KeyWriter<'p> {
    plan: &'p QueryPlan<'p>,
    fields: &'p Fields<'p>,
    key: Vec<u8>,
}

impl KeyWriter<'_> {
    fn number(&mut self, number: u64) {
        self.key.extend_from_slice(&number.to_le_bytes());
    }

    /// A number of nodes or bytes, which follow.
    fn length(&mut self, length: usize) {
        self.number(length as u64);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.key.extend_from_slice(bytes);
    }

    /// A field of the plan.
    fn field(&mut self, field: usize) {
        let place = self.plan.fields.get(field).copied().unwrap_or_else(|| self.fields.default_place());
        self.number(self.fields.field_at(place).number().into());
    }

    fn term(&mut self, term: usize) {
        let planned = &self.plan.terms[term];
        self.field(planned.field);
        self.bytes(&planned.bytes);
    }

    fn nodes(&mut self, nodes: &[PlanNode]) -> Option<()> {
        self.length(nodes.len());
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &PlanNode) -> Option<()> {
        match &node.kind {
            NodeKind::Term(term) => {
                self.key.push(b't');
                self.term(*term);
            }
            NodeKind::Bool { must, should, must_not, at_least } => {
                self.key.push(b'b');
                self.length(*at_least);
                [must, should, must_not].into_iter().try_for_each(|list| self.nodes(list))?;
            }
            NodeKind::Best { any, .. } => {
                self.key.push(b'a');
                self.nodes(any)?;
            }
            NodeKind::Phrase { terms, slop } => {
                self.key.push(b'p');
                self.number((*slop).into());
                self.length(terms.len());
                for &(place, term) in terms {
                    self.number(place.into());
                    self.term(term);
                }
            }
            NodeKind::Docs(source) => self.source(*source)?,
            NodeKind::Joined(_) => return None,
            // Scores do not matter.
            NodeKind::Filter(inside) | NodeKind::Scored(inside, _) => self.node(inside)?,
        }
        Some(())
    }

    fn source(&mut self, source: DocSource) -> Option<()> {
        match source {
            DocSource::All => self.key.push(b'*'),
            DocSource::Exists(field) => {
                self.key.push(b'e');
                self.field(field);
            }
            DocSource::Pattern(pattern) => {
                let (field, matcher) = self.plan.patterns.get(pattern)?;
                self.key.push(b'w');
                self.field(*field);
                self.bytes(format!("{matcher:?}").as_bytes());
            }
            DocSource::ValuePattern(pattern) => {
                let (field, matcher) = self.plan.value_patterns.get(pattern)?;
                self.key.push(b'v');
                self.number(field.number().into());
                self.bytes(format!("{matcher:?}").as_bytes());
            }
            DocSource::Values(range) => {
                let ValueRange { field, low, high } = self.plan.ranges.get(range)?;
                self.key.push(b'r');
                self.number(field.number().into());
                self.bound(low);
                self.bound(high);
            }
            DocSource::Joined(_) => return None,
        }
        Some(())
    }

    fn bound(&mut self, bound: &Bound<Value>) {
        let (kind, value) = match bound {
            Bound::Unbounded => return self.key.push(b'u'),
            Bound::Included(value) => (b'i', value),
            Bound::Excluded(value) => (b'x', value),
        };
        let (of_value, number) = match value {
            Value::Text(text) => (b't', Err(text)),
            Value::Bytes(bytes) => (b'b', Err(bytes)),
            Value::Unsigned(number) => (b'n', Ok(*number)),
            Value::Signed(number) => (b's', Ok(number.cast_unsigned())),
            Value::Date(number) => (b'd', Ok(number.cast_unsigned())),
            Value::Float(number) => (b'f', Ok(number.to_bits())),
            Value::Boolean(is) => (b'o', Ok(u64::from(*is))),
        };
        self.key.extend([kind, of_value]);
        match number {
            Ok(number) => self.number(number),
            Err(bytes) => self.bytes(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::query::{BoolQuery, Pattern, PhraseQuery, Query, WildcardPart};
    use crate::schema::Field;
    use crate::search::Searcher;

    /// The key of a filter beside a word.
    fn key(filter: Query) -> Option<Vec<u8>> {
        let (searcher, word) = (Searcher::over(two_fields(), field(0)), Query::term(field(0), "word"));
        let list = BoolQuery { must: vec![word], filter: vec![filter], ..BoolQuery::default() };
        let (query, fields) = (Query::Bool(list), &searcher.fields);
        let plan = QueryPlan::new(&query, fields).unwrap();
        filter_key(&plan.filtered.as_ref().unwrap().filters, &plan, fields)
    }

    fn field(number: u16) -> Field {
        Field::new(number).unwrap()
    }

    fn two_fields<'a>() -> Vec<(Field, Vec<&'a dyn crate::search::Leaf>)> {
        vec![(field(0), Vec::new()), (field(1), Vec::new())]
    }

    #[test]
    fn different_filters_have_different_keys_and_equal_ones_the_same() {
        let range = |number, low: Bound<Value>, high: Bound<Value>| {
            Query::Values(ValueRange { field: field(number), low, high })
        };
        let word = |text: &str| Query::term(field(0), text);
        let wildcard = |text: &str| {
            Pattern::Wildcard(vec![WildcardPart::Anything, WildcardPart::Text(text.as_bytes().to_vec())])
        };
        let phrase = |terms: &[(u32, &str)], slop| {
            let terms = terms.iter().map(|(place, term)| (*place, term.as_bytes().to_vec())).collect();
            Query::Phrase(PhraseQuery { field: field(0), terms, slop })
        };
        let (five, six) = (Value::Unsigned(5), Value::Unsigned(6));
        let filters = vec![
            word("a"),
            word("ab"),
            Query::term(field(1), "a"),
            Query::all_of(vec![word("a"), word("b")]),
            Query::any_of(vec![word("a"), word("b")]),
            Query::any_of(vec![word("b"), word("a")]),
            Query::Bool(BoolQuery {
                must: vec![word("a")],
                must_not: vec![word("b")],
                ..BoolQuery::default()
            }),
            phrase(&[(0, "a"), (1, "b")], 0),
            phrase(&[(0, "a"), (2, "b")], 0),
            phrase(&[(0, "a"), (1, "b")], 1),
            Query::All,
            Query::Exists(field(0)),
            Query::Exists(field(1)),
            Query::pattern(field(0), Pattern::Prefix(b"a".to_vec())),
            Query::pattern(field(0), wildcard("a")),
            Query::pattern(field(0), wildcard("b")),
            Query::ValuePattern { field: field(2), pattern: wildcard("a") },
            Query::ValuePattern { field: field(3), pattern: wildcard("a") },
            range(2, Bound::Included(five.clone()), Bound::Unbounded),
            range(2, Bound::Excluded(five.clone()), Bound::Unbounded),
            range(2, Bound::Unbounded, Bound::Included(five.clone())),
            range(2, Bound::Included(five.clone()), Bound::Included(six)),
            range(3, Bound::Included(five), Bound::Unbounded),
            range(2, Bound::Included(Value::Text(b"x".to_vec())), Bound::Unbounded),
            range(2, Bound::Included(Value::Bytes(b"x".to_vec())), Bound::Unbounded),
            range(2, Bound::Included(Value::Signed(5)), Bound::Unbounded),
            range(2, Bound::Included(Value::Date(5)), Bound::Unbounded),
        ];
        let mut known = BTreeMap::new();
        for filter in filters {
            let of_filter = key(filter.clone()).unwrap();
            assert_eq!(key(filter.clone()).unwrap(), of_filter);
            if let Some(other) = known.insert(of_filter, filter.clone()) {
                panic!("{other:?} and {filter:?} have the same key");
            }
        }
    }
}
