//! The text of a query, understood as that of the documents of an index.

use std::collections::BTreeMap;

use crate::schema::{Analyzer, Field, FieldKind, Schema};
use crate::search::QueryText;
use crate::tokenize::{MAX_TOKEN, Tokenizer, spelling};

/// Finds the terms of queries over fields of a schema.
pub(super) struct QueryWords<'s> {
    schema: &'s Schema,
    /// The field that is searched where none is named.
    default: Field,
    /// By field, as far as they were needed.
    tokenizers: BTreeMap<Field, Option<Tokenizer>>,
}

impl<'s> QueryWords<'s> {
    pub(super) fn new(schema: &'s Schema, default: Field) -> Self {
        QueryWords { schema, default, tokenizers: BTreeMap::new() }
    }
}

impl QueryText for QueryWords<'_> {
    fn field(&self, name: &str) -> Result<Field, String> {
        self.schema.searched_field(name).map_err(|names| format!(", only {}", names.join(", ")))
    }

    fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
        let found = self.schema.columns().find(|(_, entry)| entry.name == name);
        found.map(|(field, entry)| (field, entry.kind.clone()))
    }

    fn terms(&mut self, field: Option<Field>, text: &str) -> Vec<(u32, Vec<u8>)> {
        let field = field.unwrap_or(self.default);
        let schema = self.schema;
        let tokenizer = self.tokenizers.entry(field);
        match tokenizer.or_insert_with(|| schema.analyzer(field).map(Tokenizer::new)) {
            Some(tokenizer) => tokenizer.placed_terms(&mut text.as_bytes().to_vec()),
            // A field that is searched as a whole.
            None => vec![(0, text.as_bytes().get(..MAX_TOKEN).unwrap_or(text.as_bytes()).to_vec())],
        }
    }

    fn spelling(&self, field: Option<Field>, text: &str) -> String {
        match self.schema.analyzer(field.unwrap_or(self.default)) {
            Some(analyzer) => spelling(analyzer, text),
            None => text.to_owned(),
        }
    }
}

/// The text of a query over the one field of an index without a schema.
pub(super) struct OneAnalyzer<'a>(pub(super) &'a Analyzer);

impl QueryText for OneAnalyzer<'_> {
    fn field(&self, _name: &str) -> Result<Field, String> {
        Err(String::new())
    }

    fn terms(&mut self, _field: Option<Field>, text: &str) -> Vec<(u32, Vec<u8>)> {
        Tokenizer::new(self.0).placed_terms(&mut text.as_bytes().to_vec())
    }

    fn spelling(&self, _field: Option<Field>, text: &str) -> String {
        spelling(self.0, text)
    }
}
