//! Automata that read terms byte by byte: for regular expressions, wildcards, and edit distances.

use std::fmt::Write;
use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::{primitives::StateID, start, syntax};
use regex_automata::{Anchored, MatchKind};

use crate::error::{Error, Result};
use crate::query::WildcardPart;

/// Maximum memory of the machine of a regular expression, in bytes.
const MAX_DFA_BYTES: usize = 8 << 20;

/// Maximum memory of the sets of states from which the machine is built, in bytes. No other limit bounds the
/// time: with 8 MiB, refusing `(.{0,9}){0,9}\wabc` took four seconds.
const MAX_DETERMINIZE_BYTES: usize = 512 << 10;

/// Maximum memory of the states from which these sets are built, in bytes: with 8 MiB, `(\w{0,9}\w*){0,30}`
/// took seconds.
const MAX_NFA_BYTES: usize = 1 << 20;

/// Maximum number of characters of a fuzzy word.
pub(crate) const MAX_FUZZY_CHARS: usize = 255;

/// A machine that decides whether a term matches.
pub(crate) enum Machine {
    Regex {
        dfa: Box<dense::DFA<Vec<u32>>>,
        start: StateID,
    },
    Edits {
        /// The bytes that a term must begin with.
        prefix: Vec<u8>,
        dfa: Box<DFA>,
        edits: u8,
    },
}

/// A state of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MachineState {
    Regex(StateID),
    /// This number of bytes of the prefix was read.
    Prefix(usize),
    Edits(u32),
}

impl Machine {
    /// The machine of a regular expression that must match a term as a whole.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for an expression that does not parse or takes too much memory.
    pub(crate) fn of_regex(text: &str) -> Result<Self> {
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .dfa_size_limit(Some(MAX_DFA_BYTES))
            .determinize_size_limit(Some(MAX_DETERMINIZE_BYTES));
        let built = dense::Builder::new()
            .configure(config)
            .syntax(syntax::Config::new().utf8(false))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_NFA_BYTES)))
            .build(text);
        let dfa = built.map_err(|error| {
            let mut reason = String::new();
            let mut source: Option<&dyn std::error::Error> = Some(&error);
            while let Some(at) = source {
                reason = at.to_string();
                source = at.source();
            }
            invalid_regex(text, &reason)
        })?;
        let start = dfa
            .start_state(&start::Config::new().anchored(Anchored::Yes))
            .map_err(|error| invalid_regex(text, &error.to_string()))?;
        Ok(Machine::Regex { dfa: Box::new(dfa), start })
    }

    /// The machine of a wildcard.
    pub(crate) fn of_wildcard(parts: &[WildcardPart]) -> Result<Self> {
        let mut text = String::new();
        for part in parts {
            match part {
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

    /// The machine of all terms within 1 or 2 edits of `term` whose first `prefix` characters are the same.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for other numbers of edits, and for a term that is too long.
    pub(crate) fn of_edits(term: &str, edits: u8, prefix: usize) -> Result<Self> {
        static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 2] = [const { OnceLock::new() }; 2];
        let Some(builder) = BUILDERS.get(usize::from(edits).wrapping_sub(1)) else {
            return Err(Error::invalid("edits of a fuzzy word", edits, "1 or 2"));
        };
        let length = term.chars().count();
        if length > MAX_FUZZY_CHARS {
            let expected = format!("at most {MAX_FUZZY_CHARS} characters");
            return Err(Error::invalid("length of a fuzzy word", length, expected));
        }
        let builder = builder.get_or_init(|| LevenshteinAutomatonBuilder::new(edits, true));
        let at = term.char_indices().nth(prefix).map_or(term.len(), |(at, _)| at);
        let (front, rest) = term.split_at(at);
        Ok(Machine::Edits {
            prefix: front.as_bytes().to_vec(),
            dfa: Box::new(builder.build_dfa(rest)),
            edits,
        })
    }

    /// The state before the first byte.
    pub(crate) fn start(&self) -> MachineState {
        match self {
            Machine::Regex { start, .. } => MachineState::Regex(*start),
            Machine::Edits { prefix, dfa, .. } if prefix.is_empty() => {
                MachineState::Edits(dfa.initial_state())
            }
            Machine::Edits { .. } => MachineState::Prefix(0),
        }
    }

    /// The state after one more byte; `None` if no continuation can match.
    #[inline]
    pub(crate) fn step(&self, state: MachineState, byte: u8) -> Option<MachineState> {
        match (self, state) {
            (Machine::Regex { dfa, .. }, MachineState::Regex(state)) => {
                let next = dfa.next_state(state, byte);
                (!dfa.is_dead_state(next) && !dfa.is_quit_state(next)).then_some(MachineState::Regex(next))
            }
            (Machine::Edits { dfa, .. }, MachineState::Edits(state)) => {
                let next = dfa.transition(state, byte);
                (next != SINK_STATE).then_some(MachineState::Edits(next))
            }
            (Machine::Edits { prefix, dfa, .. }, MachineState::Prefix(read)) => {
                let next = read + 1;
                (prefix.get(read) == Some(&byte)).then(|| {
                    if next == prefix.len() {
                        MachineState::Edits(dfa.initial_state())
                    } else {
                        MachineState::Prefix(next)
                    }
                })
            }
            _ => None,
        }
    }

    /// The state after more bytes; `None` if no continuation can match.
    #[inline]
    pub(crate) fn run(&self, from: MachineState, bytes: &[u8]) -> Option<MachineState> {
        bytes.iter().try_fold(from, |state, &byte| self.step(state, byte))
    }

    /// Whether the bytes so far are a term that matches.
    pub(crate) fn accepts(&self, state: MachineState) -> bool {
        match (self, state) {
            (Machine::Regex { dfa, .. }, MachineState::Regex(state)) => {
                dfa.is_match_state(dfa.next_eoi_state(state))
            }
            _ => self.edits(state).is_some(),
        }
    }

    /// The edit distance of the bytes so far, if it is small enough.
    pub(crate) fn edits(&self, state: MachineState) -> Option<u8> {
        match (self, state) {
            (Machine::Edits { dfa, edits, .. }, MachineState::Edits(state)) => match dfa.distance(state) {
                Distance::Exact(found) if found <= *edits => Some(found),
                _ => None,
            },
            _ => None,
        }
    }
}

fn invalid_regex(text: &str, reason: &str) -> Error {
    Error::invalid("regular expression", text, format!("one that can be compiled: {reason}"))
}
