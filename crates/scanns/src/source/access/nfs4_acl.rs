//! ACLs of NFSv4, as `system.nfs4_acl` has them. Integers are big-endian (XDR, RFC 7530, section 6.2.1).
//!
//! ```text
//! acl = count u32 | ace …
//! ace = type u32 | flags u32 | mask u32 | length u32 | name | zeros to a multiple of 4
//! ```
//!
//! Names of users and groups belong to the server, which also decides, so such an ACL cannot be evaluated
//! here. But every file of NFSv4 has one: a server makes it of the mode if nobody set any. If its entries are
//! only about `OWNER@`, `GROUP@` and `EVERYONE@`, and grant what the mode grants, then the mode decides.

/// The types of entries that grant and deny.
const ALLOW: u32 = 0;
const DENY: u32 = 1;

/// The entry applies to new files alone.
const INHERIT_ONLY: u32 = 8;

/// The bits of reading a file or listing a directory, and of executing or searching.
const READ: u32 = 1;
const EXECUTE: u32 = 0x20;

/// The places of the bits of owner, group and others in a mode.
const CLASSES: [u32; 3] = [6, 3, 0];

/// An entry of an ACL.
struct Ace<'a> {
    kind: u32,
    flags: u32,
    mask: u32,
    name: &'a [u8],
}

/// True if an ACL grants to owner, group and others what a mode grants, and nothing to anybody else.
pub(super) fn says_the_mode(acl: &[u8], mode: u32) -> bool {
    let Some(entries) = parse(acl) else { return false };
    let is_special = |ace: &Ace<'_>| matches!(ace.name, b"OWNER@" | b"GROUP@" | b"EVERYONE@");
    if !entries.iter().all(is_special) {
        return false;
    }
    CLASSES.iter().enumerate().all(|(class, shift)| {
        [(READ, 4), (EXECUTE, 1)].iter().all(|(bit, of_mode)| {
            let granted = mode >> shift & of_mode != 0;
            grants(&entries, class, *bit) == Some(granted)
        })
    })
}

/// Whether the first entry about a class that mentions a bit grants it; `None` if entries about others come
/// between in a way that depends on the user.
fn grants(entries: &[Ace<'_>], class: usize, bit: u32) -> Option<bool> {
    let about = |ace: &&Ace<'_>| {
        let applies = match ace.name {
            b"OWNER@" => class == 0,
            b"GROUP@" => class == 1,
            _ => true,
        };
        applies && ace.flags & INHERIT_ONLY == 0 && ace.mask & bit != 0
    };
    match entries.iter().find(about).map(|ace| ace.kind) {
        Some(ALLOW) => Some(true),
        Some(DENY) | None => Some(false),
        Some(_) => None,
    }
}

fn parse(bytes: &[u8]) -> Option<Vec<Ace<'_>>> {
    let (count, mut rest) = number(bytes)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (kind, after) = number(rest)?;
        let (flags, after) = number(after)?;
        let (mask, after) = number(after)?;
        let (length, after) = number(after)?;
        let length = usize::try_from(length).ok()?;
        let name = after.get(..length)?;
        rest = after.get(length.checked_next_multiple_of(4)?..)?;
        entries.push(Ace { kind, flags, mask, name });
    }
    rest.is_empty().then_some(entries)
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acl(entries: &[(u32, u32, u32, &str)]) -> Vec<u8> {
        let mut bytes = u32::try_from(entries.len()).unwrap().to_be_bytes().to_vec();
        for (kind, flags, mask, name) in entries {
            let length = u32::try_from(name.len()).unwrap();
            [*kind, *flags, *mask, length].iter().for_each(|number| bytes.extend(number.to_be_bytes()));
            bytes.extend(name.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn an_acl_that_a_server_made_of_a_mode_says_the_mode() {
        let of_mode = acl(&[(0, 0, READ, "OWNER@"), (0, 0x40, READ, "GROUP@"), (0, 0, 0, "EVERYONE@")]);
        assert!(says_the_mode(&of_mode, 0o640));
        assert!(!says_the_mode(&of_mode, 0o644) && !says_the_mode(&of_mode, 0o600));
        let denies = acl(&[(1, 0, READ, "GROUP@"), (0, 0, READ | EXECUTE, "EVERYONE@")]);
        assert!(says_the_mode(&denies, 0o515));
        let inherited = acl(&[(0, INHERIT_ONLY, READ, "EVERYONE@")]);
        assert!(says_the_mode(&inherited, 0) && !says_the_mode(&inherited, 0o444));
    }

    #[test]
    fn names_and_damage_are_not_decided() {
        let named = acl(&[(0, 0, READ, "OWNER@"), (0, 0, READ, "anna@example.org")]);
        assert!(!says_the_mode(&named, 0o400));
        let good = acl(&[(0, 0, READ, "OWNER@")]);
        assert!(says_the_mode(&good, 0o400));
        assert!((0..good.len()).all(|length| !says_the_mode(&good[..length], 0o400)));
        assert!(!says_the_mode(&[255; 40], 0));
    }
}
