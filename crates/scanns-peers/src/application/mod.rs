//! The comparison of an application: a shop's catalogue that programs write and ask, with commits while two
//! threads add, update and delete documents. What it asks of each hit and of many segments is measured on the
//! index as it was written, and after a merge into one segment.
//!
//! `documents.rs` makes the documents of text, `protocol.rs` says what adapters are asked, `serve.rs` is the
//! common code of the adapters in Rust, `drive.rs` runs the adapters in turns and compares their answers, and
//! `lines.rs` prints the table.

pub mod documents;
pub mod drive;
pub mod lines;
pub mod protocol;
pub mod serve;

/// The field of titles, which are stored.
pub const TITLE: &str = "title";
/// The field of bodies, which are stored, with positions.
pub const BODY: &str = "body";
/// The field of tags, several for each document: keywords, stored and in a column.
pub const TAG: &str = "tag";
/// The field of prices: floating-point numbers, stored and in a column.
pub const PRICE: &str = "price";
/// The field of the number in stock: unsigned integers in a column.
pub const STOCK: &str = "stock";
/// The field of dates in a column; seconds since 1970 in documents.
pub const DATE: &str = "date";
/// The field of keys.
pub const ID: &str = "id";

/// The hits of a page.
pub const PAGE: usize = 10;

/// The documents between two commits.
pub const COMMIT_EVERY: usize = 20_000;

/// The moment from which the age of a document counts, in seconds since 1970.
pub const NOW: i64 = 1_750_000_000;

/// The age, in seconds, of which the score is halved.
pub const HALF: f64 = 100.0 * 86_400.0;

/// The factor of a score by age: 1 for a document of now, a half for one of a hundred days ago.
pub fn by_age(seconds: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "ages are far below 2⁵³")]
    let age = (NOW - seconds).max(0) as f64;
    HALF / (HALF + age)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_age_halve_in_a_hundred_days() {
        assert!((by_age(NOW) - 1.0).abs() < 1e-6 && (by_age(NOW - 100 * 86_400) - 0.5).abs() < 1e-6);
        assert!(by_age(NOW + 5) <= 1.0 && by_age(i64::MIN / 2) > 0.0);
    }
}
