//! A user, as the kernel knows one.

/// A user whose rights are evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessUser {
    uid: u32,
    gid: u32,
    /// All groups, the first one too, ascending.
    groups: Vec<u32>,
}

impl AccessUser {
    /// A user with a primary and supplementary groups, in any order.
    pub fn new(uid: u32, gid: u32, supplementary: &[u32]) -> Self {
        let mut groups = [supplementary, &[gid]].concat();
        groups.sort_unstable();
        groups.dedup();
        AccessUser { uid, gid, groups }
    }

    /// The number of the user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The primary group.
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// All groups, the primary one too, ascending.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// True for a member of a group.
    pub fn is_in(&self, group: u32) -> bool {
        self.groups.binary_search(&group).is_ok()
    }

    /// True for root, who may read everything (`CAP_DAC_READ_SEARCH`).
    pub fn is_root(&self) -> bool {
        self.uid == 0
    }
}
