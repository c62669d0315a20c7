//! Adds every line of some files to an index as a document, from several threads, with a commit at regular
//! intervals.
//!
//! ```sh
//! cargo run --release --example documents -- lines.scanns FILE…
//! scanns search lines.scanns --field name readme
//! ```
//!
//! The words of a line and the name of its file can be searched. A second run replaces every line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use scanns::schema::{Analyzer, Document, FieldEntry, FieldKind, Schema};
use scanns::writer::{IndexWriter, WriterOptions};
use scanns::{Error, Result, Snapshot};

/// The number of documents between two commits.
const COMMIT_EVERY: usize = 1_000_000;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(index), files) = (args.next(), args.collect::<Vec<_>>()) else {
        eprintln!("usage: documents INDEX FILE…");
        return Ok(());
    };
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text").analyzer(Analyzer::parse("paths")?))?;
    let name = schema.add(FieldEntry::new("name", FieldKind::Keyword))?;
    let writer = IndexWriter::open(Path::new(&index), Some(&schema), WriterOptions::default())?;
    let begun = Instant::now();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file =
                File::open(path).map_err(|source| Error::Io { action: "open", path: path.into(), source })?;
            for (number, line) in BufReader::new(file).split(b'\n').enumerate() {
                let line = line.map_err(|source| Error::Io { action: "read", path: path.into(), source })?;
                let key = format!("{path}#{}", number + 1);
                writer.update(&Document::new(key).text(text, line).text(name, path.as_str()))?;
                if (done.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(COMMIT_EVERY) {
                    writer.commit()?;
                }
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Err(Error::Cancelled)))
    })?;
    writer.commit()?;
    let seconds = begun.elapsed().as_secs_f64();
    let info = Snapshot::open(Path::new(&index))?.info();
    println!("{} documents in {seconds:.2} s; the index has {} bytes", info.documents, info.index_bytes);
    Ok(())
}
