//! The entries of the tree, as GNU find writes them. The list says how many entries there are and what can be
//! asked for. To write it is also the least that a tool needs that keeps all metadata of a tree.
//!
//! An entry is `kind TAB size TAB blocks TAB ... link-target NUL path NUL LF`. Names contain no NUL.

use anyhow::{Context, Result};

/// The format of find: all metadata that a scan of scanns keeps. Owners are numbers, because find would look
/// up their names again for each entry.
pub const FORMAT: &str = "%y\\t%s\\t%b\\t%m\\t%U\\t%G\\t%T@\\t%A@\\t%C@\\t%i\\t%n\\t%D\\t%l\\0%p\\0\\n";

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'l> {
    /// The whole path.
    pub path: &'l [u8],
    /// The letter of its type: `f` for regular files, `d` for directories.
    pub kind: u8,
    /// Its size in bytes.
    pub size: u64,
    /// Its blocks of 512 bytes.
    pub blocks: u64,
}

impl<'l> Listed<'l> {
    /// The last name of the path.
    pub fn name(&self) -> &'l [u8] {
        self.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
    }
}

/// Reads a list. The first entry is the tree itself.
///
/// # Errors
/// If an entry does not have this format.
pub fn read(mut list: &[u8]) -> Result<Vec<Listed<'_>>> {
    let mut entries = Vec::new();
    while !list.is_empty() {
        let (entry, rest) =
            entry(list).with_context(|| format!("entry {} of the list is damaged", entries.len()))?;
        entries.push(entry);
        list = rest;
    }
    Ok(entries)
}

fn entry(list: &[u8]) -> Option<(Listed<'_>, &[u8])> {
    let mut parts = list.splitn(3, |&byte| byte == 0);
    let (facts, path, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let mut facts = facts.split(|&byte| byte == b'\t');
    let kind = *facts.next()?.first()?;
    let mut number = || std::str::from_utf8(facts.next()?).ok()?.parse::<u64>().ok();
    let (size, blocks) = (number()?, number()?);
    Some((Listed { path, kind, size, blocks }, rest.strip_prefix(b"\n")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_with_all_bytes_in_names_are_read() {
        let list = b"d\t4096\t8\t755\t\0/t\0\nf\t7\t16\t644\t\0/t/a\n\tb\xff\0\nl\t3\t0\t777\ta\tb\0/t/l\0\n";
        let entries = read(list).unwrap();
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[1], Listed { path: b"/t/a\n\tb\xff", kind: b'f', size: 7, blocks: 16 });
        assert_eq!((entries[1].name(), entries[2].kind), (&b"a\n\tb\xff"[..], b'l'));
    }

    #[test]
    fn a_list_that_is_cut_off_is_an_error() {
        let error = read(b"d\t4096\t8\t\0/t\0\nf\t7").unwrap_err().to_string();
        assert_eq!(error, "entry 1 of the list is damaged");
        assert!(read(b"d\tx\t8\t\0/t\0\n").is_err());
    }
}
