//! What the editions have in common: a field of a message.

use super::tables;

/// The bytes of a section that are looked at.
pub(super) const SECTION: usize = 256;

/// What is known of one field.
#[derive(Debug, Default)]
pub(super) struct Field {
    pub(super) edition: u8,
    /// Discipline, category and number, or the table version and the parameter of edition 1.
    pub(super) code: String,
    pub(super) parameter: Option<&'static tables::Parameter>,
    pub(super) units: &'static str,
    pub(super) centre: u16,
    pub(super) date: String,
    pub(super) level: String,
    pub(super) grid: String,
    pub(super) shape: Vec<u64>,
}

/// A date as `2024-01-31T06:00Z`.
pub(super) fn date_text(year: u16, rest: [u8; 4]) -> String {
    let [month, day, hour, minute] = rest;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}Z")
}
