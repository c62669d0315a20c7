//! Fuzz targets: every decoder and parser of the library, by name.
//!
//! A target takes any bytes. It must end without a panic, and if there is a second way to compute the answer,
//! with the same answer. `encodings.rs` covers the codecs, `files.rs` whole files with valid checksums,
//! `texts.rs` text from users, `records.rs` collections and web pages, `archives.rs` archives. The targets
//! run in two ways: with coverage guidance from `fuzz/`, and in the tests of this module on a corpus that the
//! encoders write, with random changes.

mod archives;
mod encodings;
mod files;
mod records;
mod texts;

#[cfg(test)]
mod tests;

/// The name of a target, and its function, which takes any bytes.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// All targets, by name.
pub const TARGETS: [FuzzTarget; 28] = [
    ("varints", encodings::varints),
    ("postings", encodings::postings),
    ("positions", encodings::positions),
    ("numbers", encodings::numbers),
    ("presence", encodings::presence),
    ("strings", encodings::strings),
    ("symbols", encodings::symbols),
    ("stored_values", encodings::stored_values),
    ("envelope", files::envelope),
    ("manifest", files::manifest),
    ("plan", files::plan),
    ("index", files::index),
    ("query_text", texts::query_text),
    ("query_json", texts::query_json),
    ("analyzer", texts::analyzer),
    ("tokens", texts::tokens),
    ("dates", texts::dates),
    ("json_lines", texts::json_lines),
    ("csv", texts::csv),
    ("warc", records::warc),
    ("trec", records::trec),
    ("smart", records::smart),
    ("mbox", records::mbox),
    ("logs", records::logs),
    ("mediawiki", records::mediawiki),
    ("html", records::html),
    ("archive", archives::archive),
    ("compress", archives::compress),
];

/// Runs the target with this name; returns false if there is none.
pub fn run(name: &str, data: &[u8]) -> bool {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.inspect(|(_, target)| target(data)).is_some()
}
