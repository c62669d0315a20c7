//! Random queries of all kinds. Their words come from the corpus, in their original order or not; a few words
//! do not occur in the corpus.

use std::collections::BTreeSet;
use std::ops::Bound;

use anyhow::{Result, ensure};
use fastrand::Rng;
use scanns::search::Searcher;
use scanns::sources::Input;

use crate::analyzer::AnalyzerName;
use crate::form::{Form, Sign};
use crate::protocol::Unit;
use crate::text::Places;

/// The kinds of queries, and the percentage of each.
const KINDS: [(&str, u32); 13] = [
    ("term", 6),
    ("list", 31),
    ("phrase", 12),
    ("sloppy phrase", 12),
    ("prefix", 5),
    ("wildcard", 6),
    ("regex", 6),
    ("fuzzy", 8),
    ("range", 5),
    ("set", 4),
    ("boost", 3),
    ("exists", 1),
    ("all", 1),
];

/// The average number of queries for each passage of words.
const QUERIES_PER_PASSAGE: usize = 20;

/// The maximum number of words of a passage.
const PASSAGE: usize = 60;

/// The maximum nesting depth of lists.
const DEEPEST: usize = 3;

/// Draws random queries.
struct Drawer<'a> {
    passages: Vec<Vec<String>>,
    /// All words of the passages, sorted.
    words: Vec<String>,
    searcher: &'a Searcher<'a>,
    random: Rng,
}

/// Draws `count` queries and returns them with their kinds. Queries that `searcher` refuses are not used,
/// because the limits of Lucene differ.
///
/// # Errors
/// If the corpus cannot be read or has no words.
pub fn draw(
    files: &[Input],
    unit: Unit,
    analyzer: AnalyzerName,
    searcher: &Searcher,
    count: usize,
    seed: u64,
) -> Result<Vec<(&'static str, Form)>> {
    let mut places = Places::new(files, unit, analyzer, seed)?;
    let mut passages = Vec::new();
    for _ in 0..20 + count / QUERIES_PER_PASSAGE {
        let text = places.document()?;
        let tokens: Vec<_> = places.tokens(&text).into_iter().map(|token| token.1).collect();
        // A token that cannot be part of a query ends a passage.
        let runs = tokens.split(Option::is_none).max_by_key(|run| run.len()).unwrap_or_default();
        let start = places.random.usize(0..=runs.len().saturating_sub(PASSAGE));
        let passage: Vec<String> = runs.iter().skip(start).take(PASSAGE).flatten().cloned().collect();
        passages.extend((!passage.is_empty()).then_some(passage));
    }
    ensure!(!passages.is_empty(), "the corpus has no words; name another with --corpus");
    let words: BTreeSet<&String> = passages.iter().flatten().collect();
    let words = words.into_iter().cloned().collect();
    let mut drawer = Drawer { passages, words, searcher, random: places.random };
    Ok((0..count).map(|_| drawer.query()).collect())
}

impl Drawer<'_> {
    fn query(&mut self) -> (&'static str, Form) {
        loop {
            let kind = self.kind();
            if let Some(form) = self.form(kind, 0) {
                return (kind, form);
            }
        }
    }

    fn kind(&mut self) -> &'static str {
        let all = KINDS.iter().map(|(_, share)| share).sum();
        let mut place = self.random.u32(0..all);
        for (kind, share) in KINDS {
            match place.checked_sub(share) {
                Some(left) => place = left,
                None => return kind,
            }
        }
        "term"
    }

    /// Draws a query of a kind. Returns none if the try failed.
    fn form(&mut self, kind: &str, depth: usize) -> Option<Form> {
        let form = match kind {
            "term" => Form::Term(self.word()),
            "list" => return self.list(depth),
            "phrase" => return self.phrase(false),
            "sloppy phrase" => return self.phrase(true),
            "boost" => {
                let boost = [0.25, 0.5, 1.0, 1.7, 3.0, 12.5, 100.0][self.random.usize(0..7)];
                return Some(Form::Boost(boost, Box::new(self.inner(depth)?)));
            }
            "exists" => Form::Exists,
            "all" => Form::All,
            "prefix" => {
                let word = self.known();
                let most = word.chars().count();
                Form::Prefix(word.chars().take(self.random.usize(2..=most.max(2))).collect())
            }
            "wildcard" => self.wildcard(),
            "regex" => Form::Regex(self.regex()?),
            "fuzzy" => {
                let term = self.word();
                Form::Fuzzy { edits: self.random.u8(1..=2), term: self.misspell(&term) }
            }
            "range" => self.range(),
            _ => Form::Set((0..self.random.usize(1..6)).map(|_| self.word()).collect()),
        };
        self.searcher.count(&form.to_scanns()).is_ok().then_some(form)
    }

    /// Draws a query of any kind, as a part of another query.
    fn inner(&mut self, depth: usize) -> Option<Form> {
        let kind = if depth + 1 < DEEPEST { self.kind() } else { "term" };
        // Most parts are terms, as in queries of users.
        let kind = if self.random.u8(0..3) > 0 { "term" } else { kind };
        let form = self.form(kind, depth + 1)?;
        // Unless a fuzzy query is boosted, Lucene flattens its terms into the enclosing list. If the list
        // contains one of these terms itself, Lucene merges the two, although their statistics differ, and
        // the score is correct for neither.
        let joins = matches!(form, Form::Fuzzy { .. });
        Some(if joins { Form::Boost(1.5, Box::new(form)) } else { form })
    }

    fn list(&mut self, depth: usize) -> Option<Form> {
        // Engines have special code for lists whose clauses all have the same sign.
        let signs: &[Sign] = match self.random.u8(0..6) {
            0 => &[Sign::Should],
            1 => &[Sign::Must],
            2 => &[Sign::Must, Sign::Should],
            3 => &[Sign::Should, Sign::Should, Sign::MustNot],
            _ => &[Sign::Must, Sign::Should, Sign::Should, Sign::MustNot],
        };
        let count = self.random.usize(1..=7);
        // All words are from one document, so that some documents contain several of them.
        let passage = self.passage();
        let mut clauses = Vec::new();
        for _ in 0..count {
            let sign = signs[self.random.usize(0..signs.len())];
            let form = match self.random.u8(0..3) {
                0 => self.inner(depth)?,
                _ => Form::Term(passage[self.random.usize(0..passage.len())].clone()),
            };
            clauses.push((sign, form));
        }
        let optional = clauses.iter().filter(|(sign, _)| *sign == Sign::Should).count();
        let least = if self.random.u8(0..4) == 0 { self.random.usize(0..=optional) } else { 0 };
        Some(Form::Bool { least, clauses })
    }

    fn phrase(&mut self, sloppy: bool) -> Option<Form> {
        let passage = self.passage();
        let count = self.random.usize(2..=if sloppy { 4 } else { 5 });
        let start = self.random.usize(0..passage.len());
        let mut terms: Vec<(u32, String)> = (0..).zip(passage.into_iter().skip(start).take(count)).collect();
        if terms.len() > 2 && self.random.u8(0..5) == 0 {
            // Any word matches a gap.
            terms.remove(1);
        }
        let slop = if sloppy { self.random.u32(1..=6) } else { 0 };
        if sloppy && self.random.bool() {
            let mut words: Vec<String> = terms.iter().map(|(_, term)| term.clone()).collect();
            self.random.shuffle(&mut words);
            for ((_, term), word) in terms.iter_mut().zip(words) {
                *term = word;
            }
        }
        (terms.len() > 1).then_some(Form::Phrase { slop, terms })
    }

    fn wildcard(&mut self) -> Form {
        let mut pattern: Vec<char> = self.known().chars().collect();
        for _ in 0..self.random.usize(1..=3) {
            let at = self.random.usize(0..pattern.len());
            match self.random.u8(0..4) {
                0 => pattern[at] = '?',
                1 => pattern[at] = '*',
                2 => pattern.insert(at + 1, '*'),
                _ => {
                    pattern.truncate(at + 1);
                    pattern.push('*');
                }
            }
        }
        Form::Wildcard(pattern.into_iter().collect())
    }

    /// Draws an expression that means the same to all engines: letters, classes, groups and repetitions.
    fn regex(&mut self) -> Option<String> {
        let word = self.known();
        if !word.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char)) {
            return None;
        }
        let mut expression = String::new();
        let change = self.random.usize(2..6);
        for char in word.chars() {
            let literal = if char.is_ascii_alphanumeric() { char.to_string() } else { format!("\\{char}") };
            let other = self.random.lowercase();
            expression.push_str(&match self.random.usize(0..change * 4) {
                0 => ".".into(),
                1 => "[a-z0-9]".into(),
                2 => "[^x]".into(),
                3 => format!("({literal}|{other}+)"),
                4 => format!("{literal}?"),
                5 => format!("{literal}{{1,3}}"),
                6 => ".*".into(),
                _ => literal,
            });
        }
        Some(expression)
    }

    /// Draws a range. Its bounds are mostly near each other, because the number of terms in a range is
    /// limited.
    fn range(&mut self) -> Form {
        let from = self.random.usize(0..self.words.len());
        let to = (from + self.random.usize(0..40)).min(self.words.len() - 1);
        let (from, to) = if self.random.u8(0..20) == 0 { (to, from) } else { (from, to) };
        let mut bound = |at: usize| match self.random.u8(0..20) {
            0 => Bound::Unbounded,
            odd if odd % 2 == 1 => Bound::Excluded(self.words[at].clone()),
            _ => Bound::Included(self.words[at].clone()),
        };
        Form::Range(bound(from), bound(to))
    }

    fn passage(&mut self) -> Vec<String> {
        self.passages[self.random.usize(0..self.passages.len())].clone()
    }

    /// Draws a word of the corpus. In half of the cases, frequent words are more likely; in the other half,
    /// all distinct words are equally likely.
    fn known(&mut self) -> String {
        if self.random.bool() {
            return self.words[self.random.usize(0..self.words.len())].clone();
        }
        let passage = self.passage();
        passage[self.random.usize(0..passage.len())].clone()
    }

    /// Draws a word of the corpus or, rarely, a word that no document contains.
    fn word(&mut self) -> String {
        let word = self.known();
        if self.random.u8(0..20) == 0 { word + "\u{b6}none" } else { word }
    }

    /// Returns `word` with up to two edits.
    fn misspell(&mut self, word: &str) -> String {
        let mut letters: Vec<char> = word.chars().collect();
        for _ in 0..self.random.usize(0..=2) {
            let at = self.random.usize(0..letters.len());
            match self.random.u8(0..4) {
                0 => letters.insert(at, self.random.lowercase()),
                1 => letters[at] = self.random.lowercase(),
                2 if letters.len() > 1 => {
                    letters.remove(at);
                }
                _ if at + 1 < letters.len() => letters.swap(at, at + 1),
                _ => {}
            }
        }
        letters.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use scanns::sources::SourceOptions;

    use super::*;

    #[test]
    fn every_kind_is_drawn_can_be_written_and_comes_back_for_the_same_seed() {
        let dir = tempfile::tempdir().unwrap();
        let mut random = Rng::with_seed(1);
        let text: String = (0..20_000)
            .map(|at| {
                format!(
                    "{}{:x}{}",
                    ["word.", "é"][at % 2],
                    random.u32(0..900),
                    if at % 9 == 0 { '\n' } else { ' ' }
                )
            })
            .collect();
        fs::write(dir.path().join("text"), text).unwrap();
        let source = SourceOptions { paths: vec![dir.path().into()], ..SourceOptions::default() };
        let files = scanns::sources::collect(&source, &AtomicBool::new(false)).unwrap().inputs;
        let searcher = Searcher::new(Vec::new());
        let draw =
            |seed| super::draw(&files, Unit::Line, AnalyzerName::Delimited, &searcher, 1000, seed).unwrap();
        let queries = draw(1);
        assert_eq!(queries, draw(1));
        assert_ne!(queries, draw(2));
        let mut kinds = BTreeMap::<&str, usize>::new();
        for (kind, form) in &queries {
            *kinds.entry(kind).or_default() += 1;
            let line = form.to_string();
            assert_eq!(line.parse::<Form>().unwrap(), *form, "{line}");
        }
        assert_eq!(kinds.len(), KINDS.len(), "{kinds:?}");
    }
}
