//! Aggregations over all matching documents: counts by value, statistics, numbers of different values.

use std::io::Write;

use anyhow::{Context, Result, anyhow, bail, ensure};
use scanns::Snapshot;
use scanns::aggregate::{
    Aggregated, Aggregation, BucketKey, Buckets, CalendarUnit, Facet, FacetRange, FacetTerms, Stats, Sum,
    TermsOrder,
};
use scanns::schema::{FieldKind, Value, parse_date};
use serde_json::{Map, Value as Json};

use super::fields::{self, column};
use crate::args::ColumnArgs;
use crate::report::Output;
use crate::units;

/// The requested aggregations, with their text on the command line.
pub(super) struct Facets {
    names: Vec<(&'static str, String)>,
    asked: Vec<Aggregation>,
}

impl Facets {
    pub(super) fn new(snapshot: &Snapshot, args: &ColumnArgs) -> Result<Self> {
        let mut all = Facets { names: Vec::new(), asked: Vec::new() };
        for (option, texts) in [("facet", &args.facet), ("stats", &args.stats), ("distinct", &args.distinct)]
        {
            for text in texts {
                let asked = match option {
                    "facet" => facets(snapshot, text),
                    "stats" => stats(snapshot, text),
                    _ => distinct(snapshot, text),
                };
                all.asked.push(asked.with_context(|| format!("--{option} {text}"))?);
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
    pub(super) fn print(&self, found: &[Aggregated], out: &mut Output, json: bool) -> Result<()> {
        for ((option, text), found) in self.names.iter().zip(found) {
            if json {
                let mut object = Map::new();
                object.insert((*option).into(), text.as_str().into());
                object.extend(answer(found));
                out.json(&object.into())?;
            } else {
                writeln!(out, "{option} {text}")?;
                print(out, found, 1)?;
            }
        }
        Ok(())
    }
}

/// Parses a facet, and the aggregation over the documents of each bucket.
fn facets(snapshot: &Snapshot, text: &str) -> Result<Aggregation> {
    let (own, nested) = text.split_once(" > ").map_or((text, None), |(own, nested)| (own, Some(nested)));
    let nested = match nested.map(|nested| (nested, nested.split_once(':'))) {
        None => vec![],
        Some((_, Some(("stats", of)))) => vec![stats(snapshot, of)?],
        Some((_, Some(("distinct", of)))) => vec![distinct(snapshot, of)?],
        Some((nested, _)) => vec![facets(snapshot, nested)?],
    };
    Ok(Aggregation::Facet(facet(snapshot, own.trim())?, nested))
}

fn facet(snapshot: &Snapshot, text: &str) -> Result<Facet> {
    let (name, how) = text.split_once(':').unwrap_or((text, ""));
    let (field, kind) = column(snapshot, name)?;
    let (word, rest) = how.split_once(':').unwrap_or((how, ""));
    let unit = match word {
        "ranges" => {
            let ranges = rest.split(',').map(|range| range_of(range, kind)).collect::<Result<_>>()?;
            return Ok(Facet::Ranges { field, ranges });
        }
        "every" => {
            let (length, offset) = rest.split_once(',').unwrap_or((rest, "0"));
            return Ok(Facet::Histogram { field, interval: number(length)?, offset: number(offset)? });
        }
        "below" => return Ok(Facet::Path { field, below: rest.into(), limit: 100 }),
        "year" => CalendarUnit::Year,
        "month" => CalendarUnit::Month,
        "week" => CalendarUnit::Week,
        "day" => CalendarUnit::Day,
        "hour" => CalendarUnit::Hour,
        _ => return terms(FacetTerms::new(field), how).map(Facet::Terms),
    };
    ensure!(rest.is_empty(), "nothing can follow '{word}'");
    Ok(Facet::Calendar { field, unit })
}

fn terms(mut terms: FacetTerms, how: &str) -> Result<FacetTerms> {
    let mut rest = how;
    while !rest.is_empty() {
        let (word, more) = rest.split_once(':').unwrap_or((rest, ""));
        rest = more;
        match word {
            "all" => terms.limit = usize::MAX,
            "by-value" => terms.order = TermsOrder::Term,
            "prefix" => terms.prefix = std::mem::take(&mut rest).into(),
            _ => {
                terms.limit = word.parse().map_err(|_| {
                    anyhow!(
                        "'{word}' is unknown: write a number, all, by-value, prefix:TEXT, \
                         ranges:A..B,B..C, every:N, year, month, week, day, hour or below:DIR/"
                    )
                })?;
            }
        }
    }
    Ok(terms)
}

/// Parses `from..to`; both bounds are optional.
fn range_of(text: &str, kind: &FieldKind) -> Result<FacetRange> {
    let (from, to) =
        text.split_once("..").ok_or_else(|| anyhow!("'{text}' is not a range: write FROM..TO"))?;
    let bound = |text: &str| match text {
        "" => Ok(None),
        text => value_of(text, kind).map(Some),
    };
    Ok(FacetRange { label: text.into(), from: bound(from)?, to: bound(to)? })
}

/// Parses a value of a field; unsigned numbers may have a unit, as in 1MiB.
fn value_of(text: &str, kind: &FieldKind) -> Result<Value> {
    let wrong = || anyhow!("'{text}' is not a value of type {}", kind.name());
    Ok(match kind {
        FieldKind::Unsigned if text == "0" => Value::Unsigned(0),
        FieldKind::Unsigned => Value::Unsigned(units::parse_size(text).map_err(|_| wrong())?),
        FieldKind::Signed => Value::Signed(text.parse().map_err(|_| wrong())?),
        FieldKind::Float => Value::Float(text.parse().map_err(|_| wrong())?),
        FieldKind::Date => Value::Date(parse_date(text.as_bytes()).ok_or_else(wrong)?),
        FieldKind::Keyword | FieldKind::Path => Value::Text(text.into()),
        FieldKind::Boolean | FieldKind::Bytes | FieldKind::Text { .. } => bail!(wrong()),
    })
}

/// Parses a number, or a size.
fn number(text: &str) -> Result<f64> {
    let size = || units::parse_size(text).ok().map(units::approximate);
    text.parse().ok().or_else(size).ok_or_else(|| anyhow!("'{text}' is not a number"))
}

fn stats(snapshot: &Snapshot, text: &str) -> Result<Aggregation> {
    let (name, percents) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let percent =
        |text: &str| text.parse().map_err(|_| anyhow!("'{text}' is not a percentile: write 0 to 100"));
    let percentiles = percents.map(|rest| rest.split(',').map(percent).collect()).transpose()?;
    Ok(Aggregation::Stats { field: column(snapshot, name)?.0, percentiles: percentiles.unwrap_or_default() })
}

fn distinct(snapshot: &Snapshot, text: &str) -> Result<Aggregation> {
    let (name, how) = text.split_once(':').unwrap_or((text, ""));
    ensure!(matches!(how, "" | "estimate"), "'{how}' is unknown: write FIELD or FIELD:estimate");
    Ok(Aggregation::Distinct { field: column(snapshot, name)?.0, exact: how.is_empty() })
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
            object.insert("sum".into(), stats.sum.map_or(Json::Null, fields::json_sum));
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

/// Prints a result for people, with aligned counts at the beginning of lines.
fn print(out: &mut Output, found: &Aggregated, level: usize) -> Result<()> {
    let indent = "  ".repeat(level);
    match found {
        Aggregated::Buckets(found) => {
            for bucket in &found.buckets {
                let name = match &bucket.key {
                    BucketKey::Value(value) => fields::text(value),
                    BucketKey::Range(range) => range.label.clone(),
                };
                writeln!(out, "{indent}{:>9}  {name}", bucket.count)?;
                bucket.nested.iter().try_for_each(|nested| print(out, nested, level + 6))?;
            }
            if found.others > 0 {
                let more = found.total.saturating_sub(found.buckets.len() as u64);
                writeln!(out, "{indent}{:>9}  in {} more", found.others, units::count(more))?;
            }
            if found.missing > 0 {
                writeln!(out, "{indent}{:>9}  without", found.missing)?;
            }
        }
        Aggregated::Stats(stats) => print_stats(out, stats, &indent)?,
        Aggregated::Distinct(distinct) => {
            let about = if distinct.exact { "" } else { "about " };
            writeln!(out, "{indent}{about}{} different", distinct.values)?;
        }
    }
    Ok(())
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
