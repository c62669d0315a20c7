//! Answers compared with those of tools that people trust, as three users would: DuckDB and find for a dump
//! of metadata (`dump.rs`), grep and zgrep for a tree of files (`tree.rs`), and DuckDB for JSON lines
//! (`jsonl.rs`).

mod dump;
mod jsonl;
mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Place, skipped};

/// Runs queries of the arguments in DuckDB, and prints their rows as JSON.
const DUCKDB: &str = "
import json, sys
try:
    import duckdb
except ImportError:
    sys.exit(77)
session = duckdb.connect()
session.execute(\"SET TimeZone = 'UTC'\")
print(json.dumps([session.execute(query).fetchall() for query in sys.argv[1:]], default=str))
";

/// The Python to use: `PYTHON`, or that of `ci/setup.sh`, or the system's.
pub fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_scanns")).ancestors().nth(2).unwrap();
    let own = target.join("python/bin/python3");
    match std::env::var_os("PYTHON") {
        Some(python) => python.into(),
        None if own.exists() => own,
        None => "python3".into(),
    }
}

/// The rows of each query, run in the directory of `place`; `None` where there is no DuckDB, which is
/// reported.
fn duckdb(place: &Place, test: &str, queries: &[&str]) -> Option<Vec<Vec<Value>>> {
    let out =
        Command::new(python()).args(["-c", DUCKDB]).args(queries).current_dir(place.dir.path()).output();
    let Some(out) = out.ok().filter(|out| out.status.code() != Some(77)) else {
        skipped(test, "Python has no module duckdb");
        return None;
    };
    let rows: Vec<Vec<Value>> = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out.stderr)));
    Some(rows)
}

/// One of several.
fn any<T: Copy>(random: &mut fastrand::Rng, of: &[T]) -> T {
    of[random.usize(..of.len())]
}
