//! Names of a directory, one after the other in one allocation.
//!
//! Grammar: any number of names, each a NUL, a byte that says whether it may be a directory, the bytes of the
//! name, and a NUL. The last name is taken first: the system has read it last, and still has it in a cache. A
//! pending directory takes three bytes more than its name.

use std::ffi::CStr;

/// Marks a name that is a directory, or of which the listing does not say what it is.
const MAY_BE_DIRECTORY: u8 = b'd';
const OTHER: u8 = b'-';

/// Names.
#[derive(Debug, Default)]
pub(super) struct NameList(Vec<u8>);

impl NameList {
    pub(super) fn push(&mut self, name: &CStr, may_be_directory: bool) {
        self.0.extend_from_slice(&[0, if may_be_directory { MAY_BE_DIRECTORY } else { OTHER }]);
        self.0.extend_from_slice(name.to_bytes_with_nul());
    }

    /// The last name, and whether it may be a directory.
    pub(super) fn last(&self) -> Option<(&CStr, bool)> {
        let (kind, name) = self.0.get(self.start_of_last()?..)?.get(1..)?.split_first()?;
        Some((CStr::from_bytes_until_nul(name).ok()?, *kind == MAY_BE_DIRECTORY))
    }

    /// Removes the last name.
    pub(super) fn pop(&mut self) {
        self.0.truncate(self.start_of_last().unwrap_or(0));
    }

    fn start_of_last(&self) -> Option<usize> {
        let (_, before) = self.0.split_last()?;
        memchr::memrchr(0, before)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes about half of the names away; `None` if there is only one.
    pub(super) fn split(&mut self) -> Option<NameList> {
        // Two NULs in a row are the end of a name and the start of the next.
        let pair = |bytes: &[u8]| bytes.windows(2).position(|pair| pair == [0, 0]);
        let middle = self.0.len() / 2;
        let after = self.0.get(middle..).and_then(pair).map(|at| middle + at + 1);
        let cut = after.or_else(|| self.0.get(..=middle).and_then(pair).map(|at| at + 1))?;
        let first = self.0.split_off(cut);
        Some(NameList(std::mem::replace(&mut self.0, first)))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn names_come_back_from_the_last_to_the_first_however_they_are_split() {
        let mut random = fastrand::Rng::with_seed(7);
        for count in 0..40 {
            let name = |_| CString::new(vec![b'x'; random.usize(1..50)]).unwrap();
            let names: Vec<CString> = (0..count).map(name).collect();
            let mut list = NameList::default();
            names.iter().for_each(|name| list.push(name, name.to_bytes().len() % 2 == 0));
            let skipped = count / 5;
            (0..skipped).for_each(|_| list.pop());
            let half = list.split();
            assert_eq!(half.is_some(), count - skipped > 1, "{count}");
            assert!(count - skipped < 2 || !list.is_empty() && !half.as_ref().unwrap().is_empty());
            let mut found = Vec::new();
            for mut part in [Some(list), half].into_iter().flatten() {
                while let Some((name, is)) = part.last() {
                    assert_eq!(is, name.to_bytes().len() % 2 == 0);
                    found.push(name.to_owned());
                    part.pop();
                }
                assert!(part.is_empty());
            }
            found.reverse();
            assert_eq!(found, names[..count - skipped]);
        }
    }
}
