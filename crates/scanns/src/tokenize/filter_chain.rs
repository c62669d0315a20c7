//! The filters between the words of a tokenizer and the sink: a splitter of words, then rules, then n-grams.
//!
//! A chain has up to three filters. Analyzers with at most one, which are all named analyzers, are compiled
//! into one loop for each sink. A longer chain calls the next filter through a vtable, about 2 ns per word.

use std::ops::Range;

use super::filter::Filtered;
use super::finder::Finder;
use super::parts::{Ancestors, Code, GramFilter};
use super::rewrite::Rewrite;
use super::rules::{WordRule, rules};
use super::sink::TokenSink;
use crate::schema::{Analyzer, Base, Step};

/// The filters of an analyzer.
pub(super) enum FilterChain {
    /// The words are the tokens.
    None,
    Rewrite(Rewrite),
    Grams(GramFilter),
    Code(Code),
    Ancestors,
    Several(Box<Several>),
}

/// Several filters, one after the other.
pub(super) struct Several {
    splitter: Splitter,
    rewrite: Option<Rewrite>,
    grams: Option<GramFilter>,
    /// Buffer for [`Settled`].
    last: Vec<u8>,
}

/// The first filter, which makes several words of one.
enum Splitter {
    None,
    Code(Code),
    Ancestors,
}

impl FilterChain {
    pub(super) fn new(analyzer: &Analyzer) -> Self {
        let splitter = match analyzer.base() {
            Base::Code => Splitter::Code(Code::default()),
            Base::Ancestors => Splitter::Ancestors,
            Base::Standard | Base::Bytes(_) | Base::Keyword => Splitter::None,
        };
        let rules = rules(analyzer);
        let grams = analyzer.steps().iter().find_map(|step| match step {
            Step::Grams(grams) => Some(GramFilter::new(*grams, rules.iter().all(WordRule::keeps_places))),
            _ => None,
        });
        let rewrite = (!rules.is_empty()).then(|| Rewrite::new(rules));
        match (splitter, rewrite, grams) {
            (Splitter::None, None, None) => FilterChain::None,
            (Splitter::None, Some(rewrite), None) => FilterChain::Rewrite(rewrite),
            (Splitter::None, None, Some(grams)) => FilterChain::Grams(grams),
            (Splitter::Code(code), None, None) => FilterChain::Code(code),
            (Splitter::Ancestors, None, None) => FilterChain::Ancestors,
            (splitter, rewrite, grams) => {
                FilterChain::Several(Box::new(Several { splitter, rewrite, grams, last: Vec::new() }))
            }
        }
    }

    /// Pushes the tokens of `text[range]`; returns the number of words that were cut.
    #[inline]
    pub(super) fn run<S: TokenSink>(
        &mut self,
        finder: &mut Finder,
        text: &mut [u8],
        range: Range<usize>,
        sink: &mut S,
    ) -> u64 {
        match self {
            FilterChain::None => finder.run(text, range, sink),
            FilterChain::Rewrite(rewrite) => finder.run(text, range, &mut Filtered(rewrite, sink)),
            FilterChain::Grams(grams) => finder.run(text, range, &mut Filtered(grams, sink)),
            FilterChain::Code(code) => finder.run(text, range, &mut Filtered(code, sink)),
            FilterChain::Ancestors => finder.run(text, range, &mut Filtered(&mut Ancestors, sink)),
            FilterChain::Several(several) => several.run(finder, text, range, sink),
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
        // From the last filter to the first, because each needs the one after it.
        let Several { splitter, rewrite, grams, last } = self;
        let mut settled = Settled { sink, last, shift: 0 };
        let mut sink: &mut dyn TokenSink = &mut settled;
        let (mut making_grams, mut rewriting);
        if let Some(grams) = grams {
            making_grams = Filtered(grams, sink);
            sink = &mut making_grams;
        }
        if let Some(rewrite) = rewrite {
            rewriting = Filtered(rewrite, sink);
            sink = &mut rewriting;
        }
        let cut = match splitter {
            Splitter::None => finder.run(text, range, sink),
            Splitter::Code(code) => finder.run(text, range, &mut Filtered(code, sink)),
            Splitter::Ancestors => finder.run(text, range, &mut Filtered(&mut Ancestors, sink)),
        };
        settled.settle();
        cut
    }
}

/// A sink that keeps a term from occurring twice at one position.
///
/// An identifier and its first part have the same position, and rules may turn both into the same term. The
/// sink also combines the shifts of several words that are left out.
struct Settled<'s> {
    sink: &'s mut dyn TokenSink,
    last: &'s mut Vec<u8>,
    /// Distance of the next token from the position after the last one.
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
