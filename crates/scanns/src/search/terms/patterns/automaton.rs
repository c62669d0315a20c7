//! Automata that read terms byte by byte: for regular expressions, wildcards, and edit distances.

use std::error::Error as _;
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

/// Maximum number of characters of a pattern in a message.
const MAX_SHOWN: usize = 60;

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
    Prefix(u32),
    Edits(u32),
}

impl Machine {
    /// The machine of a regular expression that must match a term as a whole.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for an expression that does not parse or takes too much memory.
    pub(crate) fn of_regex(text: &str) -> Result<Self> {
        Self::built(text).map_err(|expected| Error::invalid("regular expression", shown(text), expected))
    }

    /// The machine of an expression, or what to write instead.
    fn built(text: &str) -> std::result::Result<Self, String> {
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .dfa_size_limit(Some(MAX_DFA_BYTES))
            .determinize_size_limit(Some(MAX_DETERMINIZE_BYTES));
        let dfa = dense::Builder::new()
            .configure(config)
            .syntax(syntax::Config::new().utf8(false))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_NFA_BYTES)))
            .build(text)
            .map_err(|error| unusable(&error))?;
        let start = dfa.start_state(&start::Config::new().anchored(Anchored::Yes));
        Ok(Machine::Regex { dfa: Box::new(dfa), start: start.map_err(|_| NO_PLACES.to_owned())? })
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
        Machine::built(&text)
            .map_err(|expected| Error::invalid("wildcard", shown(&wildcard(parts)), expected))
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
                (prefix.get(read as usize) == Some(&byte)).then(|| {
                    if next as usize == prefix.len() {
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

    /// Whether almost any first byte leads to a state in which almost any byte keeps the machine, as with
    /// `.*` at the start, so that few terms can be skipped.
    pub(crate) fn begins_with_anything(&self) -> bool {
        let Machine::Regex { .. } = self else { return false };
        let many = |from: MachineState, to: MachineState| {
            (0..=u8::MAX).filter(|&byte| self.step(from, byte) == Some(to)).count() >= 64
        };
        // The state before the first byte differs from all others.
        let mut after: Vec<_> = (0..=u8::MAX).filter_map(|byte| self.step(self.start(), byte)).collect();
        after.dedup();
        after.into_iter().any(|state| many(self.start(), state) && many(state, state))
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

const TOO_LARGE: &str =
    "a smaller pattern: repeat less, write .* instead of .{0,99} or * instead of many ?, or split it with OR";

const NO_PLACES: &str = r"an expression without \b and other places: it matches a whole term or value";

/// What to write instead of an expression that cannot be compiled.
fn unusable(error: &dense::BuildError) -> String {
    let mut is_too_large = error.is_size_limit_exceeded();
    let mut source = error.source();
    let Some(mut last) = source else {
        return if is_too_large { TOO_LARGE } else { NO_PLACES }.to_owned();
    };
    while let Some(at) = source {
        let nfa = at.downcast_ref::<thompson::BuildError>();
        is_too_large |= nfa.is_some_and(|error| error.size_limit().is_some());
        last = at;
        source = at.source();
    }
    if is_too_large {
        return TOO_LARGE.to_owned();
    }
    // The message about the syntax repeats the expression on the lines above its last.
    let message = last.to_string();
    let reason = message.lines().last().unwrap_or_default();
    format!("one that can be compiled: {}", reason.strip_prefix("error: ").unwrap_or(reason))
}

/// A pattern for a message: its beginning, if it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A wildcard as it is written in queries.
fn wildcard(parts: &[WildcardPart]) -> String {
    let written = |part: &WildcardPart| match part {
        WildcardPart::AnyChar => "?".into(),
        WildcardPart::Anything => "*".into(),
        WildcardPart::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    parts.iter().map(written).collect()
}
