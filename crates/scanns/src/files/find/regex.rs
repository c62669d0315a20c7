//! Regular expressions of `-regex` and `-iregex` in all dialects of `-regextype`, over bytes in the C locale.
//!
//! GNU find asks whether the longest match at the start of the path covers all of it, which holds exactly
//! where the expression, anchored at both ends, matches. So an expression is read into a syntax tree
//! ([`super::regex_read`]) and runs as an automaton in linear time. Back references have no automaton: they
//! are an error.

use regex_automata::{Input, meta};
use regex_syntax::hir::{Hir, Look};

use super::dialect::Dialect;
use super::error::{FindError, text};
use super::regex_read::read;

/// The most memory of an automaton; more is an error.
const LARGEST: usize = 16 << 20;

/// A regular expression that is compared with whole paths.
#[derive(Clone, Debug)]
pub(super) struct PathRegex {
    regex: meta::Regex,
}

impl PathRegex {
    /// Compiles an expression; `fold` ignores the case of ASCII letters.
    pub(super) fn new(expression: &[u8], dialect: Dialect, fold: bool) -> Result<Self, FindError> {
        let refuse = |reason: &str| {
            FindError::new(format!(
                "'{}' is not a regular expression of this -regextype: {reason}",
                text(expression)
            ))
        };
        let tree = read(expression, dialect, fold).map_err(refuse)?;
        let whole = Hir::concat(vec![Hir::look(Look::Start), tree, Hir::look(Look::End)]);
        let settings = meta::Config::new().utf8_empty(false).nfa_size_limit(Some(LARGEST));
        let regex = meta::Builder::new()
            .configure(settings)
            .build_from_hir(&whole)
            .map_err(|_| refuse("it is too large; use smaller repetitions"))?;
        Ok(PathRegex { regex })
    }

    /// Whether the expression matches the whole path.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        self.regex.is_match(Input::new(path))
    }
}
