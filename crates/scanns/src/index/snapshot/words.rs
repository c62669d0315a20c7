//! Analyzes the text of a query as the text of the documents of an index was analyzed.

use std::collections::BTreeMap;

use crate::query::QueryText;
use crate::schema::MAX_TOKEN;
use crate::schema::{Analyzer, Field, FieldEntry, FieldKind, Schema};
use crate::tokenize::{Tokenizer, spelling};

/// Finds the terms of queries over fields of a schema.
pub(crate) struct QueryWords<'s> {
    schema: &'s Schema,
    /// The field for text that names no field.
    default: Field,
    /// The tokenizers made so far, by field; `None` for fields where each value is one term.
    tokenizers: BTreeMap<Field, Option<Tokenizer>>,
}

impl<'s> QueryWords<'s> {
    pub(crate) fn new(schema: &'s Schema, default: Field) -> Self {
        QueryWords { schema, default, tokenizers: BTreeMap::new() }
    }
}

impl QueryText for QueryWords<'_> {
    fn default_field(&self) -> Field {
        self.default
    }

    fn field(&self, name: &str) -> Result<Field, Vec<String>> {
        let usable = |entry: &FieldEntry| entry.column || entry.postings().is_some();
        self.schema.searched_field(name).map_err(|_| {
            let usable = self.schema.fields().filter(|(_, entry)| usable(entry));
            usable.map(|(_, entry)| entry.name.clone()).collect()
        })
    }

    fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
        let found = self.schema.columns().find(|(_, entry)| entry.name == name);
        found.map(|(field, entry)| (field, entry.kind.clone()))
    }

    fn terms(&mut self, field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        let schema = self.schema;
        let tokenizer = self.tokenizers.entry(field);
        match tokenizer.or_insert_with(|| schema.analyzer(field).map(Tokenizer::new)) {
            Some(tokenizer) => tokenizer.placed_terms(&mut text.as_bytes().to_vec()),
            // Each value of this field is one term.
            None => vec![(0, text.as_bytes().get(..MAX_TOKEN).unwrap_or(text.as_bytes()).to_vec())],
        }
    }

    fn spelling(&self, field: Field, text: &str) -> String {
        match self.schema.analyzer(field) {
            Some(analyzer) => spelling(analyzer, text),
            None => text.to_owned(),
        }
    }
}

/// Analyzes the text of a query over the one field of an index without a schema.
pub(crate) struct OneAnalyzer<'a>(pub(crate) &'a Analyzer);

impl QueryText for OneAnalyzer<'_> {
    fn default_field(&self) -> Field {
        Field::default()
    }

    fn field(&self, _name: &str) -> Result<Field, Vec<String>> {
        Err(Vec::new())
    }

    fn terms(&mut self, _field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        Tokenizer::new(self.0).placed_terms(&mut text.as_bytes().to_vec())
    }

    fn spelling(&self, _field: Field, text: &str) -> String {
        spelling(self.0, text)
    }
}
