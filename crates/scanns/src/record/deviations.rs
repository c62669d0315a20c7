//! What is unusual about a record, as texts of the program.

/// The kinds of deviations of one record, each once.
#[derive(Clone, Debug, Default)]
pub struct Deviations {
    kinds: Vec<&'static str>,
}

impl Deviations {
    /// Forgets all kinds.
    pub fn clear(&mut self) {
        self.kinds.clear();
    }

    /// Adds a kind.
    pub fn add(&mut self, kind: &'static str) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// All kinds, in the order in which they were found.
    pub fn kinds(&self) -> &[&'static str] {
        &self.kinds
    }
}
