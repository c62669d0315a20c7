//! A POSIX ACL in the bytes of the extended attribute `system.posix_acl_access`, as the kernel's headers
//! have it. Integers are little-endian.
//!
//! ```text
//! acl   = version u32 | entry …            the version is 2
//! entry = tag u16 | permissions u16 | id u32
//! tag   = 1 owner | 2 user | 4 owning group | 8 group | 16 mask | 32 others
//! ```

/// The version of the format.
const VERSION: u32 = 2;

/// Whom an entry of an ACL is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AclTag {
    /// The owner.
    Owner,
    /// A user.
    User(u32),
    /// The group of the file.
    OwningGroup,
    /// A group.
    Group(u32),
    /// The most that users and groups get.
    Mask,
    /// All others.
    Others,
}

/// An entry of an ACL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclEntry {
    /// Whom it is about.
    pub tag: AclTag,
    /// Three bits, as in a mode.
    pub permissions: u32,
}

impl AclEntry {
    /// The entries of an ACL; `None` if the bytes are not one.
    pub fn parse(bytes: &[u8]) -> Option<Box<[AclEntry]>> {
        let (version, entries) = bytes.split_first_chunk()?;
        let (entries, []) = entries.as_chunks::<8>() else { return None };
        if u32::from_le_bytes(*version) != VERSION {
            return None;
        }
        entries.iter().map(AclEntry::of).collect()
    }

    /// The entries of an ACL in the text of `getfacl --numeric`, with commas between them; those for new
    /// files are left out. `None` if the text is not one.
    pub fn parse_text(text: &[u8]) -> Option<Box<[AclEntry]>> {
        let entries = text.split(|&byte| byte == b',').filter(|entry| !entry.starts_with(b"default:"));
        entries.map(AclEntry::of_text).collect()
    }

    fn of_text(text: &[u8]) -> Option<AclEntry> {
        let mut parts = text.split(|&byte| byte == b':');
        let (tag, id, letters) = (parts.next()?, parts.next()?, parts.next()?);
        let number = std::str::from_utf8(id).ok()?.parse();
        let tag = match (tag, id) {
            (b"user", b"") => AclTag::Owner,
            (b"user", _) => AclTag::User(number.ok()?),
            (b"group", b"") => AclTag::OwningGroup,
            (b"group", _) => AclTag::Group(number.ok()?),
            (b"mask", b"") => AclTag::Mask,
            (b"other", b"") => AclTag::Others,
            _ => return None,
        };
        let mut permissions = 0;
        for (&letter, (name, bit)) in letters.iter().zip([(b'r', 4), (b'w', 2), (b'x', 1)]) {
            match letter {
                b'-' => {}
                letter if letter == name => permissions |= bit,
                _ => return None,
            }
        }
        (letters.len() == 3 && parts.next().is_none()).then_some(AclEntry { tag, permissions })
    }

    fn of(&[tag, zero, permissions, none, id @ ..]: &[u8; 8]) -> Option<AclEntry> {
        let id = u32::from_le_bytes(id);
        let tag = match tag {
            1 => AclTag::Owner,
            2 => AclTag::User(id),
            4 => AclTag::OwningGroup,
            8 => AclTag::Group(id),
            16 => AclTag::Mask,
            32 => AclTag::Others,
            _ => return None,
        };
        (zero == 0 && none == 0 && permissions <= 7)
            .then_some(AclEntry { tag, permissions: permissions.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_acl_says_the_same() {
        let text = b"user::rw-,user:1000:r--,group::-w-,group:7:--x,mask::rwx,other::---,default:other::r--";
        let entries = AclEntry::parse_text(text).unwrap();
        let tags = entries.iter().map(|entry| (entry.tag, entry.permissions)).collect::<Vec<_>>();
        let expected = [
            (AclTag::Owner, 6),
            (AclTag::User(1000), 4),
            (AclTag::OwningGroup, 2),
            (AclTag::Group(7), 1),
            (AclTag::Mask, 7),
            (AclTag::Others, 0),
        ];
        assert_eq!(tags, expected);
        for bad in
            ["user::rw", "user:x:rwx", "mask:1:rwx", "user::xwr", "", "user::rwx:", "system.nfs4_acl=0x00"]
        {
            assert_eq!(AclEntry::parse_text(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn bytes_of_the_kernel_are_read_and_others_refused() {
        let acl =
            [2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 232, 3, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0];
        let entries = AclEntry::parse(&acl).unwrap();
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[1], AclEntry { tag: AclTag::User(1000), permissions: 4 });
        for length in 0..acl.len() {
            assert_eq!(AclEntry::parse(&acl[..length]).is_some(), length >= 4 && length % 8 == 4, "{length}");
        }
        for (at, byte) in [(0, 1), (4, 3), (5, 1), (6, 8), (7, 1)] {
            let mut bad = acl;
            bad[at] = byte;
            assert_eq!(AclEntry::parse(&bad), None, "{at}");
        }
    }
}
