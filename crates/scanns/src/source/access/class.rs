//! The class of an entry: every check on the way to it of which somebody may fail, as text.
//!
//! ```text
//! class = "1" (";" need gate)*       ascending by need, then by gate; no gate is open
//! need  = "l" | "r" | "s"            to list a directory, to read the file, to search a directory
//! ```
//!
//! A gate that is asked for a search is not repeated for other needs. If nobody passes a gate, it stands
//! alone for its need, and one of a search for everything. The version is 1; classes of other versions are
//! unknown here, and grant nothing.

use crate::source::access::gate::Gate;
use crate::source::access::user::AccessUser;

/// The version of the text.
const VERSION: u8 = b'1';

/// A class of more bytes is one that cannot be decided. Dictionaries keep terms of this length.
const MOST_BYTES: usize = 8 << 10;

/// For what a check is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessNeed {
    /// To list a directory: for the entry.
    List,
    /// To read the file: for the content.
    Read,
    /// To use a name in a directory: for both.
    Search,
}

impl AccessNeed {
    fn letter(self) -> u8 {
        match self {
            AccessNeed::List => b'l',
            AccessNeed::Read => b'r',
            AccessNeed::Search => b's',
        }
    }

    fn of(letter: u8) -> Option<Self> {
        [AccessNeed::List, AccessNeed::Read, AccessNeed::Search]
            .into_iter()
            .find(|need| need.letter() == letter)
    }
}

/// What a user may see of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessRights {
    /// Its name and metadata: a walk finds it.
    pub entry: bool,
    /// Its content, if the name is known.
    pub content: bool,
}

/// The checks on the way to an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessClass {
    gates: Vec<(AccessNeed, Gate)>,
}

impl AccessClass {
    /// A class of these checks.
    pub fn new(gates: impl IntoIterator<Item = (AccessNeed, Gate)>) -> Self {
        let mut gates: Vec<_> = gates.into_iter().filter(|(_, gate)| !gate.is_open()).collect();
        gates.sort_unstable();
        gates.dedup();
        let closed = |need: AccessNeed| {
            let of_need = gates.iter().filter(|(of, gate)| *of == need && gate.is_closed());
            // What is closed is more certain than what cannot be decided.
            of_need.min_by_key(|(_, gate)| gate.is_undecided()).cloned()
        };
        if let Some(gate) = closed(AccessNeed::Search) {
            return AccessClass { gates: vec![gate] };
        }
        let closed = [AccessNeed::List, AccessNeed::Read].map(closed);
        let searched: Vec<Gate> = gates
            .iter()
            .filter(|(need, _)| *need == AccessNeed::Search)
            .map(|(_, gate)| gate.clone())
            .collect();
        gates.retain(|(need, gate)| match need {
            AccessNeed::Search => true,
            _ if searched.binary_search(gate).is_ok() => false,
            _ => closed.iter().flatten().all(|one| one.0 != *need || one.1 == *gate),
        });
        AccessClass { gates }
    }

    /// The class of an entry of which nothing can be decided.
    pub fn undecided() -> Self {
        AccessClass { gates: vec![(AccessNeed::Search, Gate::undecided())] }
    }

    /// The class of a member of the file with this class. Its name is content of the file, so that its entry
    /// needs the permission to read it, too.
    pub fn of_member(&self) -> Self {
        let gates = self.gates.iter().cloned();
        AccessClass::new(gates.map(|(need, gate)| match need {
            AccessNeed::Read => (AccessNeed::Search, gate),
            need => (need, gate),
        }))
    }

    /// The checks, by need.
    pub fn gates(&self) -> &[(AccessNeed, Gate)] {
        &self.gates
    }

    /// True if some check cannot be decided.
    pub fn is_undecided(&self) -> bool {
        self.gates.iter().any(|(_, gate)| gate.is_undecided())
    }

    /// True if everybody has all rights.
    pub fn is_public(&self) -> bool {
        self.gates.is_empty()
    }

    /// The rights of a user.
    pub fn evaluate(&self, user: &AccessUser) -> AccessRights {
        let mut rights = AccessRights { entry: true, content: true };
        for (need, gate) in &self.gates {
            let passes = gate.passes(user);
            rights.entry &= passes || *need == AccessNeed::Read;
            rights.content &= passes || *need == AccessNeed::List;
        }
        rights
    }

    /// The text of the class.
    pub fn encode(&self) -> Vec<u8> {
        let mut text = vec![VERSION];
        for (need, gate) in &self.gates {
            text.extend_from_slice(&[b';', need.letter()]);
            gate.write(&mut text);
        }
        if text.len() > MOST_BYTES { AccessClass::undecided().encode() } else { text }
    }

    /// Reads the text of a class; `None` if it is damaged, or of another version.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = text.split(|&byte| byte == b';');
        if parts.next() != Some([VERSION].as_slice()) {
            return None;
        }
        let gate = |part: &[u8]| {
            let (&need, gate) = part.split_first()?;
            Some((AccessNeed::of(need)?, Gate::parse(gate)?))
        };
        let gates = parts.map(gate).collect::<Option<Vec<_>>>()?;
        let is_ascending = gates.windows(2).all(|pair| matches!(pair, [one, next] if one < next));
        is_ascending.then_some(AccessClass { gates })
    }
}
