//! Who may see an entry of a file system: the permissions that the kernel would ask for on the way to it.
//!
//! A document of an index with access rights has a *class*, a text that names every condition of which
//! somebody may fail. Two rights follow from it for a user:
//!
//! - **entry**: a walk as this user, from the uppermost directory that the index covers, finds the name.
//!   It needs search permission on all directories on the way, and read permission on those that are listed.
//! - **content**: the user can read the file, if the name is known. It needs search permission on all
//!   directories on the way, and read permission on the file.
//!
//! `permissions.rs` has what decides about one file or directory, `acl.rs` its ACL in the bytes of the kernel
//! and `nfs4_acl.rs` one of NFSv4. `gate.rs` reduces them to who passes one check, in a form that is equal
//! for checks with equal outcomes. `chain.rs` collects the checks on the way to a directory, which
//! `opened_directory.rs` opens so that it stays the same, and `class.rs` is the class of an entry and its
//! evaluation for a `user.rs`, which `named_user.rs` finds by name. `way.rs` reads the directories above a
//! named path, and `acl_reader.rs` the ACLs of files.
//!
//! The decision is that of Linux (`acl_permission_check` and `posix_acl_permission`), which differs from the
//! drafts of POSIX.1e: the class of the owner is exclusive, a mode without permissions of the group skips the
//! ACL, and one group alone must grant what is wanted.

mod acl;
mod acl_reader;
mod chain;
mod class;
mod gate;
mod named_user;
mod nfs4_acl;
mod opened_directory;
mod permissions;
mod user;
mod way;

pub use acl::{AclEntry, AclTag};
pub(crate) use acl_reader::{AclPlace, AclReader};
pub(crate) use chain::AccessChain;
pub use class::{AccessClass, AccessNeed, AccessRights};
pub use gate::Gate;
pub use named_user::{named_user, user_name};
pub(crate) use opened_directory::OpenedDirectory;
pub use permissions::{AskedPermission, DecidedBy, FilePermissions, PermissionAcl};
pub use user::AccessUser;
pub(crate) use way::Way;

#[cfg(test)]
mod tests;
