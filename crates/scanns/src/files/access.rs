//! Explains step by step why a user may see a document or not.
//!
//! The class of the document decides. It has lost which directory asked for what, so the steps come from the
//! entries of the directories, if the index has them with their ACLs, and else from the file system as it is
//! now.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::schema::Value;
use crate::search::Hit;
use crate::source::access::{
    AccessClass, AccessNeed, AccessRights, AccessUser, AclReader, AskedPermission, DecidedBy,
    FilePermissions, Gate, PermissionAcl,
};
use crate::source::ancestors;

/// Why a user may see a document or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessExplanation {
    /// The directories on the way, from the root on, and the file at last.
    pub steps: Vec<AccessStep>,
    /// The checks of its class, each with whether the user passes; `None` if the document has no class.
    pub class: Option<Vec<(AccessNeed, Gate, bool)>>,
    /// What the user may see of it.
    pub rights: AccessRights,
}

/// A directory on the way to a document, or its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessStep {
    /// The path.
    pub path: Vec<u8>,
    /// From where its permissions are known.
    pub source: StepSource,
    /// Its permissions; `None` if they are not known.
    pub permissions: Option<FilePermissions>,
    /// The names of its owner and its group, where the index has them.
    pub owners: [Option<Vec<u8>>; 2],
    /// What is asked of it.
    pub checks: Vec<ExplainedCheck>,
}

/// A check of a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainedCheck {
    /// For what it is made.
    pub need: AccessNeed,
    /// Whether the user passes.
    pub passes: bool,
    /// What decided that.
    pub by: DecidedBy,
}

/// From where permissions are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepSource {
    /// From the index, as they were when it was built.
    Index,
    /// From the file system, as they are now.
    Now,
    /// They are not known.
    Unknown,
}

/// Explains why a user may see the document with this path or not; `None` if there is no such document.
///
/// # Errors
/// [`Error::Corrupt`](crate::Error::Corrupt) if the index cannot be read.
pub fn explain_access(
    snapshot: &Snapshot,
    path: &[u8],
    user: &AccessUser,
) -> Result<Option<AccessExplanation>> {
    let Some(hit) = snapshot.hit(path)? else { return Ok(None) };
    let class = snapshot.access_class(&hit)?;
    let rights = class.as_ref().map(|class| class.evaluate(user)).unwrap_or_default();
    let checked = |class: AccessClass| {
        let checks = class.gates().iter().map(|(need, gate)| (*need, gate.clone(), gate.passes(user)));
        checks.collect()
    };
    let file = file_of(snapshot, path)?;
    let covered = snapshot.coverage()?;
    let covered = covered.iter().filter(|coverage| coverage.format.is_none());
    let covered: Vec<&[u8]> = covered.map(|coverage| coverage.path.as_os_str().as_bytes()).collect();
    let start = ancestors(file).filter(|place| covered.contains(place)).last();
    let mut places = PlaceReader { snapshot, acls: AclReader::default() };
    let mut steps = Vec::new();
    for place in ancestors(file) {
        let mut step = places.step(place)?;
        let is_listed = start.is_some_and(|start| place.len() >= start.len());
        let needs: &[AccessNeed] = match (place == file, is_listed) {
            (true, _) if step.permissions.as_ref().is_some_and(is_link) => &[],
            (true, _) => &[AccessNeed::Read],
            (false, true) => &[AccessNeed::Search, AccessNeed::List],
            (false, false) => &[AccessNeed::Search],
        };
        step.checks = needs.iter().map(|&need| check(step.permissions.as_ref(), need, user)).collect();
        steps.push(step);
    }
    steps.reverse();
    Ok(Some(AccessExplanation { steps, class: class.map(checked), rights }))
}

fn is_link(permissions: &FilePermissions) -> bool {
    permissions.mode & 0o170_000 == 0o120_000
}

fn check(permissions: Option<&FilePermissions>, need: AccessNeed, user: &AccessUser) -> ExplainedCheck {
    let permission = match need {
        AccessNeed::Search => AskedPermission::Search,
        AccessNeed::List | AccessNeed::Read => AskedPermission::Read,
    };
    let unknown = (user.is_root(), if user.is_root() { DecidedBy::Root } else { DecidedBy::Undecided });
    let (passes, by) = permissions.map_or(unknown, |permissions| permissions.decide(user, permission));
    ExplainedCheck { need, passes, by }
}

/// The path of the file of a document, which may be a member of an archive.
fn file_of<'p>(snapshot: &Snapshot, path: &'p [u8]) -> Result<&'p [u8]> {
    for at in memchr::memmem::find_iter(path, b"!/") {
        let Some(outer) = path.get(..at) else { break };
        if snapshot.hit(outer)?.is_some() {
            return Ok(outer);
        }
    }
    Ok(path)
}

/// Reads the permissions of places.
struct PlaceReader<'s> {
    snapshot: &'s Snapshot,
    acls: AclReader,
}

impl PlaceReader<'_> {
    fn step(&mut self, path: &[u8]) -> Result<AccessStep> {
        let mut owners = [None, None];
        if let Some(hit) = self.snapshot.hit(path)? {
            owners = [self.text(&hit, "owner")?, self.text(&hit, "group")?];
            if let Some(permissions) = self.permissions(&hit)? {
                let (path, checks) = (path.to_vec(), Vec::new());
                let (source, permissions) = (StepSource::Index, Some(permissions));
                return Ok(AccessStep { path, source, permissions, owners, checks });
            }
        }
        let place = Path::new(OsStr::from_bytes(path));
        let permissions = fs::metadata(place).ok().map(|meta| self.acls.permissions(place, &meta, true));
        let source = if permissions.is_some() { StepSource::Now } else { StepSource::Unknown };
        Ok(AccessStep { path: path.to_vec(), source, permissions, owners, checks: Vec::new() })
    }

    /// The permissions of an entry; `None` if the index does not keep its ACL.
    fn permissions(&self, hit: &Hit) -> Result<Option<FilePermissions>> {
        if self.snapshot.schema().field("acl").is_none() {
            return Ok(None);
        }
        let (uid, gid, mode) =
            (self.number(hit, "uid")?, self.number(hit, "gid")?, self.number(hit, "mode")?);
        let (Some(uid), Some(gid), Some(mode)) = (uid, gid, mode) else { return Ok(None) };
        let acl = self.text(hit, "acl")?;
        let acl = acl.map_or(PermissionAcl::None, |text| PermissionAcl::of_text(&text, mode));
        Ok(Some(FilePermissions { uid, gid, mode, acl }))
    }

    fn text(&self, hit: &Hit, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(match self.snapshot.first_value(hit, name)? {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        })
    }

    fn number(&self, hit: &Hit, name: &str) -> Result<Option<u32>> {
        Ok(match self.snapshot.first_value(hit, name)? {
            Some(Value::Unsigned(number)) => u32::try_from(number).ok(),
            _ => None,
        })
    }
}
