//! Users as the command line names them.

use anyhow::{Context, Result, anyhow, bail};
use scanns::Snapshot;
use scanns::access::{AccessUser, named_user};

use crate::args::AsUserArgs;

/// What to do if the name service does not help.
const BY_NUMBER: &str = "name the user by numbers: --as UID:GID,GID";

/// The user that the options name, if they name one.
pub fn user(args: &AsUserArgs) -> Result<Option<AccessUser>> {
    let Some(named) = &args.user else { return Ok(None) };
    if let Some((uid, groups)) = named.split_once(':') {
        if args.as_groups.is_some() {
            bail!("--as {named} has groups: leave them, or --as-groups, out");
        }
        return Ok(Some(with_groups(number(uid)?, &numbers(groups)?)));
    }
    if let Some(groups) = &args.as_groups {
        let uid = match named.parse() {
            Ok(uid) => uid,
            Err(_) => known(named)?.uid(),
        };
        return Ok(Some(with_groups(uid, &numbers(groups)?)));
    }
    known(named).map(Some)
}

/// The snapshot as the user sees it whom the options name; all of it if they name none.
pub fn seen(snapshot: Snapshot, args: &AsUserArgs) -> Result<Snapshot> {
    match user(args)? {
        Some(user) => Ok(snapshot.seen_as(&user)?),
        None => Ok(snapshot),
    }
}

fn with_groups(uid: u32, groups: &[u32]) -> AccessUser {
    // A list of numbers has at least one.
    AccessUser::new(uid, groups.first().copied().unwrap_or(u32::MAX), groups)
}

/// A user whom the name service knows.
fn known(user: &str) -> Result<AccessUser> {
    let found = named_user(user).with_context(|| format!("'{user}' cannot be looked up; {BY_NUMBER}"))?;
    found.ok_or_else(|| anyhow!("'{user}': no such user on this machine; {BY_NUMBER}"))
}

fn numbers(text: &str) -> Result<Vec<u32>> {
    text.split(',').map(number).collect()
}

fn number(text: &str) -> Result<u32> {
    text.trim().parse().map_err(|_| anyhow!("'{text}' is not the number of a user or group"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(named: &str, groups: Option<&str>) -> Result<Option<AccessUser>> {
        user(&AsUserArgs { user: Some(named.to_owned()), as_groups: groups.map(str::to_owned) })
    }

    #[test]
    fn users_are_numbers_or_names_with_groups() {
        let of = |named, groups| parsed(named, groups).unwrap().unwrap();
        assert_eq!(of("7:8,9", None), AccessUser::new(7, 8, &[9]));
        assert_eq!(of("7", Some("9,8")), AccessUser::new(7, 9, &[8]));
        assert_eq!(of("root", Some("5")), AccessUser::new(0, 5, &[]));
        assert!(of("root", None).is_root() && of("0", None).is_in(0));
        assert!(user(&AsUserArgs { user: None, as_groups: None }).unwrap().is_none());
        for (named, groups) in
            [("7:", None), ("x:1", None), ("7:1", Some("1")), ("no such user", None), ("root", Some("x"))]
        {
            assert!(parsed(named, groups).is_err(), "{named} {groups:?}");
        }
    }
}
