//! `scanns why`: why a document is found by a query or not, and why a user may see it or not.
//!
//! `why/access.rs` explains rights, `query.rs` queries with the terms of `analysis.rs`, and `absent.rs` why a
//! path is not in the index.

mod absent;
mod access;
mod analysis;
mod query;

use std::io::Write;

use anyhow::Result;
use scanns::Snapshot;

use crate::args::WhyArgs;
use crate::as_user;
use crate::indexed_path::in_index;
use crate::output::Output;
use crate::report::Outcome;

/// Runs the verb.
pub fn run(args: &WhyArgs) -> Result<Outcome> {
    let user = as_user::user(&args.user)?;
    let snapshot = Snapshot::open(&args.index)?;
    if user.is_some() {
        access::must_be_known(&snapshot)?;
    }
    let path = in_index(&snapshot, &args.path);
    if snapshot.hit(&path)?.is_none() {
        absent::note(&snapshot, &args.path)?;
        return Ok(Outcome::NotFound);
    }
    let mut out = Output::stdout();
    let mut outcome = Outcome::Done;
    if let Some(user) = &user {
        outcome = access::explain(args, &snapshot, &path, user, &mut out)?;
    }
    if !args.query.is_empty() {
        let seen = user.map(|user| snapshot.seen_as(&user)).transpose()?;
        let found = query::explain(args, seen.as_ref().unwrap_or(&snapshot), &path, &mut out)?;
        outcome = if found { Outcome::Done } else { Outcome::Nothing };
    }
    out.flush()?;
    Ok(outcome)
}
