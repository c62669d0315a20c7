//! The query language of the adapters. A query is a line of words separated by single spaces, in prefix
//! notation, so that any language can parse it with a few lines of code. The Java adapter parses it in
//! `Form.java`.
//!
//! ```text
//! query  = "term" WORD | "all" | "exists"
//!        | "phrase" SLOP COUNT (PLACE WORD)*
//!        | "prefix" WORD | "wildcard" WORD | "regex" WORD | "fuzzy" EDITS WORD
//!        | "range" bound bound | "set" COUNT WORD*
//!        | "boost" NUMBER query
//!        | "bool" LEAST COUNT (sign query)*
//! bound  = "[" WORD | "{" WORD | "-"        inclusive, exclusive, no bound
//! sign   = "+" | "|" | "-"                  required, optional, excluded
//! ```

use std::fmt;
use std::ops::Bound;
use std::str::{FromStr, Split};

use anyhow::{Context, Result, bail, ensure};
use scanns::Query;
use scanns::query::{BoolQuery, Pattern, PhraseQuery, WildcardPart};
use scanns::schema::Field;

/// The maximum nesting depth.
const MAX_DEPTH: usize = 32;

/// The maximum length of a list.
const MAX_WORDS: usize = 1024;

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Documents that contain the term.
    Term(String),
    /// All documents, with a score of 1.
    All,
    /// Documents that contain any term, with a score of 1.
    Exists,
    /// Documents that contain the terms at the given relative positions, up to the slop.
    Phrase {
        /// The total number of positions by which the terms may be moved; 0 for an exact phrase.
        slop: u32,
        /// The positions and the terms, in ascending order of positions.
        terms: Vec<(u32, String)>,
    },
    /// Documents that contain a term with this prefix, with a score of 1.
    Prefix(String),
    /// Documents that contain a term that matches the pattern, with a score of 1. `*` matches any text, and
    /// `?` any character.
    Wildcard(String),
    /// Documents that contain a term that the whole expression matches, with a score of 1.
    Regex(String),
    /// Documents that contain one of the most similar terms.
    Fuzzy {
        /// The maximum number of edits.
        edits: u8,
        /// The term that the others are compared with.
        term: String,
    },
    /// Documents that contain a term between two bounds, with a score of 1.
    Range(Bound<String>, Bound<String>),
    /// Documents that contain any of the terms, with a score of 1.
    Set(Vec<String>),
    /// The query with its scores multiplied by a number.
    Boost(f32, Box<Form>),
    /// A list of clauses.
    Bool {
        /// The number of optional clauses that must match. 0 means one if no clause is required, else none.
        least: usize,
        /// The clauses with their signs. If all of them are excluded, all other documents match.
        clauses: Vec<(Sign, Form)>,
    },
}

/// The role of a clause in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The clause must match.
    Must,
    /// The clause may match.
    Should,
    /// The clause must not match.
    MustNot,
}

impl Form {
    /// A list of terms with the same sign, or the term itself if there is only one.
    pub fn list(sign: Sign, terms: &[String]) -> Self {
        let clause = |term: &String| (sign, Form::Term(term.clone()));
        match terms {
            [only] => Form::Term(only.clone()),
            terms => Form::Bool { least: 0, clauses: terms.iter().map(clause).collect() },
        }
    }

    /// The terms of the query, including those in lists and phrases, but not patterns.
    pub fn terms(&self) -> Vec<&str> {
        match self {
            Form::Term(term) => vec![term],
            Form::Phrase { terms, .. } => terms.iter().map(|(_, term)| term.as_str()).collect(),
            Form::Boost(_, form) => form.terms(),
            Form::Bool { clauses, .. } => clauses.iter().flat_map(|(_, form)| form.terms()).collect(),
            _ => Vec::new(),
        }
    }

    /// The terms of a list without further lists, with their signs; a single term is optional. None for other
    /// queries.
    pub fn signed_terms(&self) -> Option<Vec<(Sign, &str)>> {
        match self {
            Form::Term(term) => Some(vec![(Sign::Should, term)]),
            Form::Bool { least: 0, clauses } => {
                let term = |(sign, form): &'_ (Sign, Form)| match form {
                    Form::Term(_) => Some(*sign),
                    _ => None,
                };
                let signs = clauses.iter().map(term).collect::<Option<Vec<_>>>()?;
                Some(signs.into_iter().zip(self.terms()).collect())
            }
            _ => None,
        }
    }

    /// The equivalent query of scanns.
    pub fn to_scanns(&self) -> Query {
        let bytes = |term: &String| term.clone().into_bytes();
        let bound = |bound: &Bound<String>| bound.as_ref().map(bytes);
        match self {
            Form::Term(term) => Query::term(Field::default(), bytes(term)),
            Form::All => Query::All,
            Form::Exists => Query::Exists(Field::default()),
            Form::Phrase { slop, terms } => {
                let terms = terms.iter().map(|(place, term)| (*place, bytes(term))).collect();
                Query::Phrase(PhraseQuery { field: Field::default(), terms, slop: *slop })
            }
            Form::Prefix(prefix) => Query::pattern(Field::default(), Pattern::Prefix(bytes(prefix))),
            Form::Wildcard(text) => Query::pattern(Field::default(), Pattern::Wildcard(wildcard(text))),
            Form::Regex(text) => Query::pattern(Field::default(), Pattern::Regex(text.clone())),
            Form::Fuzzy { edits, term } => Query::pattern(
                Field::default(),
                Pattern::Fuzzy { term: term.clone(), edits: *edits, prefix: 0 },
            ),
            Form::Range(from, to) => Query::pattern(Field::default(), Pattern::Range(bound(from), bound(to))),
            Form::Set(terms) => {
                Query::pattern(Field::default(), Pattern::Set(terms.iter().map(bytes).collect()))
            }
            Form::Boost(boost, form) => Query::Boost(Box::new(form.to_scanns()), *boost),
            Form::Bool { least, clauses } => {
                let of = |wanted: Sign| {
                    let of_sign = clauses.iter().filter(|(sign, _)| *sign == wanted);
                    of_sign.map(|(_, form)| form.to_scanns()).collect()
                };
                Query::Bool(BoolQuery {
                    must: of(Sign::Must),
                    should: of(Sign::Should),
                    must_not: of(Sign::MustNot),
                    at_least: *least,
                    ..BoolQuery::default()
                })
            }
        }
    }
}

fn wildcard(text: &str) -> Vec<WildcardPart> {
    let mut parts = Vec::new();
    for char in text.chars() {
        match (char, parts.last_mut()) {
            ('*', _) => parts.push(WildcardPart::Anything),
            ('?', _) => parts.push(WildcardPart::AnyChar),
            (char, Some(WildcardPart::Text(text))) => {
                text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
            (char, _) => parts.push(WildcardPart::Text(char.to_string().into_bytes())),
        }
    }
    parts
}

impl fmt::Display for Form {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Term(term) => write!(out, "term {term}"),
            Form::All => out.write_str("all"),
            Form::Exists => out.write_str("exists"),
            Form::Phrase { slop, terms } => {
                write!(out, "phrase {slop} {}", terms.len())?;
                terms.iter().try_for_each(|(place, term)| write!(out, " {place} {term}"))
            }
            Form::Prefix(word) => write!(out, "prefix {word}"),
            Form::Wildcard(word) => write!(out, "wildcard {word}"),
            Form::Regex(word) => write!(out, "regex {word}"),
            Form::Fuzzy { edits, term } => write!(out, "fuzzy {edits} {term}"),
            Form::Range(from, to) => {
                out.write_str("range")?;
                [from, to].into_iter().try_for_each(|bound| match bound {
                    Bound::Included(word) => write!(out, " [ {word}"),
                    Bound::Excluded(word) => write!(out, " {{ {word}"),
                    Bound::Unbounded => out.write_str(" -"),
                })
            }
            Form::Set(words) => {
                write!(out, "set {}", words.len())?;
                words.iter().try_for_each(|word| write!(out, " {word}"))
            }
            Form::Boost(boost, form) => write!(out, "boost {boost} {form}"),
            Form::Bool { least, clauses } => {
                write!(out, "bool {least} {}", clauses.len())?;
                clauses.iter().try_for_each(|(sign, form)| {
                    let sign = match sign {
                        Sign::Must => '+',
                        Sign::Should => '|',
                        Sign::MustNot => '-',
                    };
                    write!(out, " {sign} {form}")
                })
            }
        }
    }
}

impl FromStr for Form {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> Result<Self> {
        let mut words = Words(line.split(' '));
        let form = words.form(0).with_context(|| format!("{line:?} is not a query"))?;
        ensure!(words.0.next().is_none(), "{line:?} has more words after the query");
        Ok(form)
    }
}

/// The words that were not parsed yet.
struct Words<'a>(Split<'a, char>);

impl Words<'_> {
    fn word(&mut self) -> Result<String> {
        Ok(self.0.next().filter(|word| !word.is_empty()).context("the line ends too early")?.to_string())
    }

    fn number<T: FromStr>(&mut self) -> Result<T> {
        let word = self.word()?;
        word.parse().ok().with_context(|| format!("expected a number, found {word:?}"))
    }

    /// Reads a count and this number of items.
    fn several<T>(&mut self, mut each: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count: usize = self.number()?;
        ensure!(count <= MAX_WORDS, "a list has {count} words, but at most {MAX_WORDS} are allowed");
        (0..count).map(|_| each(self)).collect()
    }

    fn form(&mut self, depth: usize) -> Result<Form> {
        ensure!(depth < MAX_DEPTH, "the query is nested more than {MAX_DEPTH} levels deep");
        Ok(match self.word()?.as_str() {
            "term" => Form::Term(self.word()?),
            "all" => Form::All,
            "exists" => Form::Exists,
            "phrase" => {
                let slop = self.number()?;
                Form::Phrase { slop, terms: self.several(|words| Ok((words.number()?, words.word()?)))? }
            }
            "prefix" => Form::Prefix(self.word()?),
            "wildcard" => Form::Wildcard(self.word()?),
            "regex" => Form::Regex(self.word()?),
            "fuzzy" => Form::Fuzzy { edits: self.number()?, term: self.word()? },
            "range" => Form::Range(self.bound()?, self.bound()?),
            "set" => Form::Set(self.several(Self::word)?),
            "boost" => Form::Boost(self.number()?, Box::new(self.form(depth + 1)?)),
            "bool" => {
                let least = self.number()?;
                let clause = |words: &mut Self| Ok((words.sign()?, words.form(depth + 1)?));
                Form::Bool { least, clauses: self.several(clause)? }
            }
            other => bail!("{other:?} is not a kind of query"),
        })
    }

    fn bound(&mut self) -> Result<Bound<String>> {
        Ok(match self.word()?.as_str() {
            "[" => Bound::Included(self.word()?),
            "{" => Bound::Excluded(self.word()?),
            "-" => Bound::Unbounded,
            other => bail!("{other:?} is not a bound"),
        })
    }

    fn sign(&mut self) -> Result<Sign> {
        Ok(match self.word()?.as_str() {
            "+" => Sign::Must,
            "|" => Sign::Should,
            "-" => Sign::MustNot,
            other => bail!("{other:?} is not a sign"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_it_was_written() {
        for line in [
            "term a",
            "all",
            "exists",
            "phrase 2 3 0 a 1 b 3 +",
            "prefix |",
            "wildcard a?b*",
            "regex a[bc]+",
            "fuzzy 2 word",
            "range [ a { -",
            "range - [ -",
            "set 2 a b",
            "boost 0.3 term a",
            "bool 2 4 + term a | all | boost 1e-9 prefix x - bool 0 1 | term +",
            "bool 0 0",
        ] {
            let form: Form = line.parse().unwrap_or_else(|error| panic!("{line}: {error:#}"));
            let again = form.to_string();
            assert_eq!(again.parse::<Form>().unwrap(), form, "{again}");
            assert_eq!(again.replace("0.000000001", "1e-9"), line);
        }
    }

    #[test]
    fn what_is_no_form_is_refused() {
        let deep = "boost 2 ".repeat(100) + "all";
        for line in
            ["", "term", "term ", "term a b", "phrase 0 2 0 a", "range [ a", "bool 0 1 ? all", "x", &deep]
                .into_iter()
                .chain(["fuzzy x a", "set 5000 a", "bool 0 1 +", "range a b"])
        {
            assert!(line.parse::<Form>().is_err(), "{line}");
        }
    }

    #[test]
    fn forms_become_queries_of_scanns() {
        let of = |line: &str| line.parse::<Form>().unwrap().to_scanns();
        let parts =
            vec![WildcardPart::Text(b"ab".into()), WildcardPart::AnyChar, WildcardPart::Text("é".into())];
        assert_eq!(of("wildcard ab?é"), Query::pattern(Field::default(), Pattern::Wildcard(parts)));
        let Query::Bool(list) = of("bool 1 3 - term a + all | exists") else { panic!("not a list") };
        assert_eq!(
            (list.must, list.should, list.at_least),
            (vec![Query::All], vec![Query::Exists(Field::default())], 1)
        );
        assert_eq!(list.must_not, [Query::term(Field::default(), "a")]);
    }

    #[test]
    fn flat_lists_have_signed_terms() {
        let of = |line: &str| {
            let form: Form = line.parse().unwrap();
            form.signed_terms()
                .map(|terms| terms.into_iter().map(|(sign, term)| (sign, term.to_string())).collect())
        };
        assert_eq!(of("term a"), Some(vec![(Sign::Should, "a".into())]));
        let signed = vec![(Sign::Must, "a".into()), (Sign::MustNot, "b".into())];
        assert_eq!(of("bool 0 2 + term a - term b"), Some(signed));
        for line in ["bool 0 1 + prefix a", "bool 1 1 | term a", "all", "phrase 0 2 0 a 1 b"] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn lists_name_their_terms() {
        let form: Form = "bool 0 3 + phrase 0 2 0 a 1 b - boost 2 term c | prefix d".parse().unwrap();
        assert_eq!(form.terms(), ["a", "b", "c"]);
        assert_eq!(Form::list(Sign::Must, &["x".into()]), Form::Term("x".into()));
        assert_eq!(
            Form::list(Sign::Must, &["x".into(), "y".into()]).to_string(),
            "bool 0 2 + term x + term y"
        );
    }
}
