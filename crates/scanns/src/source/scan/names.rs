//! Names of a directory, one after the other in one allocation.
//!
//! Grammar: any number of names, each a byte that says whether it may be a directory, the bytes of the name,
//! and a NUL. A pending directory takes two bytes more than its name.

use std::ffi::CStr;

/// Marks a name that is a directory, or of which the listing does not say what it is.
const MAY_BE_DIRECTORY: u8 = b'd';
const OTHER: u8 = b'-';

/// Names, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct NameList {
    bytes: Vec<u8>,
    /// Where the next name begins.
    at: usize,
}

impl NameList {
    pub(super) fn push(&mut self, name: &CStr, may_be_directory: bool) {
        self.bytes.push(if may_be_directory { MAY_BE_DIRECTORY } else { OTHER });
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
    }

    /// Takes the next name, and whether it may be a directory.
    pub(super) fn next(&mut self) -> Option<(&CStr, bool)> {
        let (kind, rest) = self.bytes.get(self.at..)?.split_first()?;
        let name = CStr::from_bytes_until_nul(rest).ok()?;
        self.at += 1 + name.to_bytes_with_nul().len();
        Some((name, *kind == MAY_BE_DIRECTORY))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Takes about half of the names away, the last ones; `None` if there is only one.
    pub(super) fn split(&mut self) -> Option<NameList> {
        let rest = self.bytes.get(self.at..)?;
        let middle = rest.len() / 2;
        let end = middle + 1 + rest.get(middle..)?.iter().position(|&byte| byte == 0)?;
        let end =
            if end < rest.len() { end } else { 1 + rest.get(..middle)?.iter().position(|&b| b == 0)? };
        Some(NameList { bytes: self.bytes.split_off(self.at + end), at: 0 })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn names_come_back_in_order_however_they_are_split() {
        let mut random = fastrand::Rng::with_seed(7);
        for count in 0..40 {
            let name = |_| CString::new(vec![b'x'; random.usize(1..50)]).unwrap();
            let names: Vec<CString> = (0..count).map(name).collect();
            let mut list = NameList::default();
            names.iter().for_each(|name| list.push(name, name.to_bytes().len() % 2 == 0));
            let skipped = count / 5;
            (0..skipped).for_each(|_| assert!(list.next().is_some()));
            let half = list.split();
            assert_eq!(half.is_some(), count - skipped > 1, "{count}");
            assert!(count - skipped < 2 || !list.is_empty() && !half.as_ref().unwrap().is_empty());
            let mut found = Vec::new();
            for mut part in [Some(list), half].into_iter().flatten() {
                while let Some((name, is)) = part.next() {
                    assert_eq!(is, name.to_bytes().len() % 2 == 0);
                    found.push(name.to_owned());
                }
                assert!(part.is_empty());
            }
            assert_eq!(found, names[skipped..]);
        }
    }
}
