//! The named snapshots of an index, for `scanns info`.

use std::ffi::OsString;
use std::io::Write;

use anyhow::Result;
use scanns::index::NamedSnapshot;
use scanns::schema::format_date;
use serde_json::{Map, Value};

use crate::index::snapshot;
use crate::output::Output;
use crate::report;
use crate::units;

/// The named snapshots of an index, or why one cannot be read.
pub type Named = Vec<(OsString, scanns::Result<NamedSnapshot>)>;

/// Lists the snapshots, if there are any.
pub fn print(out: &mut Output, named: &Named) -> Result<()> {
    if !named.is_empty() {
        writeln!(out, "snapshots  {}", named.len())?;
    }
    for (name, kept) in named {
        write!(out, "  ")?;
        out.quoted(name.as_encoded_bytes())?;
        match kept {
            Ok(NamedSnapshot { committed, documents, bytes, own_bytes, .. }) => {
                let (date, documents) = (format_date(*committed), units::counted(*documents, "document"));
                let (bytes, own) = (units::size(*bytes), units::size(*own_bytes));
                writeln!(out, "  {date}, {documents}, {bytes}, {own} of them in nothing else")?;
            }
            Err(error) => writeln!(out, "  cannot be read: {error}")?,
        }
    }
    Ok(())
}

/// The snapshots as a list of JSON objects.
pub fn as_json(named: &Named) -> Value {
    let described = named.iter().map(|(name, kept)| match kept {
        Ok(kept) => snapshot::as_json(kept),
        Err(error) => {
            let mut object = Map::new();
            report::put_bytes(&mut object, "name", name.as_encoded_bytes());
            object.insert("error".into(), error.to_string().into());
            object.into()
        }
    });
    described.collect()
}
