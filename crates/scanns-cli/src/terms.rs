//! `scanns terms`: lists the most frequent terms of an index, or all, with their document frequencies.

use std::io::Write;

use anyhow::Result;
use scanns::Snapshot;
use scanns::search::TermCount;
use serde_json::Map;

use crate::args::TermsArgs;
use crate::as_user;
use crate::output::Output;
use crate::progress::Ticker;
use crate::report::{self, Outcome};
use crate::search::field;
use crate::units;

/// Runs the verb.
pub fn run(args: &TermsArgs) -> Result<Outcome> {
    let snapshot = as_user::seen(Snapshot::open(&args.index)?, &args.as_user)?;
    let searcher = snapshot.searcher_in(field(&snapshot, args.field.as_deref())?);
    let prefix = args.prefix.as_deref().map_or(&b""[..], |prefix| prefix.as_encoded_bytes());
    let mut out = Output::stdout().paged(!args.no_pager);
    let mut listed = 0u64;
    if args.all {
        let mut terms = searcher.terms(prefix)?;
        while let Some(term) = terms.advance()? {
            listed += 1;
            print(&mut out, term, args.json)?;
        }
    } else {
        let mut ticker = Ticker::new("term");
        let terms = searcher.frequent_terms(prefix, args.most, |seen| ticker.at(seen))?;
        ticker.clear();
        listed = terms.len() as u64;
        terms.iter().try_for_each(|term| print(&mut out, term, args.json))?;
    }
    out.finish()?;
    if listed == 0 && !args.json {
        report::note("no term has this prefix");
    }
    Ok(Outcome::Done)
}

fn print(out: &mut Output, term: &TermCount, json: bool) -> Result<()> {
    if json {
        let mut object = Map::new();
        report::put_bytes(&mut object, "term", &term.term);
        object.insert("documents".into(), term.doc_freq.into());
        object.insert("occurrences".into(), term.total_freq.into());
        out.json(&object.into())?;
        return Ok(());
    }
    if out.is_terminal() {
        write!(out, "{:>13}  ", units::count(term.doc_freq))?;
    } else {
        write!(out, "{}\t", term.doc_freq)?;
    }
    out.quoted(&term.term)?;
    writeln!(out)?;
    Ok(())
}
