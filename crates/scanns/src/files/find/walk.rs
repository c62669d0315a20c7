//! Drives an expression over the entries of a start point: `-prune`, `-maxdepth`, `-mindepth`, `-depth`,
//! `-xdev` and `-quit`.
//!
//! The caller hands over the entries in pre-order: a directory, then everything below it, then its
//! siblings. (An order by the bytes of paths is no such order: `a-b` lies between `a` and `a/c`.) Siblings
//! come in any order. With `-depth`, the directories of the current branch wait until they end. Parents may
//! be missing; entries that do not lie below the start point are counted and left out.

use std::io;

use super::evaluate::{EvaluationPurpose, Evaluator, FindOutcome, FindSink};
use super::expression::{Expression, Traversal};
use super::facts::{FindFacts, FindType};
use super::owned::WaitingEntry;
use super::subject::Subject;
use super::unknown::UnknownColumn;
use crate::source::{Entry, is_below};

/// What the caller may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Entries below this one are wanted.
    Below,
    /// Entries below this one are not wanted; if they come, they are left out.
    Beside,
    /// No more entries are wanted, of no start point.
    Stop,
}

/// What a walk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkCounts {
    /// Entries for which the expression was evaluated.
    pub evaluated: u64,
    /// Entries for which something was printed.
    pub printed: u64,
    /// Entries that did not lie below their start point.
    pub outside: u64,
    /// Links to themselves that `-xtype` asked for: with one of them, find exits with 1.
    pub errors: u64,
}

/// An entry that an expression selects.
#[derive(Clone, Copy, Debug)]
pub struct FoundEntry<'a> {
    /// The entry.
    pub entry: &'a Entry<'a>,
    /// The levels below its start point.
    pub depth: usize,
    /// The number of the start point, from 0.
    pub point: u32,
}

/// Takes selected entries.
pub type SelectEntry<'e> = &'e dyn Fn(&FoundEntry<'_>) -> io::Result<()>;

/// Evaluates an expression for the entries of start points.
pub struct FindWalk<'e, F: ?Sized, S> {
    evaluator: Evaluator<'e, F, S>,
    traversal: Traversal,
    place: WalkPlace,
    /// Entries below this path are left out; empty for none.
    skipped: Vec<u8>,
    device: Option<u64>,
    /// The directories that wait for their end; more than `waiting` of them are memory for the next.
    branch: Vec<WaitingEntry>,
    waiting: usize,
    counts: WalkCounts,
    stopped: bool,
    /// Takes the entries instead of printing them.
    select: Option<SelectEntry<'e>>,
    /// The number of start points that were begun.
    points: u32,
}

/// The start point, and the path that is shown.
#[derive(Default)]
struct WalkPlace {
    /// The start point as it was written.
    written: Vec<u8>,
    /// Its path in the index.
    path: Vec<u8>,
    shown: Vec<u8>,
}

impl WalkPlace {
    /// The path of an entry below the start point; none where it is not below it.
    fn below<'a>(&self, path: &'a [u8]) -> Option<&'a [u8]> {
        let rest = path.strip_prefix(self.path.as_slice())?;
        match rest {
            [] => Some(rest),
            [b'/', rest @ ..] => Some(rest),
            rest if self.path.is_empty() || self.path.ends_with(b"/") => Some(rest),
            _ => None,
        }
    }

    /// The entry with the path that find shows.
    fn subject<'a>(&'a mut self, entry: &'a Entry<'a>, rest: &[u8], depth: usize) -> Subject<'a> {
        let start = self.written.len();
        let shown = match self.written == self.path {
            true => entry.path,
            false => {
                self.shown.truncate(start);
                if depth > 0 && !self.written.ends_with(b"/") {
                    self.shown.push(b'/');
                }
                self.shown.extend_from_slice(rest);
                &self.shown
            }
        };
        Subject { entry, shown, start, depth }
    }
}

impl<'e, F: FindFacts + ?Sized, S: FindSink> FindWalk<'e, F, S> {
    /// A walk that has no start point yet.
    pub fn new(expression: &'e Expression, facts: &'e F, sink: &'e mut S) -> Self {
        FindWalk {
            evaluator: Evaluator::new(expression, facts, sink),
            traversal: expression.traversal,
            place: WalkPlace::default(),
            skipped: Vec::new(),
            device: None,
            branch: Vec::new(),
            waiting: 0,
            counts: WalkCounts::default(),
            stopped: false,
            select: None,
            points: 0,
        }
    }

    /// Calls `select` with the entries for which something would be printed, and prints nothing.
    pub fn select(&mut self, select: SelectEntry<'e>) {
        self.evaluator.purpose = EvaluationPurpose::Select;
        self.select = Some(select);
    }

    /// Prints an entry that was selected, whatever its place in the walk. Its start point must have been
    /// begun again. What its tests do not know is not counted again.
    pub fn print_selected(&mut self, entry: &Entry) -> io::Result<()> {
        self.evaluator.purpose = EvaluationPurpose::PrintSelected;
        let rest = self.place.below(entry.path).unwrap_or_default();
        let subject = self.place.subject(entry, rest, depth(rest));
        self.evaluator.evaluate(&subject).map(|_| ())
    }

    /// Begins a start point: as it was written, and the path of its entry in the index.
    pub fn begin(&mut self, written: &[u8], path: &[u8]) {
        let [written, path] = [written, path].map(<[u8]>::to_vec);
        self.place = WalkPlace { shown: written.clone(), written, path };
        self.points += 1;
        self.skipped.clear();
        self.device = None;
        self.waiting = 0;
    }

    /// Takes the next entry of the start point.
    pub fn visit(&mut self, entry: &Entry) -> io::Result<Next> {
        if self.stopped || self.leave(entry.path)? {
            return Ok(Next::Stop);
        }
        let Some(rest) = self.place.below(entry.path) else {
            self.counts.outside += 1;
            return Ok(Next::Beside);
        };
        if !self.skipped.is_empty() {
            if is_below(entry.path, &self.skipped) {
                return Ok(Next::Beside);
            }
            self.skipped.clear();
        }
        let depth = depth(rest);
        let deepest = self.traversal.max_depth.unwrap_or(usize::MAX);
        if depth > deepest {
            return Ok(Next::Beside);
        }
        let is_end = depth == deepest || self.is_other_device(entry, depth);
        let outcome = match self.traversal.depth_first && may_have_entries(entry) {
            true => {
                self.wait(entry);
                FindOutcome::default()
            }
            false => self.evaluate(entry, rest, depth)?,
        };
        if outcome.quit {
            return Ok(Next::Stop);
        }
        if is_end || (outcome.prune && !self.traversal.depth_first) {
            self.skipped.extend_from_slice(entry.path);
            return Ok(Next::Beside);
        }
        Ok(Next::Below)
    }

    /// Ends the start point; directories that wait are evaluated.
    pub fn end(&mut self) -> io::Result<Next> {
        let stops = self.stopped || self.leave(b"")?;
        Ok(if stops { Next::Stop } else { Next::Beside })
    }

    /// What the walk did so far.
    pub fn counts(&self) -> WalkCounts {
        WalkCounts { errors: self.evaluator.errors, ..self.counts }
    }

    /// The tests and actions that met unknown columns so far.
    pub fn unknown(&self) -> Vec<UnknownColumn> {
        self.evaluator.unknowns.columns(&self.evaluator.expression.leaves)
    }

    /// Whether an entry begins another device, with `-xdev`.
    fn is_other_device(&mut self, entry: &Entry, depth: usize) -> bool {
        if depth == 0 {
            self.device = entry.device;
        }
        let differs = self.device.zip(entry.device).is_some_and(|(start, device)| start != device);
        self.traversal.one_device && differs
    }

    /// Lets a directory wait for its end.
    fn wait(&mut self, entry: &Entry) {
        if self.branch.len() == self.waiting {
            self.branch.push(WaitingEntry::default());
        }
        if let Some(last) = self.branch.get_mut(self.waiting) {
            last.copy(entry);
            self.waiting += 1;
        }
    }

    /// Evaluates the directories that end before `path`; true where one of them stops the walk.
    fn leave(&mut self, path: &[u8]) -> io::Result<bool> {
        while self.waiting > 0 {
            let Some(last) = self.branch.get_mut(self.waiting - 1) else { break };
            if is_below(path, last.entry().path) {
                break;
            }
            let last = std::mem::take(last);
            let rest = self.place.below(last.entry().path).unwrap_or_default();
            let outcome = self.evaluate(&last.entry(), rest, depth(rest))?;
            self.waiting -= 1;
            if let Some(place) = self.branch.get_mut(self.waiting) {
                *place = last;
            }
            if outcome.quit {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn evaluate(&mut self, entry: &Entry, rest: &[u8], depth: usize) -> io::Result<FindOutcome> {
        if depth < self.traversal.min_depth {
            return Ok(FindOutcome::default());
        }
        let subject = self.place.subject(entry, rest, depth);
        let outcome = self.evaluator.evaluate(&subject)?;
        if let Some(select) = self.select.filter(|_| outcome.printed) {
            select(&FoundEntry { entry, depth, point: self.points.saturating_sub(1) })?;
        }
        self.counts.evaluated += 1;
        self.counts.printed += u64::from(outcome.printed);
        self.stopped |= outcome.quit;
        Ok(outcome)
    }
}

/// The levels of a path below the start point.
fn depth(rest: &[u8]) -> usize {
    match rest {
        [] => 0,
        rest => 1 + memchr::memchr_iter(b'/', rest).count(),
    }
}

/// Whether an entry is a directory, or may be one.
fn may_have_entries(entry: &Entry) -> bool {
    FindType::of(entry).is_none_or(|kind| kind == FindType::Directory)
}
