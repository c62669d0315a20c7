//! Aggregations over all matching documents: counts by value, statistics, numbers of different values.
//!
//! The library reads what is asked. `facets/table.rs` prints the tables of facets, and `facets/answer.rs`
//! prints other answers.

mod answer;
mod table;

use anyhow::{Context, Result};
use scanns::Snapshot;
use scanns::aggregate::{Aggregated, Aggregation, FacetLevel};

use crate::args::ColumnArgs;
use crate::output::Output;

/// The requested aggregations, with their text on the command line.
pub(super) struct Facets {
    names: Vec<(&'static str, String)>,
    levels: Vec<Option<FacetLevel>>,
    asked: Vec<Aggregation>,
}

impl Facets {
    pub(super) fn new(snapshot: &Snapshot, args: &ColumnArgs) -> Result<Self> {
        let mut all = Facets { names: Vec::new(), levels: Vec::new(), asked: Vec::new() };
        for (option, texts) in [("facet", &args.facet), ("stats", &args.stats), ("distinct", &args.distinct)]
        {
            for text in texts {
                let asked = match option {
                    "facet" => FacetLevel::parse(text, snapshot.schema())
                        .map(|parsed| (Some(parsed.level), parsed.aggregation)),
                    "stats" => Aggregation::parse_stats(text, snapshot.schema()).map(|asked| (None, asked)),
                    _ => Aggregation::parse_distinct(text, snapshot.schema()).map(|asked| (None, asked)),
                };
                let (level, asked) = asked.with_context(|| format!("--{option} {text}"))?;
                all.asked.push(asked);
                all.levels.push(level);
                all.names.push((option, text.clone()));
            }
        }
        Ok(all)
    }

    /// The aggregations.
    pub(super) fn asked(&self) -> &[Aggregation] {
        &self.asked
    }

    /// Prints the results.
    pub(super) fn print(&self, found: Vec<Aggregated>, out: &mut Output, json: bool) -> Result<()> {
        for (((option, text), level), mut found) in self.names.iter().zip(&self.levels).zip(found) {
            if let (Some(level), Aggregated::Buckets(buckets)) = (level, &mut found) {
                level.arrange(buckets);
            }
            match (level, &found) {
                _ if json => answer::print_json(out, option, text, &found)?,
                (Some(level), Aggregated::Buckets(buckets)) => table::print(out, level, buckets)?,
                _ => answer::print(out, &format!("{option} {text}"), &found)?,
            }
        }
        Ok(())
    }
}
