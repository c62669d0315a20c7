//! A sorted table of names, searched without branches on their bytes.
//!
//! A name is compared by its first 16 bytes as one integer: of the names of a table, no two begin with the
//! same 16 bytes.

/// A table of names with values.
pub(super) struct LanguageTable<V: 'static, const N: usize> {
    entries: [(&'static str, V); N],
    /// The beginnings of the names, as [`beginning`] makes them.
    beginnings: [u128; N],
}

impl<V: Copy, const N: usize> LanguageTable<V, N> {
    /// A table of entries that are sorted by the bytes of their names. It does not compile as a constant if
    /// they are not.
    pub(super) const fn new(entries: [(&'static str, V); N]) -> Self {
        let mut beginnings = [0; N];
        let mut at = 0;
        while at < N {
            beginnings[at] = beginning(entries[at].0.as_bytes());
            assert!(at == 0 || beginnings[at - 1] < beginnings[at]);
            at += 1;
        }
        Self { entries, beginnings }
    }

    /// The value of a name.
    pub(super) fn find(&self, name: &[u8]) -> Option<V> {
        let at = self.beginnings.binary_search(&beginning(name)).ok()?;
        let (entry, value) = self.entries.get(at)?;
        (entry.as_bytes() == name).then_some(*value)
    }

    /// All entries.
    #[cfg(test)]
    pub(super) fn entries(&self) -> &[(&'static str, V)] {
        &self.entries
    }
}

/// The first 16 bytes of a name as an integer that sorts as they do; shorter names are filled with zeros.
const fn beginning(name: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let mut at = 0;
    while at < name.len() && at < bytes.len() {
        bytes[at] = name[at];
        at += 1;
    }
    u128::from_be_bytes(bytes)
}
