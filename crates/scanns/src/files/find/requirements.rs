//! What every entry certainly satisfies for which an expression prints something: a cheap filter before the
//! evaluation.
//!
//! Three sets of conditions are computed for each node: those that hold when it prints, when it is true and
//! when it is false. `-a` joins conditions, `-o` keeps what both sides share. A column that an entry lacks
//! satisfies every condition.

use super::age::TimeColumn;
use super::expression::{Action, Expression, FindNode, Test};
use super::facts::{FindType, OwnerIdentity};
use super::glob::{Glob, GlobForm};
use super::kinds::KindSet;
use crate::source::Entry;

/// The most alternatives of names that are kept.
const MOST_NAMES: usize = 64;

/// Conditions, all of which hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Each of these lists has a part that the name has.
    pub names: Vec<Vec<NamePart>>,
    /// The kind is one of these.
    pub kinds: KindSet,
    /// The size in bytes.
    pub size: Span<u64>,
    /// The time of the last modification in nanoseconds.
    pub mtime: Span<i64>,
    /// The time of the last access.
    pub atime: Span<i64>,
    /// The time of the last change.
    pub ctime: Span<i64>,
    /// The user id.
    pub uid: Span<u64>,
    /// The group id.
    pub gid: Span<u64>,
    /// The inode.
    pub inode: Span<u64>,
    /// The number of names.
    pub links: Span<u64>,
    /// The owner is one of these; none for any.
    pub owners: Option<Vec<Vec<u8>>>,
    /// The group is one of these; none for any.
    pub groups: Option<Vec<Vec<u8>>>,
}

/// The least and the greatest value of a column; no value is allowed where the least is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<T> {
    /// The least value.
    pub least: T,
    /// The greatest value.
    pub greatest: T,
}

/// A part of the base name of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamePart {
    /// The whole name.
    Equal(Vec<u8>),
    /// Its start.
    Prefix(Vec<u8>),
    /// Its end.
    Suffix(Vec<u8>),
    /// A part of it.
    Contains(Vec<u8>),
}

impl<T: Ord + Copy> Span<T> {
    fn and(self, other: Self) -> Self {
        Span { least: self.least.max(other.least), greatest: self.greatest.min(other.greatest) }
    }

    fn or(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => Span { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) },
        }
    }

    fn is_empty(self) -> bool {
        self.least > self.greatest
    }

    fn allows(self, value: Option<T>) -> bool {
        value.is_none_or(|value| self.least <= value && value <= self.greatest)
    }
}

impl<T> From<(T, T)> for Span<T> {
    fn from(ends: (T, T)) -> Self {
        Span { least: ends.0, greatest: ends.1 }
    }
}

impl NamePart {
    fn of(glob: &Glob) -> Option<NamePart> {
        Some(match glob.form()? {
            GlobForm::Equal(text) => NamePart::Equal(text.to_vec()),
            GlobForm::Prefix(text) => NamePart::Prefix(text.to_vec()),
            GlobForm::Suffix(text) => NamePart::Suffix(text.to_vec()),
            GlobForm::Contains(text) => NamePart::Contains(text.to_vec()),
        })
    }

    /// Whether a base name has the part.
    pub fn is_in(&self, name: &[u8]) -> bool {
        match self {
            NamePart::Equal(text) => name == text.as_slice(),
            NamePart::Prefix(text) => name.starts_with(text),
            NamePart::Suffix(text) => name.ends_with(text),
            NamePart::Contains(text) => memchr::memmem::find(name, text).is_some(),
        }
    }
}

impl Expression {
    /// The conditions that an entry satisfies for which something is printed.
    ///
    /// None where the filter would change what is printed for other entries: `-prune` (without `-depth`),
    /// `-quit` and `-xdev` have effects beyond the entry for which they are evaluated. Entries that are
    /// filtered out are not counted as unknown. A start point has the base name that its path in the index
    /// has, so the filter does not apply to start points such as `.`: hand them over always.
    pub fn requirements(&self) -> Option<Requirements> {
        let prunes =
            self.root.any_action(&|action| matches!(action, Action::Prune)) && !self.traversal.depth_first;
        let quits = self.root.any_action(&|action| matches!(action, Action::Quit));
        if prunes || quits || self.traversal.one_device {
            return None;
        }
        Some(Cases::of(&self.root).printed.unwrap_or_else(Requirements::nothing))
    }
}

impl Requirements {
    /// No conditions.
    fn anything() -> Self {
        let whole = Span { least: 0, greatest: u64::MAX };
        let times = Span { least: i64::MIN, greatest: i64::MAX };
        Requirements {
            names: Vec::new(),
            kinds: KindSet::ALL,
            size: whole,
            mtime: times,
            atime: times,
            ctime: times,
            uid: whole,
            gid: whole,
            inode: whole,
            links: whole,
            owners: None,
            groups: None,
        }
    }

    /// Conditions that no entry satisfies whose size is known.
    fn nothing() -> Self {
        Requirements {
            size: Span { least: 1, greatest: 0 },
            kinds: KindSet::ALL.not(),
            ..Requirements::anything()
        }
    }

    /// Whether an entry satisfies the conditions.
    pub fn allow(&self, entry: &Entry) -> bool {
        let named = |wanted: &Option<Vec<Vec<u8>>>, name: Option<&[u8]>| {
            wanted.as_ref().zip(name).is_none_or(|(wanted, name)| wanted.iter().any(|wanted| wanted == name))
        };
        self.size.allows(entry.size)
            && FindType::of(entry).is_none_or(|kind| self.kinds.contains(kind))
            && self.mtime.allows(entry.mtime)
            && self.atime.allows(entry.atime)
            && self.ctime.allows(entry.ctime)
            && self.uid.allows(entry.uid.map(u64::from))
            && self.gid.allows(entry.gid.map(u64::from))
            && self.inode.allows(entry.inode)
            && self.links.allows(entry.links)
            && named(&self.owners, entry.owner)
            && named(&self.groups, entry.group)
            && self.allow_name(entry.path)
    }

    fn allow_name(&self, path: &[u8]) -> bool {
        let start = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
        let name = path.get(start..).unwrap_or_default();
        self.names.iter().all(|parts| parts.iter().any(|part| part.is_in(name)))
    }

    fn and(&self, other: &Requirements) -> Requirements {
        Requirements {
            names: self.names.iter().chain(&other.names).take(MOST_NAMES).cloned().collect(),
            kinds: self.kinds.and(other.kinds),
            size: self.size.and(other.size),
            mtime: self.mtime.and(other.mtime),
            atime: self.atime.and(other.atime),
            ctime: self.ctime.and(other.ctime),
            uid: self.uid.and(other.uid),
            gid: self.gid.and(other.gid),
            inode: self.inode.and(other.inode),
            links: self.links.and(other.links),
            owners: self.owners.clone().or_else(|| other.owners.clone()),
            groups: self.groups.clone().or_else(|| other.groups.clone()),
        }
    }

    fn or(&self, other: &Requirements) -> Requirements {
        let either = |left: &Option<Vec<Vec<u8>>>, right: &Option<Vec<Vec<u8>>>| {
            left.as_ref().zip(right.as_ref()).map(|(left, right)| left.iter().chain(right).cloned().collect())
        };
        let pairs = self.names.iter().zip(&other.names);
        let names = pairs.map(|(left, right)| left.iter().chain(right).cloned().collect::<Vec<_>>());
        Requirements {
            names: names.filter(|names| names.len() <= MOST_NAMES).collect(),
            kinds: self.kinds.or(other.kinds),
            size: self.size.or(other.size),
            mtime: self.mtime.or(other.mtime),
            atime: self.atime.or(other.atime),
            ctime: self.ctime.or(other.ctime),
            uid: self.uid.or(other.uid),
            gid: self.gid.or(other.gid),
            inode: self.inode.or(other.inode),
            links: self.links.or(other.links),
            owners: either(&self.owners, &other.owners),
            groups: either(&self.groups, &other.groups),
        }
    }
}

/// The conditions of a node: none where a case does not happen.
struct Cases {
    printed: Option<Requirements>,
    if_true: Option<Requirements>,
    if_false: Option<Requirements>,
}

/// The conditions that hold in one case or another.
fn either(left: Option<Requirements>, right: Option<Requirements>) -> Option<Requirements> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.or(&right)),
        (left, right) => left.or(right),
    }
}

/// The conditions that hold in both cases at once.
fn both(left: &Option<Requirements>, right: &Option<Requirements>) -> Option<Requirements> {
    Some(left.as_ref()?.and(right.as_ref()?))
}

impl Cases {
    fn of(node: &FindNode) -> Cases {
        let anything = || Some(Requirements::anything());
        match node {
            FindNode::Constant(value) => Cases {
                printed: None,
                if_true: anything().filter(|_| *value),
                if_false: anything().filter(|_| !*value),
            },
            FindNode::Test(_, test) => {
                let if_true = Requirements::of_test(test);
                Cases {
                    printed: None,
                    if_true: Some(if_true),
                    if_false: Some(Requirements::of_negation(test)),
                }
            }
            FindNode::Action(_, action) => Cases {
                printed: anything().filter(|_| action.is_output()),
                if_true: anything(),
                if_false: None,
            },
            FindNode::Not(node) => {
                let Cases { printed, if_true, if_false } = Cases::of(node);
                Cases { printed, if_true: if_false, if_false: if_true }
            }
            FindNode::And(nodes) => Cases::sequence(nodes, true),
            FindNode::Or(nodes) => {
                let Cases { printed, if_true, if_false } = Cases::sequence(nodes, false);
                Cases { printed, if_true: if_false, if_false: if_true }
            }
            FindNode::Comma(nodes) => nodes.iter().map(Cases::of).fold(Cases::nothing(), |before, case| {
                Cases { printed: either(before.printed, case.printed), ..case }
            }),
        }
    }

    fn nothing() -> Cases {
        Cases { printed: None, if_true: None, if_false: None }
    }

    /// Nodes of which each is evaluated if the one before it was `wanted`. `if_true` holds where all were.
    fn sequence(nodes: &[FindNode], wanted: bool) -> Cases {
        let start = Cases { if_true: Some(Requirements::anything()), ..Cases::nothing() };
        nodes.iter().map(Cases::of).fold(start, |before, case| {
            let (on, off) =
                if wanted { (case.if_true, case.if_false) } else { (case.if_false, case.if_true) };
            Cases {
                printed: either(before.printed, both(&before.if_true, &case.printed)),
                if_false: either(before.if_false, both(&before.if_true, &off)),
                if_true: both(&before.if_true, &on),
            }
        })
    }
}

impl Requirements {
    /// The conditions that hold when a test is false.
    fn of_negation(test: &Test) -> Requirements {
        match test {
            Test::Kind(kinds) => Requirements { kinds: kinds.not(), ..Requirements::anything() },
            _ => Requirements::anything(),
        }
    }

    /// The conditions that hold when a test is true.
    fn of_test(test: &Test) -> Requirements {
        let mut result = Requirements::anything();
        match test {
            Test::Name(glob) => {
                result.names = NamePart::of(glob).map(|part| vec![part]).into_iter().collect()
            }
            Test::Kind(kinds) => result.kinds = *kinds,
            Test::LinkTarget(_) => result.kinds = KindSet::only(FindType::Link),
            Test::Empty => {
                result.kinds = KindSet::only(FindType::Regular).or(KindSet::only(FindType::Directory));
            }
            Test::Size(size) => result.size = size.range().into(),
            Test::Time(TimeColumn::Modified, time) => result.mtime = time.range().into(),
            Test::Time(TimeColumn::Accessed, time) => result.atime = time.range().into(),
            Test::Time(TimeColumn::Changed, time) => result.ctime = time.range().into(),
            Test::UserId(number) => result.uid = number.range().into(),
            Test::GroupId(number) => result.gid = number.range().into(),
            Test::Inode(number) => result.inode = number.range().into(),
            Test::Links(number) => result.links = number.range().into(),
            Test::SameFile { inode, .. } => result.inode = (*inode, *inode).into(),
            Test::User(_, OwnerIdentity::Id(id)) => result.uid = (u64::from(*id), u64::from(*id)).into(),
            Test::Group(_, OwnerIdentity::Id(id)) => result.gid = (u64::from(*id), u64::from(*id)).into(),
            Test::User(name, OwnerIdentity::Name) => result.owners = Some(vec![name.clone()]),
            Test::Group(name, OwnerIdentity::Name) => result.groups = Some(vec![name.clone()]),
            _ => {}
        }
        result
    }
}
