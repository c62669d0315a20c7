//! What stands between the words of a tokenizer and the sink: parts of words, then rules, then runs of characters.
//!
//! Each is a filter, and a chain has up to three. Analyzers with one or none, which all named ones are, are compiled
//! for each sink as one loop. A chain that has more calls the next filter through a table, some 2 ns a word.

use std::ops::Range;

use super::filter::Filtered;
use super::parts::{Ancestors, Code, Runs};
use super::rewrite::Rewrite;
use super::rules::{Rule, rules};
use super::{Finder, TokenSink};
use crate::schema::{Analyzer, Base, Step};

/// The filters of an analyzer.
pub(super) enum Links {
    /// The words are the tokens.
    None,
    Rewrite(Rewrite),
    Runs(Runs),
    Code(Code),
    Ancestors,
    Several(Box<Several>),
}

/// Filters one after the other.
pub(super) struct Several {
    parts: Parts,
    rewrite: Option<Rewrite>,
    runs: Option<Runs>,
    /// Room for [`Settled`].
    last: Vec<u8>,
}

/// What makes several words of one before all others.
enum Parts {
    None,
    Code(Code),
    Ancestors,
}

impl Links {
    pub(super) fn new(analyzer: &Analyzer) -> Self {
        let parts = match analyzer.base() {
            Base::Code => Parts::Code(Code::default()),
            Base::Ancestors => Parts::Ancestors,
            Base::Standard | Base::Bytes(_) | Base::Keyword => Parts::None,
        };
        let rules = rules(analyzer);
        let runs = analyzer.steps().iter().find_map(|step| match step {
            Step::Grams(grams) => Some(Runs::new(*grams, rules.iter().all(Rule::keeps_places))),
            _ => None,
        });
        let rewrite = (!rules.is_empty()).then(|| Rewrite::new(rules));
        match (parts, rewrite, runs) {
            (Parts::None, None, None) => Links::None,
            (Parts::None, Some(rewrite), None) => Links::Rewrite(rewrite),
            (Parts::None, None, Some(runs)) => Links::Runs(runs),
            (Parts::Code(code), None, None) => Links::Code(code),
            (Parts::Ancestors, None, None) => Links::Ancestors,
            (parts, rewrite, runs) => {
                Links::Several(Box::new(Several { parts, rewrite, runs, last: Vec::new() }))
            }
        }
    }

    /// Pushes the tokens of `text[range]`; returns how many words had to be cut.
    #[inline]
    pub(super) fn run<S: TokenSink>(
        &mut self,
        finder: &mut Finder,
        text: &mut [u8],
        range: Range<usize>,
        sink: &mut S,
    ) -> u64 {
        match self {
            Links::None => finder.run(text, range, sink),
            Links::Rewrite(rewrite) => finder.run(text, range, &mut Filtered(rewrite, sink)),
            Links::Runs(runs) => finder.run(text, range, &mut Filtered(runs, sink)),
            Links::Code(code) => finder.run(text, range, &mut Filtered(code, sink)),
            Links::Ancestors => finder.run(text, range, &mut Filtered(&mut Ancestors, sink)),
            Links::Several(several) => several.run(finder, text, range, sink),
        }
    }
}

impl Several {
    fn run(
        &mut self,
        finder: &mut Finder,
        text: &mut [u8],
        range: Range<usize>,
        sink: &mut dyn TokenSink,
    ) -> u64 {
        // From the last filter to the first, since each needs the one after it.
        let Several { parts, rewrite, runs, last } = self;
        let mut settled = Settled { sink, last, shift: 0 };
        let mut sink: &mut dyn TokenSink = &mut settled;
        let (mut running, mut rewriting);
        if let Some(runs) = runs {
            running = Filtered(runs, sink);
            sink = &mut running;
        }
        if let Some(rewrite) = rewrite {
            rewriting = Filtered(rewrite, sink);
            sink = &mut rewriting;
        }
        let cut = match parts {
            Parts::None => finder.run(text, range, sink),
            Parts::Code(code) => finder.run(text, range, &mut Filtered(code, sink)),
            Parts::Ancestors => finder.run(text, range, &mut Filtered(&mut Ancestors, sink)),
        };
        settled.settle();
        cut
    }
}

/// A sink that keeps a term from standing twice in one place.
///
/// An identifier and the first part of it stand in one place, and steps may make the same of both. It also moves
/// positions once for several words that are left out.
struct Settled<'s> {
    sink: &'s mut dyn TokenSink,
    last: &'s mut Vec<u8>,
    /// How far the next token is from the place after the last one.
    shift: i32,
}

impl Settled<'_> {
    fn settle(&mut self) {
        if self.shift != 0 {
            self.sink.shift(self.shift);
            self.shift = 0;
        }
    }
}

impl TokenSink for Settled<'_> {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.as_chunks::<2>().0 {
            let range = base + usize::from(pair[0])..base + usize::from(pair[1]);
            self.token(&text[range.clone()], range);
        }
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        if self.shift == -1 && token == self.last.as_slice() {
            self.shift = 0;
            return;
        }
        self.settle();
        self.sink.token(token, source);
        self.last.clear();
        self.last.extend_from_slice(token);
    }

    fn shift(&mut self, positions: i32) {
        self.shift = self.shift.saturating_add(positions);
    }
}
