//! Who passes one check of a permission.
//!
//! Of a mode and an ACL, only one bit of each class of users matters for one permission. What is left are
//! lists of users and groups, and whether all others pass. Members of the lists that change nothing are left
//! out, so gates are equal if everybody fares equally: the modes 0750 and 0710 ask the same for a search.
//!
//! ```text
//! gate = user-in* user-out* group-in* group-out* others?  | "?"        each list ascending
//! user-in   = "+u" number          passes
//! user-out  = "-u" number          fails
//! group-in  = "+g" number          members pass who are in neither list of users
//! group-out = "-g" number          members fail who are in no list before
//! others    = "+*"                 all others pass; without it they fail
//! ```
//!
//! `?` is a check that cannot be decided: nobody passes but root.

use std::io::Write;

use crate::source::access::acl::AclTag;
use crate::source::access::permissions::{AskedPermission, FilePermissions, PermissionAcl};
use crate::source::access::user::AccessUser;

/// Who passes one check of a permission, apart from root, who passes all.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gate {
    allowed_users: Vec<u32>,
    denied_users: Vec<u32>,
    allowed_groups: Vec<u32>,
    denied_groups: Vec<u32>,
    others: bool,
    undecided: bool,
}

impl Gate {
    /// Everybody passes.
    pub fn open() -> Self {
        Gate { others: true, ..Gate::default() }
    }

    /// Nobody passes.
    pub fn closed() -> Self {
        Gate::default()
    }

    /// It cannot be decided who passes.
    pub fn undecided() -> Self {
        Gate { undecided: true, ..Gate::default() }
    }

    /// Who has a permission on a file or directory.
    pub fn of(of: &FilePermissions, permission: AskedPermission) -> Self {
        let bit = permission.bit();
        let grants = |permissions: u32| permissions & bit != 0;
        let mut gate = Gate { others: grants(of.mode), ..Gate::default() };
        gate.add_user(of.uid, grants(of.mode >> 6));
        match &of.acl {
            PermissionAcl::Undecided => return Gate::undecided(),
            // The kernel does not look at an ACL if the mode has no permissions of the group.
            PermissionAcl::Posix(entries) if of.mode & 0o070 != 0 => {
                let mask = entries.iter().find(|entry| entry.tag == AclTag::Mask);
                let mask = mask.is_none_or(|mask| grants(mask.permissions));
                gate.others = false;
                for entry in entries {
                    let has = grants(entry.permissions);
                    match entry.tag {
                        AclTag::User(uid) => gate.add_user(uid, has && mask),
                        AclTag::OwningGroup => gate.add_group(of.gid, has && mask),
                        AclTag::Group(gid) => gate.add_group(gid, has && mask),
                        AclTag::Others => gate.others = has,
                        AclTag::Owner | AclTag::Mask => {}
                    }
                }
            }
            _ => gate.add_group(of.gid, grants(of.mode >> 3)),
        }
        gate.reduce();
        gate
    }

    /// The first word about a user holds.
    fn add_user(&mut self, uid: u32, passes: bool) {
        if !self.allowed_users.contains(&uid) && !self.denied_users.contains(&uid) {
            if passes { self.allowed_users.push(uid) } else { self.denied_users.push(uid) }
        }
    }

    fn add_group(&mut self, gid: u32, passes: bool) {
        if passes { self.allowed_groups.push(gid) } else { self.denied_groups.push(gid) }
    }

    /// Sorts the lists, and leaves out what changes nothing.
    fn reduce(&mut self) {
        for list in [
            &mut self.allowed_users,
            &mut self.denied_users,
            &mut self.allowed_groups,
            &mut self.denied_groups,
        ] {
            list.sort_unstable();
            list.dedup();
        }
        // Root passes anyway.
        self.allowed_users.retain(|&uid| uid != 0);
        self.denied_users.retain(|&uid| uid != 0);
        let allowed_groups = &self.allowed_groups;
        self.denied_groups.retain(|gid| !allowed_groups.contains(gid));
        if !self.others {
            self.denied_groups.clear();
            if self.allowed_groups.is_empty() {
                self.denied_users.clear();
            }
        } else if self.denied_groups.is_empty() {
            self.allowed_groups.clear();
            self.allowed_users.clear();
        }
    }

    /// True if everybody passes.
    pub fn is_open(&self) -> bool {
        self.others && self.denied_users.is_empty() && self.denied_groups.is_empty()
    }

    /// True if nobody passes but root.
    pub fn is_closed(&self) -> bool {
        !self.others && self.allowed_users.is_empty() && self.allowed_groups.is_empty()
    }

    /// True if it cannot be decided who passes.
    pub fn is_undecided(&self) -> bool {
        self.undecided
    }

    /// True if a user passes.
    pub fn passes(&self, user: &AccessUser) -> bool {
        let has = |list: &[u32]| list.binary_search(&user.uid()).is_ok();
        if user.is_root() || has(&self.allowed_users) {
            return true;
        }
        if self.undecided || has(&self.denied_users) {
            return false;
        }
        let is_in = |list: &[u32]| list.iter().any(|&gid| user.is_in(gid));
        is_in(&self.allowed_groups) || self.others && !is_in(&self.denied_groups)
    }

    /// Appends the text of the gate.
    pub fn write(&self, out: &mut Vec<u8>) {
        for (sign, list) in [
            ("+u", &self.allowed_users),
            ("-u", &self.denied_users),
            ("+g", &self.allowed_groups),
            ("-g", &self.denied_groups),
        ] {
            // A vector takes everything.
            list.iter().for_each(|number| drop(write!(out, "{sign}{number}")));
        }
        if self.others {
            out.extend_from_slice(b"+*");
        }
        if self.undecided {
            out.push(b'?');
        }
    }

    /// Reads the text of a gate; `None` if it is not one.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut gate = Gate::default();
        let mut rest = text;
        while let Some((&first, after)) = rest.split_first() {
            rest = match (first, after.split_first()) {
                (b'?', None) if text.len() == 1 => {
                    gate.undecided = true;
                    after
                }
                (b'+', Some((b'*', []))) => {
                    gate.others = true;
                    &[]
                }
                (sign @ (b'+' | b'-'), Some((kind, digits))) => {
                    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    let (number, after) = digits.split_at_checked(length)?;
                    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
                    match (sign, kind) {
                        (b'+', b'u') => gate.allowed_users.push(number),
                        (b'-', b'u') => gate.denied_users.push(number),
                        (b'+', b'g') => gate.allowed_groups.push(number),
                        (b'-', b'g') => gate.denied_groups.push(number),
                        _ => return None,
                    }
                    after
                }
                _ => return None,
            };
        }
        let mut written = Vec::with_capacity(text.len());
        gate.write(&mut written);
        // Lists that are out of order are damage, and would be searched wrongly.
        let is_ascending =
            |list: &[u32]| list.windows(2).all(|pair| matches!(pair, [one, next] if one < next));
        let lists = [&gate.allowed_users, &gate.denied_users, &gate.allowed_groups, &gate.denied_groups];
        (written == text && lists.iter().all(|list| is_ascending(list))).then_some(gate)
    }
}
