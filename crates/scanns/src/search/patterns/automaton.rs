//! Machines that read terms: of regular expressions, wildcards, and of all that is within some edits of a term.

use std::fmt::Write;
use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::{primitives::StateID, start, syntax};
use regex_automata::{Anchored, MatchKind};

use crate::error::{Error, Result};
use crate::search::query::WildcardPart;

/// Memory that the machine of an expression may take, in bytes.
const MOST_BYTES: usize = 8 << 20;

/// Memory that the sets of states may take from which it is built. It bounds the time, which no other limit does:
/// with 8 MiB, `(.{0,9}){0,9}\wabc` took four seconds to be refused, with this one.
const MOST_WORK: usize = 512 << 10;

/// Memory that the expression may take before: `(\w{0,9}\w*){0,30}` took seconds with 8 MiB.
const MOST_STATES: usize = 1 << 20;

/// Characters that a term may have to be sought with edits.
pub(in crate::search) const MOST_CHARS: usize = 255;

/// See the module.
pub(in crate::search) enum Machine {
    Regex {
        dfa: Box<dense::DFA<Vec<u32>>>,
        start: StateID,
    },
    Edits {
        /// Bytes that a term must begin with.
        prefix: Vec<u8>,
        dfa: Box<DFA>,
        edits: u8,
    },
}

/// Where a machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::search) enum State {
    Regex(StateID),
    /// So many bytes of the prefix have been read.
    Prefix(usize),
    Edits(u32),
}

impl Machine {
    /// Of a regular expression that must match all of a term.
    pub(super) fn of_regex(text: &str) -> Result<Self> {
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .dfa_size_limit(Some(MOST_BYTES))
            .determinize_size_limit(Some(MOST_WORK));
        let built = dense::Builder::new()
            .configure(config)
            .syntax(syntax::Config::new().utf8(false))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(MOST_STATES)))
            .build(text);
        let dfa = built.map_err(|error| {
            let mut reason = String::new();
            let mut source: Option<&dyn std::error::Error> = Some(&error);
            while let Some(at) = source {
                reason = at.to_string();
                source = at.source();
            }
            Error::Options(format!("the regular expression cannot be used: {reason}"))
        })?;
        let start = dfa
            .start_state(&start::Config::new().anchored(Anchored::Yes))
            .map_err(|error| Error::Options(format!("the regular expression cannot be used: {error}")))?;
        Ok(Machine::Regex { dfa: Box::new(dfa), start })
    }

    /// Of a wildcard.
    pub(super) fn of_wildcard(pieces: &[WildcardPart]) -> Result<Self> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                WildcardPart::AnyChar => text.push_str("(?s:.)"),
                WildcardPart::Anything => text.push_str("(?s-u:.)*"),
                WildcardPart::Text(bytes) => {
                    for byte in bytes {
                        // Writing to a string does not fail.
                        let _ = write!(text, "(?-u:\\x{byte:02x})");
                    }
                }
            }
        }
        Machine::of_regex(&text)
    }

    /// Of all terms within 1 or 2 edits, of which the first `prefix` characters are the same.
    pub(super) fn of_edits(term: &str, edits: u8, prefix: usize) -> Result<Self> {
        static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 2] = [const { OnceLock::new() }; 2];
        let (Some(builder), true) =
            (BUILDERS.get(usize::from(edits).wrapping_sub(1)), term.chars().count() <= MOST_CHARS)
        else {
            let message = format!(
                "a term can be sought with 1 or 2 edits, and if it has at most {MOST_CHARS} characters"
            );
            return Err(Error::Options(message));
        };
        let builder = builder.get_or_init(|| LevenshteinAutomatonBuilder::new(edits, true));
        let at = term.char_indices().nth(prefix).map_or(term.len(), |(at, _)| at);
        let (front, rest) = term.split_at(at);
        Ok(Machine::Edits {
            prefix: front.as_bytes().to_vec(),
            dfa: Box::new(builder.build_dfa(rest)),
            edits,
        })
    }

    /// Before the first byte.
    pub(super) fn start(&self) -> State {
        match self {
            Machine::Regex { start, .. } => State::Regex(*start),
            Machine::Edits { prefix, dfa, .. } if prefix.is_empty() => State::Edits(dfa.initial_state()),
            Machine::Edits { .. } => State::Prefix(0),
        }
    }

    /// After one more byte; `None` if nothing that goes on so can match.
    #[inline]
    pub(super) fn step(&self, state: State, byte: u8) -> Option<State> {
        match (self, state) {
            (Machine::Regex { dfa, .. }, State::Regex(state)) => {
                let next = dfa.next_state(state, byte);
                (!dfa.is_dead_state(next) && !dfa.is_quit_state(next)).then_some(State::Regex(next))
            }
            (Machine::Edits { dfa, .. }, State::Edits(state)) => {
                let next = dfa.transition(state, byte);
                (next != SINK_STATE).then_some(State::Edits(next))
            }
            (Machine::Edits { prefix, dfa, .. }, State::Prefix(read)) => {
                let next = read + 1;
                (prefix.get(read) == Some(&byte)).then(|| match next == prefix.len() {
                    true => State::Edits(dfa.initial_state()),
                    false => State::Prefix(next),
                })
            }
            _ => None,
        }
    }

    /// True if the bytes so far are a term that matches.
    pub(super) fn accepts(&self, state: State) -> bool {
        match (self, state) {
            (Machine::Regex { dfa, .. }, State::Regex(state)) => {
                dfa.is_match_state(dfa.next_eoi_state(state))
            }
            _ => self.edits(state).is_some(),
        }
    }

    /// How many edits the bytes so far are away, if it is few enough.
    pub(super) fn edits(&self, state: State) -> Option<u8> {
        match (self, state) {
            (Machine::Edits { dfa, edits, .. }, State::Edits(state)) => match dfa.distance(state) {
                Distance::Exact(found) if found <= *edits => Some(found),
                _ => None,
            },
            _ => None,
        }
    }
}
