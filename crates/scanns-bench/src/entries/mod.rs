//! Lists the entries of an invented file system of any size, as find would print them.
//!
//! The file system belongs to a research site. `/data` holds projects, and these hold the directories of
//! users with runs of programs, series of images, environments of Python and checkouts of Git. `place.rs`
//! says what each kind of directory holds, and `names.rs` how files are called. `walk.rs` goes through all of
//! it depth first and gives each entry its owner, size, dates and inode, and `rows.rs` prints it. Memory does
//! not grow with the number of entries. The same seed and count give the same bytes.

mod lexicon;
mod names;
mod place;
mod rows;
mod walk;

use std::io::{ErrorKind, Write};

use anyhow::Result;

pub use rows::Format;
pub use walk::{Listed, Walk};

/// What to print.
#[derive(Debug, clap::Args)]
pub struct EntriesArgs {
    /// Entries, directories among them
    #[arg(long, default_value_t = 1_000_000)]
    count: u64,
    /// Seed; the same seed and count give the same bytes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Format of the list
    #[arg(long, value_enum, default_value = "find")]
    format: Format,
}

/// Bytes that are written at once.
const BLOCK: usize = 1 << 20;

/// Prints the list on standard output. A reader that has enough ends it.
pub fn run(args: &EntriesArgs) -> Result<()> {
    match write(&mut std::io::stdout().lock(), args.count, args.seed, args.format) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Writes the list to `out`.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(out: &mut impl Write, count: u64, seed: u64, format: Format) -> std::io::Result<()> {
    let mut walk = Walk::new(count, seed);
    let mut rows = Vec::with_capacity(BLOCK + (1 << 16));
    while let Some(entry) = walk.next() {
        format.append(&entry, &mut rows);
        if rows.len() >= BLOCK {
            out.write_all(&rows)?;
            rows.clear();
        }
    }
    out.write_all(&rows)?;
    out.flush()
}

#[cfg(test)]
mod tests;
