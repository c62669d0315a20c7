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

    /// Whether the values are modes of files.
    fn is_mode(&self) -> bool {
        self.name == "mode" && self.kind == FieldKind::Unsigned
    }

    /// The number of characters of a value before its first fault, as far as that is known.
    pub(super) fn faultless(&self, value: &str) -> usize {
        let is_octal = self.is_mode() && value.starts_with('0');
        let fault = value.chars().position(|char| is_octal && char.is_ascii_digit() && char > '7');
        fault.unwrap_or(0)
    }

    /// What is wrong with a bound of a range that could be read otherwise: modes are compared in decimal.
    pub(super) fn ambiguous_bound(&self, bound: &str) -> Option<String> {
        let bound = bound.trim_start_matches(['<', '>', '=', ' ']);
        let is_octal = bound.len() > 1 && bound.starts_with('0') && bound.bytes().all(|b| b.is_ascii_digit());
        (self.is_mode() && is_octal).then(|| {
            "modes are compared as decimal numbers, which contain the type of the file: write mode:0644 for \
             one mode, or leave the 0 out for a decimal number"
                .to_owned()
        })
    }

    /// The value that `text` means. Modes of files are octal, and mean files of any type.
    pub(super) fn exact(&self, text: &str) -> Parsed<Query> {
        if !self.is_mode() {
            return ValueRange::exact(self.field, &self.kind, text).map(Query::Values);
        }
        let mode = ModeText::parse(text).ok_or_else(|| self.not_a_value())?;
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
            FieldKind::Date => "dates from 1677-09-21 to 2262-04-11",
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
        if self.is_mode() {
            return "a mode has four octal digits, 0 to 7, or nine letters: write mode:0644 or mode:rw-r--r--"
                .to_owned();
        }
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
