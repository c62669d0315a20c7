//! The columns of entries that an expression looks at.

use super::age::TimeColumn;
use super::expression::{Action, Expression, FindNode, Test};

/// Columns that tell what an entry is.
const KIND: [&str; 2] = ["type", "mode"];

/// Columns that formats and lists may show.
const SHOWN: [&str; 15] = [
    "target", "owner", "group", "mtime", "atime", "ctime", "btime", "size", "blocks", "uid", "gid", "inode",
    "links", "device", "rdev",
];

impl Expression {
    /// The names of the columns, besides the path, that must be read to evaluate the expression and to do its
    /// actions.
    pub fn columns(&self) -> Vec<&'static str> {
        let mut columns = KIND.to_vec();
        if self.traversal.one_device {
            columns.push("device");
        }
        add_columns(&self.root, &mut columns);
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

fn add_columns(node: &FindNode, columns: &mut Vec<&'static str>) {
    match node {
        FindNode::Constant(_) => {}
        FindNode::Not(node) => add_columns(node, columns),
        FindNode::And(nodes) | FindNode::Or(nodes) | FindNode::Comma(nodes) => {
            nodes.iter().for_each(|node| add_columns(node, columns));
        }
        FindNode::Test(_, test) => columns.extend_from_slice(columns_of(test)),
        FindNode::Action(_, Action::Printf(..) | Action::List(_)) => {
            columns.extend_from_slice(&SHOWN);
        }
        FindNode::Action(_, Action::Print(_) | Action::PrintZero(_) | Action::Prune | Action::Quit) => {}
    }
}

fn columns_of(test: &Test) -> &'static [&'static str] {
    match test {
        Test::Name(_) | Test::Path(_) | Test::Regex(_) | Test::Kind(_) | Test::Content(_) => &[],
        Test::LinkTarget(_) | Test::TargetKind(_) => &["target"],
        Test::Size(_) | Test::Empty => &["size"],
        Test::Time(clock, _) => match clock {
            TimeColumn::Modified => &["mtime"],
            TimeColumn::Accessed => &["atime"],
            TimeColumn::Changed => &["ctime"],
            TimeColumn::Born => &["btime"],
        },
        Test::Used(_) => &["atime", "ctime"],
        Test::User(..) | Test::NoUser => &["owner", "uid"],
        Test::Group(..) | Test::NoGroup => &["group", "gid"],
        Test::UserId(_) => &["uid"],
        Test::GroupId(_) => &["gid"],
        Test::Permission(_) => &["mode"],
        Test::Inode(_) => &["inode"],
        Test::Links(_) => &["links"],
        Test::SameFile { .. } => &["inode", "device"],
    }
}
