//! Aggregations over all matching documents: counts by value, statistics, numbers of different values.
//!
//! This file reads what is asked. `facets/level.rs` describes the tables of facets, `facets/table.rs` prints
//! them, and `facets/answer.rs` prints other answers.

mod answer;
mod level;
mod table;

use anyhow::{Context, Result, anyhow, bail, ensure};
use scanns::Snapshot;
use scanns::aggregate::{Aggregated, Aggregation, CalendarUnit, Facet, FacetRange, FacetTerms, TermsOrder};
use scanns::schema::{FieldKind, Value, parse_date};

use super::fields::column;
use crate::args::ColumnArgs;
use crate::output::Output;
use crate::units;
use level::{Level, Nested};

/// The requested aggregations, with their text on the command line.
pub(super) struct Facets {
    names: Vec<(&'static str, String)>,
    levels: Vec<Option<Level>>,
    asked: Vec<Aggregation>,
}

impl Facets {
    pub(super) fn new(snapshot: &Snapshot, args: &ColumnArgs) -> Result<Self> {
        let mut all = Facets { names: Vec::new(), levels: Vec::new(), asked: Vec::new() };
        for (option, texts) in [("facet", &args.facet), ("stats", &args.stats), ("distinct", &args.distinct)]
        {
            for text in texts {
                let asked = match option {
                    "facet" => facets(snapshot, text).map(|(level, asked)| (Some(level), asked)),
                    "stats" => stats(snapshot, text).map(|asked| (None, asked)),
                    _ => distinct(snapshot, text).map(|asked| (None, asked)),
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

/// Parses a facet, and what follows ` > `: what to show of the documents of each bucket.
fn facets(snapshot: &Snapshot, text: &str) -> Result<(Level, Aggregation)> {
    let (own, nested) = text.split_once(" > ").map_or((text, None), |(own, nested)| (own, Some(nested)));
    let own = own.trim();
    let (mut facet, by_sum) = facet(snapshot, own)?;
    let (shown, asked) = nested.map_or(Ok((Nested::Nothing, None)), |nested| below(snapshot, nested))?;
    let mut within = Vec::new();
    let by_sum = match (by_sum, &mut facet) {
        (Some(name), Facet::Terms(terms)) => {
            within.push(sum(snapshot, &name)?);
            Some((name, std::mem::replace(&mut terms.limit, usize::MAX)))
        }
        _ => None,
    };
    within.extend(asked);
    let unit = if let Facet::Calendar { unit, .. } = &facet { Some(*unit) } else { None };
    let field = own.split(':').next().unwrap_or(own).into();
    Ok((Level { field, unit, by_sum, nested: shown }, Aggregation::Facet(facet, within)))
}

/// Parses what to show of the documents of each bucket.
fn below(snapshot: &Snapshot, text: &str) -> Result<(Nested, Option<Aggregation>)> {
    let (nested, asked) = match text.split_once(':') {
        Some(("sum", of)) => (Nested::Sum(of.into()), sum(snapshot, of)?),
        Some(("stats", of)) => {
            let (name, asked) = (of.split(':').next().unwrap_or(of), stats(snapshot, of)?);
            let dates = *column(snapshot, name)?.1 == FieldKind::Date;
            let percentiles = match &asked {
                Aggregation::Stats { percentiles, .. } => percentiles.clone(),
                _ => Vec::new(),
            };
            (Nested::Stats { field: name.into(), dates, percentiles }, asked)
        }
        Some(("distinct", of)) => {
            (Nested::Distinct(of.split(':').next().unwrap_or(of).into()), distinct(snapshot, of)?)
        }
        _ => {
            let (level, asked) = facets(snapshot, text)?;
            (Nested::Facet(Box::new(level)), asked)
        }
    };
    Ok((nested, Some(asked)))
}

/// The statistics that have the sum of a column.
fn sum(snapshot: &Snapshot, name: &str) -> Result<Aggregation> {
    let (field, kind) = column(snapshot, name)?;
    let is_number = matches!(kind, FieldKind::Unsigned | FieldKind::Signed | FieldKind::Float);
    ensure!(is_number, "'{name}' has no sum: its values are not numbers");
    Ok(Aggregation::Stats { field, percentiles: Vec::new() })
}

/// Parses a facet; the name is the column whose sum orders the buckets.
fn facet(snapshot: &Snapshot, text: &str) -> Result<(Facet, Option<String>)> {
    let (name, how) = text.split_once(':').unwrap_or((text, ""));
    let (field, kind) = column(snapshot, name)?;
    let (word, rest) = how.split_once(':').unwrap_or((how, ""));
    let unit = match word {
        "ranges" => {
            let ranges = rest.split(',').map(|range| range_of(range, kind)).collect::<Result<_>>()?;
            return Ok((Facet::Ranges { field, ranges }, None));
        }
        "every" => {
            let (length, offset) = rest.split_once(',').unwrap_or((rest, "0"));
            let (interval, offset) = (number(length)?, number(offset)?);
            return Ok((Facet::Histogram { field, interval, offset }, None));
        }
        "below" => return Ok((Facet::Path { field, below: rest.into(), limit: 100 }, None)),
        "year" => CalendarUnit::Year,
        "month" => CalendarUnit::Month,
        "week" => CalendarUnit::Week,
        "day" => CalendarUnit::Day,
        "hour" => CalendarUnit::Hour,
        _ => return terms(FacetTerms::new(field), how).map(|(terms, by)| (Facet::Terms(terms), by)),
    };
    ensure!(rest.is_empty(), "nothing can follow '{word}'");
    Ok((Facet::Calendar { field, unit }, None))
}

fn terms(mut terms: FacetTerms, how: &str) -> Result<(FacetTerms, Option<String>)> {
    let (mut rest, mut by_sum) = (how, None);
    while !rest.is_empty() {
        let (word, more) = rest.split_once(':').unwrap_or((rest, ""));
        rest = more;
        match word {
            "all" => terms.limit = usize::MAX,
            "by=count" => terms.order = TermsOrder::Count,
            "by=value" => terms.order = TermsOrder::Term,
            "prefix" => terms.prefix = std::mem::take(&mut rest).into(),
            _ if word.starts_with("by=") => {
                let sum = word.strip_prefix("by=sum(").and_then(|name| name.strip_suffix(')'));
                by_sum = Some(sum.ok_or_else(|| {
                    anyhow!("'{word}' is not an order: write by=count, by=value or by=sum(FIELD)")
                })?);
            }
            _ => {
                terms.limit = word.parse().map_err(|_| {
                    anyhow!(
                        "'{word}' is unknown: write a number, all, by=value, by=sum(FIELD), prefix:TEXT, \
                         ranges:A..B,B..C, every:N, year, month, week, day, hour or below:DIR/"
                    )
                })?;
            }
        }
    }
    Ok((terms, by_sum.map(String::from)))
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
