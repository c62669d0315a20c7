//! The checks on the way to what is in a directory.

use std::sync::Arc;

use crate::source::access::class::{AccessClass, AccessNeed};
use crate::source::access::gate::Gate;
use crate::source::access::permissions::{AskedPermission, FilePermissions};
use crate::source::entry_kind::EntryKind;

/// The checks on the way to what is in a directory. Directories often ask for nothing new, and then share
/// the chain of the directory above.
#[derive(Debug, Default)]
pub(crate) struct AccessChain {
    /// Of which somebody may fail, none twice.
    gates: Vec<(AccessNeed, Gate)>,
}

impl AccessChain {
    /// A chain that cannot be decided.
    pub(crate) fn unknown() -> Arc<Self> {
        Arc::<AccessChain>::default().enter_unknown()
    }

    /// The chain with more checks.
    pub(crate) fn with(self: &Arc<Self>, gates: impl IntoIterator<Item = (AccessNeed, Gate)>) -> Arc<Self> {
        let mut new: Vec<_> = Vec::new();
        for gate in gates {
            if !gate.1.is_open() && !self.gates.contains(&gate) && !new.contains(&gate) {
                new.push(gate);
            }
        }
        if new.is_empty() {
            return self.clone();
        }
        Arc::new(AccessChain { gates: [self.gates.as_slice(), &new].concat() })
    }

    /// The chain of what is in a directory to which this chain leads.
    pub(crate) fn enter(self: &Arc<Self>, directory: &FilePermissions) -> Arc<Self> {
        self.with([
            (AccessNeed::Search, Gate::of(directory, AskedPermission::Search)),
            (AccessNeed::List, Gate::of(directory, AskedPermission::Read)),
        ])
    }

    /// The chain of what is in a directory of which nothing is known.
    pub(crate) fn enter_unknown(self: &Arc<Self>) -> Arc<Self> {
        self.with([(AccessNeed::Search, Gate::undecided())])
    }

    /// The class of an entry to which this chain leads. A symbolic link has no permissions of its own: its
    /// content is its target, which everybody may read who reaches it.
    pub(crate) fn class(&self, kind: Option<EntryKind>, own: Option<&FilePermissions>) -> AccessClass {
        let own = match (kind, own) {
            (Some(EntryKind::Link), _) => None,
            (_, Some(own)) => Some(Gate::of(own, AskedPermission::Read)),
            (_, None) => Some(Gate::undecided()),
        };
        let own = own.map(|gate| (AccessNeed::Read, gate));
        AccessClass::new(self.gates.iter().cloned().chain(own))
    }
}
