//! The analyzers that are compared: each finds the same tokens in all engines.
//!
//! scanns has all of them. Lucene has `standard` and `english`, and gets a tokenizer of its kit for the
//! others (`java/src/Analyzers.java`). tantivy splits words otherwise, so its adapter has a tokenizer for
//! each (`tantivy/src/words.rs`, `tantivy/src/terms.rs`).

use std::fmt;

use anyhow::Result;
use clap::ValueEnum;
use scanns::schema::Analyzer;

/// The name of an analyzer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnalyzerName {
    /// The bytes between white space and `/`
    Delimited,
    /// Words (UAX #29) in lower case
    Standard,
    /// Words in lower case without possessives and 33 stop words, stemmed by Porter's algorithm
    English,
    /// The bytes between white space
    Whitespace,
    /// Identifiers of programs and their parts, in lower case
    Code,
}

impl AnalyzerName {
    /// Returns the corresponding analyzer of scanns.
    ///
    /// # Errors
    /// If scanns does not know the name.
    pub fn of_scanns(self) -> Result<Analyzer> {
        Ok(match self {
            AnalyzerName::Delimited => Analyzer::parse("paths")?,
            other => Analyzer::parse(&other.to_string())?,
        })
    }

    /// True if engines find words by the tables of a version of Unicode, and versions differ. Their tokens
    /// may then differ in a few places.
    pub fn follows_unicode(self) -> bool {
        matches!(self, AnalyzerName::Standard | AnalyzerName::English | AnalyzerName::Code)
    }
}

impl fmt::Display for AnalyzerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scanns_knows_every_name() {
        for name in AnalyzerName::value_variants() {
            let analyzer = name.of_scanns().unwrap();
            let expected = if *name == AnalyzerName::Delimited { "paths".into() } else { name.to_string() };
            assert_eq!(analyzer.name(), expected);
        }
    }
}
