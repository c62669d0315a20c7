//! A column that a query names: what it holds, its values, and the messages about values that it cannot hold.

use crate::query::tree::Query;
use crate::query::value_range::{Parsed, ValueRange};
use crate::schema::{Field, FieldKind, ModeText, Value};

/// A column with its name.
#[derive(Clone)]
pub(super) struct NamedColumn {
    pub(super) field: Field,
    pub(super) kind: FieldKind,
    pub(super) name: String,
}

impl NamedColumn {
    /// Whether its values can match patterns.
    pub(super) fn has_patterns(&self) -> bool {
        matches!(self.kind, FieldKind::Keyword | FieldKind::Path | FieldKind::Text { .. })
    }

    /// The value that `text` means. Modes of files are octal, and mean files of any type.
    pub(super) fn exact(&self, text: &str) -> Parsed<Query> {
        let is_mode = self.name == "mode" && self.kind == FieldKind::Unsigned;
        let Some(mode) = is_mode.then(|| ModeText::parse(text)).flatten() else {
            return ValueRange::exact(self.field, &self.kind, text).map(Query::Values);
        };
        let equals = |mode| Query::Values(ValueRange::one(self.field, Value::Unsigned(mode)));
        let mut modes: Vec<Query> = mode.values().into_iter().map(equals).collect();
        Ok(match modes.len() {
            1 => modes.swap_remove(0),
            _ => Query::any_of(modes),
        })
    }

    /// What the values are.
    pub(super) fn holds(&self) -> &'static str {
        match self.kind {
            FieldKind::Unsigned => "whole numbers that are not negative",
            FieldKind::Signed => "whole numbers",
            FieldKind::Float => "numbers",
            FieldKind::Boolean => "true or false",
            FieldKind::Date => "dates",
            FieldKind::Keyword => "keywords",
            FieldKind::Path => "paths",
            FieldKind::Text { .. } => "texts",
            FieldKind::Bytes => "bytes",
        }
    }

    /// Conditions that would work, without the name of the column.
    fn examples(&self) -> [&'static str; 2] {
        match self.kind {
            FieldKind::Unsigned => ["5", ">1.5GiB"],
            FieldKind::Signed => ["5", "<-5"],
            FieldKind::Float => ["2", "<-0.5"],
            FieldKind::Boolean => ["true", "false"],
            FieldKind::Date => ["2024-03", ">now-30d"],
            FieldKind::Keyword => ["word", "w*"],
            FieldKind::Path => ["/data/anna", "*.html"],
            FieldKind::Text { .. } => ["\"a text\"", "*a*"],
            FieldKind::Bytes => ["*", "text"],
        }
    }

    /// The message for text that is not a value.
    pub(super) fn not_a_value(&self) -> String {
        let [one, other] = self.examples();
        let name = &self.name;
        format!("{name} holds {}: write a condition such as {name}:{one} or {name}:{other}", self.holds())
    }

    /// The message for a pattern of values that are not text.
    pub(super) fn no_pattern(&self) -> String {
        let [one, other] = self.examples();
        let name = &self.name;
        let holds = self.holds();
        format!(
            "{name} holds {holds}, which match no pattern: compare them, as in {name}:{one} or {name}:{other}"
        )
    }
}
