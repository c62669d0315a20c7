//! Evaluates an expression for one entry.
//!
//! A test that needs a column that the entry lacks is false, and counted ([`super::UnknownColumn`]); its
//! negation is then true, as find's `!` is. A caller that finds counts should say so.
//!
//! Cost: a test of the name or a column takes a few nanoseconds and allocates nothing.

use std::io;

use super::expression::{Action, Expression, FindNode, Test};
use super::facts::{FindFacts, FindType, FoundTarget, OwnerIdentity};
use super::format::{Format, FormatPiece};
use super::kinds::KindSet;
use super::list::ListWidths;
use super::subject::Subject;
use super::unknown::Unknowns;
use crate::source::Entry;

/// Where actions write.
pub trait FindSink {
    /// Writes bytes to an output, by its number in the outputs that the command names.
    fn write(&mut self, output: usize, bytes: &[u8]) -> io::Result<()>;
}

/// What an evaluation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindOutcome {
    /// Something was printed.
    pub printed: bool,
    /// `-prune`: entries below this one are not wanted.
    pub prune: bool,
    /// `-quit`: no more entries are wanted.
    pub quit: bool,
}

/// What an evaluation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvaluationPurpose {
    /// To find entries and print them.
    Print,
    /// To find entries: actions print nothing.
    Select,
    /// To print an entry that was found before, so that what its tests do not know was counted.
    PrintSelected,
}

/// Evaluates an expression for one entry after the other.
pub(super) struct Evaluator<'e, F: ?Sized, S> {
    pub(super) expression: &'e Expression,
    pub(super) facts: &'e F,
    pub(super) sink: &'e mut S,
    pub(super) unknowns: Unknowns,
    widths: ListWidths,
    line: Vec<u8>,
    outcome: FindOutcome,
    /// The entries of which find would say that it cannot follow a link.
    pub(super) errors: u64,
    pub(super) purpose: EvaluationPurpose,
}

/// Why an evaluation ends early.
enum EvaluationStop {
    Quit,
    Failed(io::Error),
}

impl<'e, F: FindFacts + ?Sized, S: FindSink> Evaluator<'e, F, S> {
    pub(super) fn new(expression: &'e Expression, facts: &'e F, sink: &'e mut S) -> Self {
        Evaluator {
            expression,
            facts,
            sink,
            unknowns: Unknowns::default(),
            widths: ListWidths::default(),
            line: Vec::new(),
            outcome: FindOutcome::default(),
            errors: 0,
            purpose: EvaluationPurpose::Print,
        }
    }

    /// Evaluates the expression for an entry.
    pub(super) fn evaluate(&mut self, subject: &Subject) -> io::Result<FindOutcome> {
        self.outcome = FindOutcome::default();
        let expression = self.expression;
        match self.node(&expression.root, subject) {
            Ok(_) => {}
            Err(EvaluationStop::Quit) => self.outcome.quit = true,
            Err(EvaluationStop::Failed(error)) => return Err(error),
        }
        Ok(self.outcome)
    }

    fn node(&mut self, node: &FindNode, subject: &Subject) -> Result<bool, EvaluationStop> {
        match node {
            FindNode::Constant(value) => Ok(*value),
            FindNode::Not(node) => Ok(!self.node(node, subject)?),
            FindNode::And(nodes) => {
                for node in nodes {
                    if !self.node(node, subject)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            FindNode::Or(nodes) => {
                for node in nodes {
                    if self.node(node, subject)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            FindNode::Comma(nodes) => {
                let mut value = true;
                for node in nodes {
                    value = self.node(node, subject)?;
                }
                Ok(value)
            }
            FindNode::Test(leaf, test) => Ok(self.test(test, subject).unwrap_or_else(|| {
                if self.purpose != EvaluationPurpose::PrintSelected {
                    self.unknowns.add(*leaf, subject.shown);
                }
                false
            })),
            FindNode::Action(leaf, action) => self.action(*leaf, action, subject),
        }
    }

    /// The answer of a test; none where a column is unknown.
    fn test(&mut self, test: &Test, subject: &Subject) -> Option<bool> {
        let entry = subject.entry;
        match test {
            Test::Name(glob) => Some(glob.matches(subject.name())),
            Test::Path(glob) => Some(glob.matches(subject.shown)),
            Test::Regex(regex) => Some(regex.matches(subject.shown)),
            Test::LinkTarget(glob) => match FindType::of(entry)? {
                FindType::Link => Some(glob.matches(entry.target?)),
                _ => Some(false),
            },
            Test::Kind(kinds) => kinds.contains_entry(entry),
            Test::TargetKind(kinds) if FindType::of(entry) == Some(FindType::Link) => {
                self.target_kind(*kinds, entry)
            }
            Test::TargetKind(kinds) => kinds.contains_entry(entry),
            Test::Empty => match FindType::of(entry)? {
                FindType::Directory => self.facts.is_empty_directory(entry),
                FindType::Regular => Some(entry.size? == 0),
                _ => Some(false),
            },
            Test::Content(query) => Some(self.facts.matches_content(*query, entry)),
            test => self.column(test, entry),
        }
    }

    /// `-xtype` of a link. A link to itself has no target: find complains, and exits with 1 in the end.
    fn target_kind(&mut self, kinds: KindSet, link: &Entry) -> Option<bool> {
        match self.facts.target(link) {
            FoundTarget::Entry(kind) => Some(kinds.contains(kind)),
            FoundTarget::Missing => Some(kinds.contains(FindType::Link)),
            FoundTarget::Loop => {
                self.errors += u64::from(self.purpose != EvaluationPurpose::PrintSelected);
                Some(false)
            }
            FoundTarget::Unknown => None,
        }
    }

    /// The answer of a test of a column.
    fn column(&self, test: &Test, entry: &Entry) -> Option<bool> {
        Some(match test {
            Test::Size(size) => size.matches(entry.size?),
            Test::Time(clock, time) => time.matches(clock.of(entry)?),
            Test::Used(time) => {
                let (accessed, changed) = (entry.atime?, entry.ctime?);
                accessed >= changed && time.matches(changed.saturating_sub(accessed))
            }
            Test::User(name, identity) => same_identity(name, *identity, entry.owner, entry.uid)?,
            Test::Group(name, identity) => same_identity(name, *identity, entry.group, entry.gid)?,
            Test::UserId(number) => number.matches(u64::from(entry.uid?)),
            Test::GroupId(number) => number.matches(u64::from(entry.gid?)),
            Test::NoUser => self.has_no_name(entry.owner, entry.uid)?,
            Test::NoGroup => self.has_no_name(entry.group, entry.gid)?,
            Test::Permission(permission) => {
                let is_directory = FindType::of(entry) == Some(FindType::Directory);
                permission.matches(entry.mode?, is_directory)
            }
            Test::Inode(number) => number.matches(entry.inode?),
            Test::Links(number) => number.matches(entry.links?),
            Test::SameFile { inode, device } => {
                let same_device = device.zip(entry.device).is_none_or(|(wanted, device)| wanted == device);
                entry.inode? == *inode && same_device
            }
            _ => return None,
        })
    }

    fn has_no_name(&self, name: Option<&[u8]>, id: Option<u32>) -> Option<bool> {
        match (name, id) {
            (Some(_), _) => Some(false),
            (None, Some(_)) if self.facts.has_names() => Some(true),
            _ => None,
        }
    }

    fn action(&mut self, leaf: usize, action: &Action, subject: &Subject) -> Result<bool, EvaluationStop> {
        if self.purpose == EvaluationPurpose::Select && action.is_output() {
            self.outcome.printed = true;
            return Ok(true);
        }
        self.line.clear();
        let (output, is_whole) = match action {
            Action::Prune => {
                self.outcome.prune = true;
                return Ok(true);
            }
            Action::Quit => return Err(EvaluationStop::Quit),
            Action::Print(output) | Action::PrintZero(output) => {
                let end = if matches!(action, Action::Print(_)) { b'\n' } else { 0 };
                self.line.extend_from_slice(subject.shown);
                self.line.push(end);
                (*output, true)
            }
            Action::List(output) => {
                let setting = &self.expression.setting;
                (*output, self.widths.write(subject, &setting.zone, setting.now, &mut self.line))
            }
            Action::Printf(output, format) => (*output, self.format(format, subject)),
        };
        if !is_whole {
            self.unknowns.add(leaf, subject.shown);
        }
        self.outcome.printed = true;
        self.sink.write(output, &self.line).map_err(EvaluationStop::Failed)?;
        Ok(true)
    }

    /// Writes a format into the line; false where a column is unknown.
    fn format(&mut self, format: &Format, subject: &Subject) -> bool {
        let mut is_whole = true;
        for piece in &format.pieces {
            match piece {
                FormatPiece::Text(text) => self.line.extend_from_slice(text),
                FormatPiece::Directive(directive) => {
                    let zone = &self.expression.setting.zone;
                    is_whole &= directive.write(subject, self.facts, zone, &mut self.line);
                }
            }
        }
        is_whole
    }
}

/// Whether an owner is the one that a test names: by number where both have one, or by name.
fn same_identity(
    wanted: &[u8],
    identity: OwnerIdentity,
    name: Option<&[u8]>,
    id: Option<u32>,
) -> Option<bool> {
    match (identity, id) {
        (OwnerIdentity::Id(wanted), Some(id)) => Some(wanted == id),
        _ => name.map(|name| name == wanted),
    }
}
