//! Prints answers to aggregations: as JSON for programs, and statistics as a list of lines for people.

use std::io::Write;

use anyhow::Result;
use scanns::aggregate::{Aggregated, BucketKey, Buckets, Stats, Sum};
use scanns::schema::Value;
use serde_json::{Map, Value as Json};

use super::super::fields;
use crate::output::Output;

/// Prints an answer as one JSON object.
pub(super) fn print_json(out: &mut Output, option: &str, text: &str, found: &Aggregated) -> Result<()> {
    let mut object = Map::new();
    object.insert(option.into(), text.into());
    object.extend(answer(found));
    Ok(out.json(&object.into())?)
}

/// Prints statistics or a number of different values, below a line with a name.
pub(super) fn print(out: &mut Output, name: &str, found: &Aggregated) -> Result<()> {
    writeln!(out, "{name}")?;
    match found {
        Aggregated::Stats(stats) => print_stats(out, stats, "  "),
        Aggregated::Distinct(distinct) => {
            let about = if distinct.exact { "" } else { "about " };
            Ok(writeln!(out, "  {about}{} different", distinct.values)?)
        }
        Aggregated::Buckets(_) => Ok(()),
    }
}

/// A result for programs.
fn answer(found: &Aggregated) -> Map<String, Json> {
    let mut object = Map::new();
    match found {
        Aggregated::Buckets(Buckets { buckets, total, others, documents, missing }) => {
            let counts =
                [("documents", documents), ("missing", missing), ("total", total), ("others", others)];
            counts.iter().for_each(|(name, count)| drop(object.insert((*name).into(), (**count).into())));
            let buckets = buckets.iter().map(|bucket| {
                let mut object = Map::new();
                let (name, key) = match &bucket.key {
                    BucketKey::Value(value) => ("value", fields::json(value)),
                    BucketKey::Range(range) => ("range", range.label.as_str().into()),
                };
                object.insert(name.into(), key);
                object.insert("count".into(), bucket.count.into());
                if !bucket.nested.is_empty() {
                    let nested = bucket.nested.iter().map(|nested| Json::from(answer(nested)));
                    object.insert("nested".into(), nested.collect());
                }
                Json::from(object)
            });
            object.insert("buckets".into(), buckets.collect());
        }
        Aggregated::Stats(stats) => {
            object.insert("documents".into(), stats.documents.into());
            object.insert("missing".into(), stats.missing.into());
            object.insert("values".into(), stats.values.into());
            let value = |value: &Option<Value>| value.as_ref().map_or(Json::Null, fields::json);
            object.insert("min".into(), value(&stats.min));
            object.insert("max".into(), value(&stats.max));
            object.insert("sum".into(), stats.sum.map_or(Json::Null, Json::from));
            object.insert("mean".into(), stats.mean.into());
            object.insert("deviation".into(), stats.deviation.into());
            if !stats.percentiles.is_empty() {
                let of = |(percent, value): &(f64, Value)| (percent.to_string(), fields::json(value));
                object.insert("percentiles".into(), stats.percentiles.iter().map(of).collect());
            }
        }
        Aggregated::Distinct(distinct) => {
            object.insert("values".into(), distinct.values.into());
            object.insert("exact".into(), distinct.exact.into());
            object.insert("missing".into(), distinct.missing.into());
        }
    }
    object
}

fn print_stats(out: &mut Output, stats: &Stats, indent: &str) -> Result<()> {
    writeln!(out, "{indent}values     {}", stats.values)?;
    if stats.missing > 0 {
        writeln!(out, "{indent}without    {}", stats.missing)?;
    }
    let (Some(min), Some(max)) = (&stats.min, &stats.max) else { return Ok(()) };
    writeln!(out, "{indent}least      {}", fields::text(min))?;
    writeln!(out, "{indent}greatest   {}", fields::text(max))?;
    // The sum of dates has no meaning, and their mean is a date.
    if let (Value::Date(_), Some(mean)) = (min, stats.mean) {
        #[expect(clippy::cast_possible_truncation, reason = "it is between two moments")]
        writeln!(out, "{indent}mean       {}", scanns::schema::format_date(mean as i64))?;
    } else if let (Some(sum), Some(mean), Some(deviation)) = (stats.sum, stats.mean, stats.deviation) {
        match sum {
            Sum::Whole(sum) => writeln!(out, "{indent}sum        {sum}")?,
            Sum::Float(sum) => writeln!(out, "{indent}sum        {sum}")?,
        }
        writeln!(out, "{indent}mean       {mean}")?;
        writeln!(out, "{indent}deviation  {deviation}")?;
    }
    for (percent, value) in &stats.percentiles {
        writeln!(out, "{indent}{:<9}  {}", format!("{percent} %"), fields::text(value))?;
    }
    Ok(())
}
