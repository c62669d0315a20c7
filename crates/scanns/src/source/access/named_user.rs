//! Users by the name service of the machine: `/etc/passwd`, LDAP, SSSD and others.
//!
//! The programs `getent` and `id` are asked, since a library that is linked statically could not ask all of
//! these services.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::user::AccessUser;

/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two looks whether a program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The user of a name, or of a number in digits, with the groups that a login now would give; `None` if there
/// is no such user.
///
/// # Errors
///
/// `getent` or `id` cannot be started, or does not answer within ten seconds.
pub fn named_user(name: &str) -> io::Result<Option<AccessUser>> {
    let line = asked("getent", &["passwd", "--", name])?;
    let mut values = line.lines().next().unwrap_or_default().split(':').skip(2);
    let mut number = || values.next()?.parse::<u32>().ok();
    let (Some(uid), Some(gid)) = (number(), number()) else { return Ok(None) };
    let groups = asked("id", &["-G", "--", name])?;
    let groups: Option<Vec<u32>> = groups.split_whitespace().map(|group| group.parse().ok()).collect();
    // A user whose groups are not known is nobody: groups can also take rights away.
    Ok(groups.filter(|groups| groups.contains(&gid)).map(|groups| AccessUser::new(uid, gid, &groups)))
}

/// The name of a user by number; `None` if there is no such user.
///
/// # Errors
///
/// `getent` cannot be started, or does not answer within ten seconds.
pub fn user_name(uid: u32) -> io::Result<Option<String>> {
    let line = asked("getent", &["passwd", "--", &uid.to_string()])?;
    let name = line.split(':').next().unwrap_or_default().trim();
    Ok((!name.is_empty()).then(|| name.to_owned()))
}

/// What a program prints; nothing if it fails.
fn asked(program: &str, arguments: &[&str]) -> io::Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let begin = |error: io::Error| io::Error::new(error.kind(), format!("cannot run {program}: {error}"));
    let mut child = command.spawn().map_err(begin)?;
    let output = child.stdout.take();
    let reader = std::thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        output.map_or(Ok(0), |mut output| output.read_to_end(&mut text)).map(|_| text)
    })?;
    let until = Instant::now() + PATIENCE;
    let succeeded = loop {
        if let Some(status) = child.try_wait()? {
            break status.success();
        }
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            let what = format!("{program} did not answer within {} seconds", PATIENCE.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        std::thread::sleep(LOOK_EVERY);
    };
    let text = reader.join().map_err(|_| io::Error::other(format!("the output of {program} is lost")))??;
    Ok(if succeeded { String::from_utf8_lossy(&text).into_owned() } else { String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_with_their_groups() {
        let root = named_user("root").unwrap().unwrap();
        assert!(root.is_root() && root.is_in(0));
        assert_eq!(named_user("0").unwrap(), Some(root));
        assert_eq!(user_name(0).unwrap().as_deref(), Some("root"));
        assert_eq!(user_name(4_000_000_000).unwrap(), None);
        for unknown in ["no such user", "", "-h", "--help"] {
            assert_eq!(named_user(unknown).unwrap(), None, "{unknown}");
        }
    }

    #[test]
    fn programs_that_fail_or_are_missing_give_nothing() {
        assert_eq!(asked("sh", &["-c", "echo a; exit 1"]).unwrap(), "");
        assert!(asked("no-such-program", &[]).is_err());
    }
}
