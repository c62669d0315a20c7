//! ACLs as texts.
//!
//! A POSIX ACL in an extended attribute, from the kernel's headers; all numbers are little-endian:
//!
//! ```text
//! acl   = version u32 | entry …            the version is 2
//! entry = tag u16 | permissions u16 | id u32
//! tag   = 1 owner | 2 user | 4 owning group | 8 group | 16 mask | 32 others
//! ```
//!
//! Its text is what `getfacl --numeric` prints, with commas between the entries: `user::rw-,user:1000:r--`.
//! An ACL of NFSv4 is opaque: its bytes follow in hexadecimal.

use std::io::Write;

/// The version of the format.
const VERSION: u32 = 2;

/// Appends the text of a POSIX ACL. Nothing is known of bytes that are no ACL.
pub(super) fn posix_text(acl: &[u8], is_default: bool, out: &mut Vec<u8>) -> Option<()> {
    let (version, entries) = acl.split_first_chunk()?;
    let (entries, []) = entries.as_chunks::<8>() else { return None };
    if u32::from_le_bytes(*version) != VERSION {
        return None;
    }
    for (at, &[tag, zero, permissions, none, id @ ..]) in entries.iter().enumerate() {
        let (name, has_id) = match tag {
            1 => ("user", false),
            2 => ("user", true),
            4 => ("group", false),
            8 => ("group", true),
            16 => ("mask", false),
            32 => ("other", false),
            _ => return None,
        };
        if zero != 0 || none != 0 || permissions > 7 {
            return None;
        }
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(if is_default { b"default:" } else { b"" });
        out.extend_from_slice(name.as_bytes());
        out.push(b':');
        if has_id {
            // A vector takes everything.
            let _ = write!(out, "{}", u32::from_le_bytes(id));
        }
        out.push(b':');
        for (bit, letter) in [(4, b'r'), (2, b'w'), (1, b'x')] {
            out.push(if permissions & bit != 0 { letter } else { b'-' });
        }
    }
    Some(())
}

/// Appends `=0x` and bytes in hexadecimal.
pub(super) fn put_hexadecimal(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"=0x");
    bytes.iter().for_each(|byte| drop(write!(out, "{byte:02x}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(acl: &[u8], is_default: bool) -> Option<String> {
        let mut out = Vec::new();
        posix_text(acl, is_default, &mut out)?;
        Some(String::from_utf8(out).unwrap())
    }

    fn acl(entries: &[(u8, u8, u32)]) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0, 0];
        for &(tag, permissions, id) in entries {
            bytes.extend([tag, 0, permissions, 0]);
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn entries_are_written_as_getfacl_writes_them() {
        let none = u32::MAX;
        let entries =
            [(1, 7, none), (2, 5, 1000), (4, 4, none), (8, 6, u32::MAX - 1), (16, 3, none), (32, 0, none)];
        let expected = "user::rwx,user:1000:r-x,group::r--,group:4294967294:rw-,mask::-wx,other::---";
        assert_eq!(text(&acl(&entries), false).as_deref(), Some(expected));
        assert_eq!(text(&acl(&entries[..1]), true).as_deref(), Some("default:user::rwx"));
        assert_eq!(text(&acl(&[]), false).as_deref(), Some(""));
    }

    #[test]
    fn bytes_that_are_no_acl_have_no_text_and_no_bytes_panic() {
        let good = acl(&[(1, 7, 0), (32, 4, 0)]);
        for length in 0..good.len() {
            assert_eq!(text(&good[..length], false).is_some(), length == 4 || length == 12, "{length}");
        }
        for bad in [acl(&[(3, 7, 0)]), acl(&[(1, 8, 0)]), vec![1, 0, 0, 0]] {
            assert_eq!(text(&bad, false), None);
        }
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..10_000 {
            let bytes: Vec<u8> = (0..random.usize(..40)).map(|_| random.u8(..40)).collect();
            text(&bytes, random.bool());
        }
    }

    #[test]
    fn other_acls_are_hexadecimal() {
        let mut out = b"system.nfs4_acl".to_vec();
        put_hexadecimal(&[0, 0xab, 255], &mut out);
        assert_eq!(out, b"system.nfs4_acl=0x00abff");
    }
}
