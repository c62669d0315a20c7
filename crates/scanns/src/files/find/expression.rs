//! The expression tree: operators, tests and actions, with the options that hold for the whole command.

use super::age::{TimeColumn, TimeTest};
use super::date::Setting;
use super::facts::OwnerIdentity;
use super::format::Format;
use super::glob::Glob;
use super::kinds::KindSet;
use super::number::{NumberTest, SizeTest};
use super::permission::Permission;
use super::regex::PathRegex;

/// A command that was read: where to look and what to ask.
#[derive(Clone, Debug)]
pub struct FindCommand {
    /// The start points as they were written; empty for `.`.
    pub start_points: Vec<Vec<u8>>,
    /// What to ask.
    pub expression: Expression,
    /// What find would warn about.
    pub warnings: Vec<String>,
}

/// An expression with its options.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(super) root: FindNode,
    /// The options of the traversal.
    pub traversal: Traversal,
    /// The outputs; actions write to them by their number. The first is the standard output.
    pub outputs: Vec<FindOutput>,
    /// The queries of `-content`, by their number.
    pub contents: Vec<Vec<u8>>,
    /// The words of the tests and actions, by their number; unknown columns are counted by it.
    pub(super) leaves: Vec<Vec<u8>>,
    pub(super) setting: Setting,
}

/// Which entries are visited, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traversal {
    /// `-maxdepth`
    pub max_depth: Option<usize>,
    /// `-mindepth`
    pub min_depth: usize,
    /// `-depth`: directories after their entries.
    pub depth_first: bool,
    /// `-xdev`: no entries below a directory of another device.
    pub one_device: bool,
}

/// Where an action writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindOutput {
    /// The standard output.
    Standard,
    /// The standard error (`-fprint /dev/stderr`).
    StandardError,
    /// A file, which find truncates even if nothing is printed to it.
    File(Vec<u8>),
}

/// A node of the tree. Lists are evaluated from left to right.
#[derive(Clone, Debug)]
pub(super) enum FindNode {
    Constant(bool),
    Not(Box<FindNode>),
    And(Vec<FindNode>),
    Or(Vec<FindNode>),
    Comma(Vec<FindNode>),
    /// A test with its number in `leaves`.
    Test(usize, Test),
    /// An action with its number in `leaves`.
    Action(usize, Action),
}

/// A question about an entry.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Name(Glob),
    Path(Glob),
    LinkTarget(Glob),
    Regex(Box<PathRegex>),
    Kind(KindSet),
    TargetKind(KindSet),
    Size(SizeTest),
    Empty,
    Time(TimeColumn, TimeTest),
    Used(TimeTest),
    User(Vec<u8>, OwnerIdentity),
    Group(Vec<u8>, OwnerIdentity),
    UserId(NumberTest),
    GroupId(NumberTest),
    NoUser,
    NoGroup,
    Permission(Permission),
    Inode(NumberTest),
    Links(NumberTest),
    SameFile {
        inode: u64,
        device: Option<u64>,
    },
    /// By its number in `contents`.
    Content(usize),
}

/// Something that is done with an entry; the number is an output.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Print(usize),
    PrintZero(usize),
    Printf(usize, Format),
    List(usize),
    Prune,
    Quit,
}

impl Expression {
    /// Whether `-quit` may end the walk.
    pub fn may_quit(&self) -> bool {
        self.root.any_action(&|action| matches!(action, Action::Quit))
    }
}

impl Action {
    /// Whether the action replaces the `-print` at the end.
    pub(super) fn is_output(&self) -> bool {
        !matches!(self, Action::Prune | Action::Quit)
    }
}

impl FindNode {
    /// Whether an action of the node satisfies a condition.
    pub(super) fn any_action(&self, is_wanted: &impl Fn(&Action) -> bool) -> bool {
        match self {
            FindNode::Constant(_) | FindNode::Test(..) => false,
            FindNode::Not(node) => node.any_action(is_wanted),
            FindNode::And(nodes) | FindNode::Or(nodes) | FindNode::Comma(nodes) => {
                nodes.iter().any(|node| node.any_action(is_wanted))
            }
            FindNode::Action(_, action) => is_wanted(action),
        }
    }
}
