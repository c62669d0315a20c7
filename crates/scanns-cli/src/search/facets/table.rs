//! Prints a facet as a table with one line for each bucket: first the numbers, then the value.
//!
//! On a terminal, numbers are aligned and easy to read, and the values of nested facets are indented. In a
//! pipe, cells are separated by tabs, and every line has the values of all facets around it.

use std::io::Write;

use anyhow::Result;
use scanns::aggregate::{
    Aggregated, Bucket, BucketKey, Buckets, CalendarUnit, FacetLevel, NestedLevel, Stats, Sum,
};
use scanns::schema::{Value, format_date};

use super::super::fields;
use crate::output::Output;
use crate::terminal::{Shade, columns};
use crate::units;

/// The rows of a table: numbers, and the values of the facets from the outermost one on.
struct FacetTable {
    /// True for a table that people read.
    pretty: bool,
    rows: Vec<TableRow>,
}

struct TableRow {
    /// One for each number of the heads; empty if a line has none.
    numbers: Vec<String>,
    values: Vec<String>,
}

/// Prints the table of a facet, after an empty line.
pub(super) fn print(out: &mut Output, level: &FacetLevel, found: &Buckets) -> Result<()> {
    let mut table = FacetTable { pretty: out.is_terminal(), rows: Vec::new() };
    table.add(level, found, 0, &[]);
    let (heads, names) = (heads(level), level_names(level));
    writeln!(out)?;
    if !table.pretty {
        writeln!(out, "{}", [heads, names].concat().join("\t"))?;
        for TableRow { numbers, values } in &table.rows {
            writeln!(out, "{}\t{}", numbers.join("\t"), values.join("\t"))?;
        }
        return Ok(());
    }
    let widest = |at: usize| {
        let numbers = table.rows.iter().filter_map(|row| row.numbers.get(at));
        numbers.chain(heads.get(at)).map(|text| columns(text)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(widest).collect();
    let aligned = |numbers: &[String]| {
        let cell = |(text, width): (&String, &usize)| format!("{text:>width$}  ");
        numbers.iter().zip(&widths).map(cell).collect::<String>()
    };
    let head = format!("{}{}", aligned(&heads), names.join(" > "));
    let head = out.look().paint(Shade::Head, &head).into_owned();
    writeln!(out, "{head}")?;
    for TableRow { numbers, values } in &table.rows {
        let value = values.last().map_or("", String::as_str);
        let indent = 2 * values.len().saturating_sub(1);
        writeln!(out, "{}{:indent$}{value}", aligned(numbers), "")?;
    }
    Ok(())
}

/// The heads of the numbers.
fn heads(level: &FacetLevel) -> Vec<String> {
    let mut heads = vec!["documents".into()];
    let mut level = Some(level);
    while let Some(FacetLevel { by_sum, nested, .. }) = level {
        heads.extend(by_sum.iter().map(|order| format!("sum({})", order.field)));
        match nested {
            NestedLevel::Nothing | NestedLevel::Facet(_) => {}
            NestedLevel::Sum(field) => heads.push(format!("sum({field})")),
            NestedLevel::Stats { field, dates, percentiles } => {
                let figures: &[&str] = if *dates {
                    &["mean", "min", "max"]
                } else {
                    &["sum", "mean", "deviation", "min", "max"]
                };
                heads.extend(figures.iter().map(|figure| format!("{figure}({field})")));
                heads.extend(percentiles.iter().map(|percent| format!("p{percent}({field})")));
                heads.push(format!("without({field})"));
            }
            NestedLevel::Distinct(field) => heads.push(format!("distinct({field})")),
        }
        level = if let NestedLevel::Facet(inner) = nested { Some(inner) } else { None };
    }
    heads
}

/// The names of a facet and of the facets within it.
fn level_names(level: &FacetLevel) -> Vec<String> {
    let mut names = vec![level.field.clone()];
    if let NestedLevel::Facet(inner) = &level.nested {
        names.extend(level_names(inner));
    }
    names
}

impl FacetTable {
    /// Adds the buckets of a facet; `before` is the number of heads that belong to facets around it, and
    /// `around` are their values.
    fn add(&mut self, level: &FacetLevel, found: &Buckets, before: usize, around: &[String]) {
        for bucket in &found.buckets {
            let value = self.value(level, &bucket.key);
            let values = [around, &[value]].concat();
            let mut numbers = vec![self.count(bucket.count)];
            numbers.extend(std::iter::repeat_n(String::new(), before));
            self.add_figures(level, bucket, &mut numbers);
            self.rows.push(TableRow { numbers, values: values.clone() });
            if let (NestedLevel::Facet(inner), Some(Aggregated::Buckets(buckets))) =
                (&level.nested, bucket.nested.last())
            {
                self.add(inner, buckets, before + usize::from(level.by_sum.is_some()), &values);
            }
        }
        let more = found.total.saturating_sub(found.buckets.len() as u64);
        let rest =
            [(found.others, format!("({} more)", units::count(more))), (found.missing, "(no value)".into())];
        for (count, name) in rest.into_iter().filter(|(count, _)| *count > 0) {
            let numbers = vec![self.count(count)];
            self.rows.push(TableRow { numbers, values: [around, &[name]].concat() });
        }
        self.fill(level, before);
    }

    /// Gives every row a cell for each head.
    fn fill(&mut self, level: &FacetLevel, before: usize) {
        let all = before + heads(level).len();
        for row in &mut self.rows {
            let missing = all.saturating_sub(row.numbers.len());
            row.numbers.extend(std::iter::repeat_n(String::new(), missing));
        }
    }

    fn add_figures(&self, level: &FacetLevel, bucket: &Bucket, numbers: &mut Vec<String>) {
        let mut nested = bucket.nested.iter();
        if let (Some(order), Some(Aggregated::Stats(stats))) =
            (&level.by_sum, level.by_sum.as_ref().and_then(|_| nested.next()))
        {
            numbers.push(self.sum(&order.field, stats.sum));
        }
        match (&level.nested, nested.next()) {
            (NestedLevel::Sum(field), Some(Aggregated::Stats(stats))) => {
                numbers.push(self.sum(field, stats.sum))
            }
            (NestedLevel::Stats { field, dates, percentiles }, Some(Aggregated::Stats(stats))) => {
                self.add_stats((field, *dates, percentiles.len()), stats, numbers);
            }
            (NestedLevel::Distinct(_), Some(Aggregated::Distinct(distinct))) => {
                let about = if distinct.exact { "" } else { "~" };
                numbers.push(format!("{about}{}", self.count(distinct.values)));
            }
            _ => {}
        }
    }

    fn add_stats(&self, asked: (&str, bool, usize), stats: &Stats, numbers: &mut Vec<String>) {
        let (field, dates, percentiles) = asked;
        let value = |value: Option<&Value>| value.map_or(String::new(), |value| self.any(field, value));
        if dates {
            #[expect(clippy::cast_possible_truncation, reason = "it is between two moments")]
            numbers.push(stats.mean.map_or(String::new(), |mean| format_date(mean as i64)));
        } else {
            numbers.push(self.sum(field, stats.sum));
            numbers.extend([stats.mean, stats.deviation].map(|figure| self.float(field, figure)));
        }
        numbers.extend([value(stats.min.as_ref()), value(stats.max.as_ref())]);
        let found = stats.percentiles.iter().map(|(_, found)| self.any(field, found));
        // A bucket without values has no percentiles.
        numbers.extend(found.chain(std::iter::repeat(String::new())).take(percentiles));
        numbers.push(self.count(stats.missing));
    }

    fn count(&self, count: u64) -> String {
        if self.pretty { units::count(count) } else { count.to_string() }
    }

    fn sum(&self, field: &str, sum: Option<Sum>) -> String {
        match sum {
            None => String::new(),
            Some(Sum::Float(sum)) => self.float(field, Some(sum)),
            Some(Sum::Whole(sum)) => match u64::try_from(sum) {
                Ok(sum) => self.any(field, &Value::Unsigned(sum)),
                Err(_) => sum.to_string(),
            },
        }
    }

    fn float(&self, field: &str, figure: Option<f64>) -> String {
        match figure {
            None => String::new(),
            Some(figure) if !self.pretty => figure.to_string(),
            Some(figure) if fields::is_size(field) => {
                fields::for_people(field, &Value::Unsigned(units::rounded(figure)))
            }
            Some(figure) => format!("{figure:.2}"),
        }
    }

    /// A value of a column.
    fn any(&self, field: &str, value: &Value) -> String {
        match value {
            value if !self.pretty => fields::text(value),
            Value::Unsigned(number) if !fields::is_size(field) && field != "mode" => units::count(*number),
            value => fields::for_people(field, value),
        }
    }

    /// The value of a bucket.
    fn value(&self, level: &FacetLevel, key: &BucketKey) -> String {
        let value = match key {
            BucketKey::Range(range) => return fields::text(&Value::from(range.label.as_str())),
            BucketKey::Value(value) => value,
        };
        if !self.pretty {
            return fields::text(value);
        }
        let text = fields::for_people(&level.field, value);
        let shown = match level.unit {
            Some(CalendarUnit::Year) => 4,
            Some(CalendarUnit::Month) => 7,
            Some(CalendarUnit::Week | CalendarUnit::Day) => 10,
            Some(CalendarUnit::Hour) => 16,
            None => text.len(),
        };
        text.get(..shown).map_or(text.clone(), String::from)
    }
}
