//! Judgements and runs in the formats of TREC: words separated by white space, one document per line.
//!
//! Judgements may also have three columns and a header, as BEIR's have. Where tabs separate the right number
//! of columns, names may contain spaces.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use anyhow::{Result, bail};

/// The relevance of each document; a document is relevant if it is above 0.
pub type Relevance = HashMap<String, i64>;

/// The judgements of all topics.
#[derive(Debug, Default)]
pub struct Judged {
    /// In the order of the file.
    topics: Vec<(String, Relevance)>,
}

/// The columns of a line: between tabs, if there is one of `counts` of them, or else words.
fn columns<'t>(line: &'t str, counts: &[usize]) -> Vec<&'t str> {
    let tabbed: Vec<&str> = line.split('\t').map(str::trim).collect();
    if counts.contains(&tabbed.len()) { tabbed } else { line.split_whitespace().collect() }
}

/// The entry of a topic, which is added if it is missing. Topics stay in the order of their first lines.
fn entry<'t, T: Default>(topics: &'t mut Vec<(String, T)>, topic: &str) -> Option<&'t mut T> {
    // The lines of a topic are usually adjacent.
    let place = match topics.last() {
        Some((last, _)) if last == topic => topics.len() - 1,
        _ => topics.iter().position(|(known, _)| known == topic).unwrap_or(topics.len()),
    };
    if place == topics.len() {
        topics.push((topic.into(), T::default()));
    }
    topics.get_mut(place).map(|(_, things)| things)
}

impl Judged {
    /// Reads lines of topic, anything, document and relevance, or of topic, document and relevance, perhaps
    /// with a header.
    pub fn parse(text: &str) -> Result<Self> {
        let mut judged = Judged::default();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let words = columns(line, &[3, 4]);
            let (topic, document, relevance) = match words[..] {
                [topic, _, document, relevance] | [topic, document, relevance] => {
                    (topic, document, relevance)
                }
                _ => bail!(
                    "line {number} has {} words, not four: topic, a number, document, relevance; or three: \
                     topic, document, relevance",
                    words.len()
                ),
            };
            let Ok(relevance) = relevance.parse() else {
                if number == 1 && words.len() == 3 {
                    // The header.
                    continue;
                }
                bail!("line {number} has the relevance '{relevance}', which is not a whole number");
            };
            let before =
                entry(&mut judged.topics, topic).and_then(|of| of.insert(document.into(), relevance));
            if before.is_some() {
                bail!("line {number} judges document {document} of topic {topic} a second time");
            }
        }
        if judged.topics.is_empty() {
            bail!("there are no judgements");
        }
        Ok(judged)
    }

    /// The names of all judged documents.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.topics.iter().flat_map(|(_, judged)| judged.keys()).map(String::as_str)
    }

    /// The topics with their judgements.
    pub fn topics(&self) -> impl Iterator<Item = (&str, &Relevance)> {
        self.topics.iter().map(|(topic, judged)| (topic.as_str(), judged))
    }
}

/// The ranking of a topic.
#[derive(Debug, Default)]
struct Answers {
    documents: Vec<(String, f32)>,
    seen: HashSet<String>,
}

/// The rankings of topics.
#[derive(Debug, Default)]
pub struct Run {
    topics: Vec<(String, Answers)>,
}

impl Run {
    /// Reads lines of topic, anything, document, anything, score and anything. Ranks are ignored, since
    /// scores determine the order.
    pub fn parse(text: &str) -> Result<Self> {
        let mut run = Run::default();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let words = columns(line, &[6]);
            let [topic, _, document, _, score, _] = words[..] else {
                bail!(
                    "line {number} has {} words, not six: topic, Q0, document, rank, score, name",
                    words.len()
                );
            };
            let Some(score) = score.parse::<f32>().ok().filter(|score| !score.is_nan()) else {
                bail!("line {number} has the score '{score}', which is not a number");
            };
            run.push(topic, document.into(), score)?;
        }
        Ok(run)
    }

    /// Adds a document to the ranking of a topic.
    ///
    /// # Errors
    /// The ranking already has the document.
    pub fn push(&mut self, topic: &str, document: String, score: f32) -> Result<()> {
        let Some(answers) = entry(&mut self.topics, topic) else { return Ok(()) };
        if !answers.seen.insert(document.clone()) {
            bail!("topic {topic} has document {document} twice: the names of documents must differ");
        }
        answers.documents.push((document, score));
        Ok(())
    }

    /// The topics in the order of their first documents.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.topics.iter().map(|(topic, _)| topic.as_str())
    }

    /// The names of all documents.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        let documents = self.topics.iter().flat_map(|(_, answers)| &answers.documents);
        documents.map(|(document, _)| document.as_str())
    }

    /// The documents of a topic in the order of trec_eval: by descending score, then by descending name.
    pub fn ranking(&self, topic: &str) -> Vec<&str> {
        let found = self.topics.iter().find(|(known, _)| known == topic);
        let mut ranking: Vec<&(String, f32)> =
            found.iter().flat_map(|(_, answers)| &answers.documents).collect();
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
        ranking.into_iter().map(|(document, _)| document.as_str()).collect()
    }

    /// The text of a run file; `name` is the name of the run.
    ///
    /// # Errors
    /// The name of a document contains white space, which separates words.
    pub fn to_text(&self, name: &str) -> Result<String> {
        let mut text = String::new();
        for (topic, answers) in &self.topics {
            for (rank, (document, score)) in (1..).zip(&answers.documents) {
                if document.contains(char::is_whitespace) {
                    bail!(
                        "document '{document}' cannot be written to a run file, since its name contains \
                         white space"
                    );
                }
                writeln!(text, "{topic} Q0 {document} {rank} {score} {name}")?;
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_ordered_by_score_then_by_falling_name_and_read_back() {
        let run = Run::parse("2 Q0 b 1 0.5 x\n1 Q0 a 9 1.5 x\n2 Q0 c 2 0.5 x\n2 Q0 a 3 7e-1 x\n").unwrap();
        assert_eq!(run.ranking("2"), ["a", "c", "b"]);
        assert!(run.ranking("3").is_empty());
        let again = Run::parse(&run.to_text("y").unwrap()).unwrap();
        assert_eq!((again.ranking("1"), again.ranking("2")), (run.ranking("1"), run.ranking("2")));
        let mut run = Run::default();
        run.push("1", "a b".into(), 1.0).unwrap();
        assert!(run.to_text("y").is_err());
    }

    #[test]
    fn judgements_have_four_columns_or_three_with_or_without_a_header() {
        let read = |text: &str| {
            let judged = Judged::parse(text).unwrap();
            let topics = judged
                .topics()
                .flat_map(|(topic, of)| of.iter().map(move |(name, grade)| (topic, name, grade)));
            topics.map(|(topic, name, grade)| format!("{topic}/{name}/{grade}")).collect::<Vec<_>>()
        };
        for text in ["1 0 a.b 2\n", "1\ta.b\t2\n", "query-id\tcorpus-id\tscore\r\n1\ta.b\t2\r\n", "1 a.b 2"] {
            assert_eq!(read(text), ["1/a.b/2"], "{text:?}");
        }
        assert_eq!(read("1\t0\t/a b/c\t1\n"), ["1//a b/c/1"]);
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        for (text, hint) in [
            ("1 a", "2 words"),
            ("1 0 a x", "whole"),
            ("q d s\n1 a x", "line 2"),
            ("1 0 a 1\n1 0 a 0", "second"),
            ("", "no judg"),
        ] {
            let error = Judged::parse(text).unwrap_err().to_string();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
        for (text, hint) in
            [("1 Q0 a 1 2", "5 words"), ("1 Q0 a 1 nan x", "nan"), ("1 Q0 a 1 2 x\n1 Q0 a 2 1 x", "twice")]
        {
            let error = Run::parse(text).unwrap_err().to_string();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
    }
}
