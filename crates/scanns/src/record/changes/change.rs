//! What a row of a list of changes says: where to look.

/// The identity of a file or directory of Lustre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fid {
    sequence: u64,
    object: u32,
    version: u32,
}

impl Fid {
    /// Reads `[0x200000402:0x1:0x0]`, with or without brackets.
    pub fn parse(text: &[u8]) -> Option<Fid> {
        let inner = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text);
        let mut parts = std::str::from_utf8(inner).ok()?.split(':');
        let mut part = || {
            let digits = parts.next()?.strip_prefix("0x")?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            u64::from_str_radix(digits, 16).ok().filter(|_| is_hex)
        };
        let (sequence, object, version) = (part()?, part()?, part()?);
        let (object, version) = (u32::try_from(object).ok()?, u32::try_from(version).ok()?);
        parts.next().is_none().then_some(Fid { sequence, object, version })
    }

    /// False for the identity that stands for nothing.
    pub fn is_something(self) -> bool {
        self.sequence != 0 || self.object != 0
    }
}

impl std::fmt::Display for Fid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{:#x}:{:#x}:{:#x}]", self.sequence, self.object, self.version)
    }
}

/// A place at which something changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedPlace<'r> {
    /// A path.
    Path(&'r [u8]),
    /// A name in a directory of Lustre.
    Name(Fid, &'r [u8]),
    /// All names of a file or directory of Lustre.
    Names(Fid),
}

/// Where to look, and how deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedChange<'r> {
    /// The place.
    pub place: ListedPlace<'r>,
    /// Whether a directory at this place may have come with everything below it.
    pub tree: bool,
}

/// What a row says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeRow<'r> {
    /// Where to look; none if the row says nothing about metadata.
    pub changes: Vec<ListedChange<'r>>,
    /// The number of the row in the log from which the list comes, if it has one.
    pub number: Option<u64>,
    /// A file or directory of Lustre that does not exist any more after this row.
    pub removed: Option<Fid>,
}

impl<'r> ChangeRow<'r> {
    /// A row about paths; each with its depth.
    pub fn of_paths<const N: usize>(paths: [(&'r [u8], bool); N]) -> Self {
        let change = |(path, tree)| ListedChange { place: ListedPlace::Path(path), tree };
        ChangeRow { changes: paths.into_iter().map(change).collect(), ..ChangeRow::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_read_and_written_as_lustre_writes_them() {
        let fid = Fid::parse(b"[0x200000402:0x1a:0x0]").unwrap();
        assert_eq!(fid.to_string(), "[0x200000402:0x1a:0x0]");
        assert_eq!(Fid::parse(b"0x200000402:0x1a:0x0"), Some(fid));
        assert!(fid.is_something() && !Fid::parse(b"[0:0x0:0x0]").is_some_and(Fid::is_something));
        for text in ["", "[]", "0x1:0x2", "0x1:0x2:0x3:0x4", "0x1:0x2:0x100000000", "0x1:0x2:0x+3", "1:2:3"] {
            assert_eq!(Fid::parse(text.as_bytes()), None, "{text}");
        }
    }
}
