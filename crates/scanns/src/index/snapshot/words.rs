//! Analyzes the text of a query as the text of the documents of an index was analyzed.

use std::collections::BTreeMap;

use crate::query::{QueryText, WeightedField};
use crate::schema::MAX_TOKEN;
use crate::schema::{Analyzer, Field, FieldEntry, FieldKind, Schema};
use crate::tokenize::{Tokenizer, spelling};

/// Finds the terms of queries over fields of a schema.
pub(crate) struct QueryWords<'s> {
    schema: &'s Schema,
    /// The fields for text that names no field; at least one.
    defaults: Vec<WeightedField>,
    /// The tokenizers made so far, by field; `None` for fields where each value is one term.
    tokenizers: BTreeMap<Field, Option<Tokenizer>>,
}

impl<'s> QueryWords<'s> {
    /// Text that names no field searches `defaults` or, if there are none, the default fields of the schema.
    pub(crate) fn new(schema: &'s Schema, defaults: &[WeightedField]) -> Self {
        let mut defaults = defaults.to_vec();
        if defaults.is_empty() {
            defaults.extend(schema.default_fields().into_iter().map(WeightedField::from));
        }
        if defaults.is_empty() {
            defaults.push(WeightedField::FIRST);
        }
        QueryWords { schema, defaults, tokenizers: BTreeMap::new() }
    }
}

impl QueryText for QueryWords<'_> {
    fn default_fields(&self) -> &[WeightedField] {
        &self.defaults
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
    fn default_fields(&self) -> &[WeightedField] {
        &[WeightedField::FIRST]
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
