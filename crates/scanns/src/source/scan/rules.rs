//! What a scan leaves out because of `.gitignore` files, if the options ask for it.
//!
//! The rules of a directory must be known before any of its names is taken, and a listing has `.gitignore` at
//! any place. So the names are held until the listing has come to its end. Of a large directory only the
//! first are held, and then the files are looked for by their names.

use std::ffi::{CStr, OsStr};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::source::ignore::{IgnoreRules, RuleFiles, RuleNames};
use crate::source::scan::directory::RootState;
use crate::source::scan::entries::OpenDirectory;
use crate::source::scan::names::NameList;
use crate::source::scan::queue::ScanWork;
use crate::source::scan::worker::ScanWorker;

/// The number of names that are held.
const MOST_HELD: usize = 2048;

/// Two threads share names if there are more.
const SHARED: usize = 128;

/// Names of a directory whose rules are not known yet.
#[derive(Debug, Default)]
pub(super) struct HeldNames {
    names: NameList,
    count: usize,
    rules: RuleNames,
}

impl HeldNames {
    pub(super) fn push(&mut self, name: &CStr, may_be_directory: bool) {
        self.rules.see(name.to_bytes());
        self.names.push(name, may_be_directory);
        self.count += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= MOST_HELD
    }
}

impl ScanWorker<'_> {
    /// The rules above a named path.
    pub(super) fn rules_above(&mut self, root: &RootState) -> Option<IgnoreRules> {
        let user = self.shared.user.as_ref()?;
        Some(IgnoreRules::above(&root.path, user, &mut self.report.rule_faults))
    }

    /// Reads the rules of the current directory, if that was not done, and `.gitignore` files are respected.
    pub(super) fn enter_rules(&mut self, open: &OpenDirectory, names: RuleNames) {
        let directory = &open.directory;
        let Some(above) = directory.rules_above().filter(|_| directory.rules.get().is_none()) else { return };
        let rules = if names.any() {
            (0..2).for_each(|_| self.operation());
            let path = self.path.get(..self.prefix.saturating_sub(1).max(1)).unwrap_or_default();
            let path = Path::new(OsStr::from_bytes(path));
            let faults = &mut self.report.rule_faults;
            let files = RuleFiles::read_in(open.descriptor.as_fd(), path, names, faults);
            above.enter(path, files, faults)
        } else {
            above.clone()
        };
        // Another thread may have read them at the same time.
        let _ = directory.rules.set(rules);
    }

    /// Takes names after all of a listing, or the first of a large one, were held.
    pub(super) fn end_holding(
        &mut self,
        open: &OpenDirectory,
        held: Option<HeldNames>,
        is_whole: bool,
        below: &mut NameList,
    ) {
        let Some(HeldNames { mut names, count, rules }) = held else { return };
        self.enter_rules(open, if is_whole { rules } else { RuleNames::UNKNOWN });
        if count > SHARED
            && self.shared.queue.wants()
            && let Some(half) = names.split()
        {
            let (directory, descriptor) = (open.directory.clone(), open.descriptor.clone());
            self.shared.queue.give(ScanWork::Names(directory, descriptor, half));
        }
        while !self.shared.stopped()
            && let Some((name, may_be_directory)) = names.last()
        {
            self.take_name(open, name, may_be_directory, below);
            names.pop();
        }
    }

    /// True if the rules leave out the current path. This is counted.
    pub(super) fn is_ignored(&mut self, open: &OpenDirectory, is_directory: bool) -> bool {
        let rules = open.directory.rules.get();
        let is_ignored = rules.is_some_and(|rules| rules.is_ignored(&self.path, is_directory));
        if is_ignored {
            self.report.filtered.add(&self.path);
        }
        if is_ignored && is_directory {
            self.report.unlisted.leave_out(&self.path);
        }
        is_ignored
    }
}
