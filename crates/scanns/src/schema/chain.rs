//! Analyzers that users define: a tokenizer, and steps that each change or remove words.
//!
//! A chain is written as `standard | fold | stop:german | snowball:german`, also in files. Files are
//! therefore read strictly: the stored text must be the text that would be written. Every named analyzer is
//! such a chain, so that `tokenize/` only implements tokenizers and steps. `tokenize/rules.rs` implements the
//! steps.

use std::fmt;

use super::{Delimiters, Grams, Language};
use crate::error::{Error, Result};

/// The maximum number of steps of a chain.
const MAX_STEPS: usize = 16;

/// The maximum length of the text of a chain, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// The maximum length of words that a step can ask for, in characters: no token is longer.
const MAX_LENGTH: u16 = 32 << 10;

/// The delimiters of identifiers: every ASCII character except letters, digits and `_`.
pub(crate) const CODE_BREAKS: Delimiters =
    Delimiters::from_words([0xfc00_ffff_ffff_ffff, 0xf800_0001_7800_0001, 0, 0]);

/// The bytes that separate paths.
pub(crate) const LINE_ENDS: Delimiters = Delimiters::new(b"\n\r\0");

/// The prefix of a set of delimiters.
const DELIMITERS: &str = "delimiters:";

/// The tokenizers, for messages.
const TOKENIZERS: &str = "standard, whitespace, paths, code, keyword, ancestors or delimiters:BYTES";

/// How to write special delimiters in a chain, for messages.
const ESCAPES: &str = "among delimiters, write a bar as \\x7c, a space as \\x20, a tab as \\t";

/// The steps, for messages.
const STEPS: &str = "lowercase, fold, possessive, stop:LANGUAGE, stop:WORD,WORD, porter, snowball:LANGUAGE, \
                     length:MIN-MAX, ngram:MIN-MAX or edge-ngram:MIN-MAX";

/// A tokenizer, which finds the words of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Standard,
    Bytes(Delimiters),
    Code,
    Ancestors,
    Keyword,
}

impl Base {
    /// Parses a name, or `delimiters:BYTES`; returns `None` for other text.
    pub(super) fn parse(text: &str) -> Result<Option<Self>> {
        Ok(Some(match text {
            "standard" => Base::Standard,
            "whitespace" => Base::Bytes(Delimiters::whitespace()),
            "paths" => Base::Bytes(Delimiters::paths()),
            "code" => Base::Code,
            "ancestors" => Base::Ancestors,
            "keyword" => Base::Keyword,
            _ => match text.strip_prefix(DELIMITERS) {
                Some(bytes) => Base::Bytes(Delimiters::parse(bytes)?),
                None => return Ok(None),
            },
        }))
    }

    /// Whether text may be cut between two bytes; see [`Analyzer::may_cut`](super::Analyzer::may_cut).
    #[inline]
    pub(super) fn may_cut(&self, last: u8, next: u8) -> bool {
        match self {
            Base::Standard => {
                let word =
                    last.is_ascii_alphanumeric() || matches!(last, b'_' | b':' | b'.' | b'\'' | b',' | b';');
                let line = matches!(last, b'\n' | 0x0b | 0x0c) || (last == b'\r' && next != b'\n');
                // U+4000 to U+9FFF: ideographs and hexagrams, which no rule of word boundaries mentions.
                line || (last.is_ascii() && !word && next.is_ascii()) || matches!(next, 0xe4..=0xe9)
            }
            Base::Bytes(set) => set.contains(last),
            Base::Code => CODE_BREAKS.contains(last),
            Base::Ancestors => LINE_ENDS.contains(last),
            Base::Keyword => false,
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Standard => out.write_str("standard"),
            Base::Bytes(set) if *set == Delimiters::paths() => out.write_str("paths"),
            Base::Bytes(set) if *set == Delimiters::whitespace() => out.write_str("whitespace"),
            // A plain bar would end the tokenizer.
            Base::Bytes(set) => write!(out, "delimiters:{}", set.to_string().replace('|', "\\x7c")),
            Base::Code => out.write_str("code"),
            Base::Ancestors => out.write_str("ancestors"),
            Base::Keyword => out.write_str("keyword"),
        }
    }
}

/// Words to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StopWords {
    /// The stop words of a language.
    Of(Language),
    /// A list of at least one word, in the order in which they were given.
    Words(Vec<String>),
}

impl StopWords {
    /// Parses `german`, `the,of` or `the,`.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        if text.is_empty() {
            let why =
                "stop needs words: a language, as in stop:german, or words of your own, as in stop:the,of";
            return Err(why.into());
        }
        if !text.contains(',') {
            return Language::parse(text).map(StopWords::Of).map_err(|_| {
                let all = super::LANGUAGES.join(", ");
                format!(
                    "there is no list of stop words '{text}': use one of {all}, or words of your own, as \
                     in {text},"
                )
            });
        }
        let words: Vec<String> =
            text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(String::from).collect();
        if words.is_empty() {
            return Err("the list of stop words is empty: name at least one, as in stop:the,of".into());
        }
        if let Some(odd) = words.iter().find(|word| word.contains(char::is_control)) {
            return Err(format!("the stop word {odd:?} contains a control character: remove it"));
        }
        Ok(StopWords::Words(words))
    }
}

impl fmt::Display for StopWords {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopWords::Of(language) => out.write_str(language.name()),
            // The trailing comma distinguishes a word from a language.
            StopWords::Words(words) if words.len() == 1 => write!(out, "{},", words.concat()),
            StopWords::Words(words) => out.write_str(&words.join(",")),
        }
    }
}

/// A step, which is applied to every word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Lowercase,
    Fold,
    Possessive,
    Stop(StopWords),
    Porter,
    Snowball(Language),
    /// Keeps words of `min` to `max` characters.
    Length {
        min: u16,
        max: u16,
    },
    Grams(Grams),
}

impl Step {
    /// Parses a step; the error is the problem, to be read after the text of the step.
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        let (name, parameter) =
            text.split_once(':').map_or((text, None), |(name, of)| (name.trim_end(), Some(of.trim())));
        let needs = |example: &str| format!("{name} needs a parameter, as in {name}:{example}");
        let reason = |error: Error| error.to_string();
        match (name, parameter) {
            ("", None) => Err(format!("the step is empty: use {STEPS}")),
            ("lowercase", None) => Ok(Step::Lowercase),
            ("fold", None) => Ok(Step::Fold),
            ("possessive", None) => Ok(Step::Possessive),
            ("porter", None) => Ok(Step::Porter),
            ("lowercase" | "fold" | "possessive" | "porter", Some(_)) => {
                Err(format!("{name} takes no parameter: write {name} alone"))
            }
            ("stop", Some(words)) => StopWords::parse(words).map(Step::Stop),
            ("stop", None) => Err(needs("english, or stop:the,of")),
            ("snowball", Some(language)) => Language::parse(language).map(Step::Snowball).map_err(reason),
            ("snowball", None) => {
                Err(needs(&format!("german; languages are {}", super::LANGUAGES.join(", "))))
            }
            ("length", Some(lengths)) => Self::parse_length(lengths),
            ("length", None) => Err(needs("2-30")),
            ("ngram" | "edge-ngram", Some(lengths)) => {
                Grams::parse(lengths, name == "edge-ngram").map(Step::Grams).map_err(reason)
            }
            ("ngram" | "edge-ngram", None) => Err(needs("2-3")),
            _ if matches!(Base::parse(text), Ok(Some(_))) => {
                Err("a tokenizer must be the first element of a chain".into())
            }
            _ => Err(format!("unknown step: use {STEPS}")),
        }
    }

    /// Parses `2-30`.
    fn parse_length(text: &str) -> std::result::Result<Self, String> {
        let numbers =
            text.split_once('-').and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)));
        match numbers {
            Some((min, max)) if 0 < min && min <= max && max <= MAX_LENGTH => Ok(Step::Length { min, max }),
            _ => Err(format!(
                "'{text}' is not a range: write two numbers from 1 to {MAX_LENGTH}, as in length:2-30"
            )),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Lowercase => out.write_str("lowercase"),
            Step::Fold => out.write_str("fold"),
            Step::Possessive => out.write_str("possessive"),
            Step::Stop(words) => write!(out, "stop:{words}"),
            Step::Porter => out.write_str("porter"),
            Step::Snowball(language) => write!(out, "snowball:{}", language.name()),
            Step::Length { min, max } => write!(out, "length:{min}-{max}"),
            Step::Grams(grams) => write!(out, "{grams}"),
        }
    }
}

fn invalid(part: String, problem: String) -> Error {
    Error::InvalidAnalyzer { part, problem }
}

/// An analyzer that consists of a tokenizer and steps: see [`Analyzer::parse`](super::Analyzer::parse).
/// `to_string` returns the text that can be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    base: Base,
    /// At least one.
    steps: Vec<Step>,
}

impl Chain {
    /// Parses `tokenizer | step | …`.
    ///
    /// # Errors
    /// [`Error::InvalidAnalyzer`] for an unknown or misplaced element, for more than 16 steps, and for more
    /// than 64 KiB. The message names the element and the possible ones.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let (first, rest) = text.split_once('|').unwrap_or((text, ""));
        let base = Self::parse_base(first, rest)?;
        let listed = first.trim_start().starts_with(DELIMITERS);
        let elements = text.split('|').map(str::trim).skip(1);
        let mut steps: Vec<Step> = Vec::new();
        for (place, element) in (1..).zip(elements) {
            let refuse =
                |why: &str| Err(invalid(format!("step {place} of the chain, '{element}':"), why.to_owned()));
            let step = match Step::parse(element) {
                Ok(step) => step,
                Err(why) if listed => return refuse(&format!("{why}; {ESCAPES}")),
                Err(why) => return refuse(&why),
            };
            if place > MAX_STEPS {
                return refuse(&format!("a chain has at most {MAX_STEPS} steps"));
            }
            if let Some(Step::Grams(grams)) = steps.last() {
                return refuse(&format!(
                    "n-grams are not words: make {grams} the last step, and the only one of its kind"
                ));
            }
            // N-grams of both the identifier and its parts would not be in the order of the text.
            if matches!(&step, Step::Grams(grams) if !grams.edge())
                && matches!(base, Base::Code | Base::Ancestors)
            {
                return refuse(&format!(
                    "{base} finds words within words, so n-grams would be found twice: use edge-ngram, or \
                     another tokenizer"
                ));
            }
            steps.push(step);
        }
        if steps.is_empty() {
            return Err(invalid(format!("the chain '{text}'"), format!("has no steps: add one of {STEPS}")));
        }
        let chain = Chain { base, steps };
        match chain.to_string().len() {
            len if len > MAX_TEXT => Err(invalid(
                format!("a chain of {len} bytes"),
                format!("is too long: at most {MAX_TEXT} are allowed; remove some stop words"),
            )),
            _ => Ok(chain),
        }
    }

    /// Parses the text before the first bar; `rest` is the text after it.
    fn parse_base(text: &str, rest: &str) -> Result<Base> {
        let (text, all) = (text.trim(), text.trim_start());
        if let Some(bytes) = text.strip_prefix(DELIMITERS) {
            // A chain is written with one space on each side of a bar. Any other white space could be meant
            // as a delimiter.
            let lost = &all[text.len()..];
            let what = match lost {
                _ if bytes.is_empty() => "at least one byte must delimit",
                "" => "",
                " " if rest.starts_with(' ') => "",
                _ => "the white space before the bar would be lost: use ' | ' if it is not meant to delimit",
            };
            if !what.is_empty() {
                return Err(invalid(
                    format!("the chain begins with '{all}',"),
                    format!("but {what}; {ESCAPES}"),
                ));
            }
        }
        if let Some(base) = Base::parse(text)? {
            return Ok(base);
        }
        let refuse = |why: String| Err(invalid(format!("the chain begins with '{text}',"), why));
        let name = text.split(':').next().unwrap_or_default();
        match name {
            "" => refuse(format!("but must begin with a tokenizer: {TOKENIZERS}")),
            "english" => {
                refuse("which is a chain: write standard | possessive | stop:english | porter".into())
            }
            "snowball" | "ngram" | "edge-ngram" => {
                refuse(format!("which is a step: write standard | {text}"))
            }
            _ if Step::parse(text).is_ok() => {
                refuse(format!("which is a step: write a tokenizer before it, {TOKENIZERS}"))
            }
            _ => refuse(format!("which is not a tokenizer: use {TOKENIZERS}")),
        }
    }

    /// Parses the text of a chain in a file; `None` unless it is the text that [`Chain`] would write.
    pub(crate) fn from_stored(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= MAX_TEXT)?;
        Self::parse(text).ok().filter(|chain| chain.to_string() == text)
    }

    pub(super) fn base(&self) -> Base {
        self.base
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.base)?;
        self.steps.iter().try_for_each(|step| write!(out, " | {step}"))
    }
}

#[cfg(test)]
mod tests;
