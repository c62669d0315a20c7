//! Facets and statistics in the words of the command: `ext:20`, `size:every:1MiB > sum:size`, `mtime:month`.
//!
//! A text becomes an [`Aggregation`], and a [`FacetLevel`] that says what the answer shows.

use super::aggregation::MOST_LEVELS;
use super::answer::{Aggregated, Buckets, Sum};
use super::request::{Aggregation, CalendarUnit, Facet, FacetRange, FacetTerms, TermsOrder};
use crate::error::{Error, Result};
use crate::schema::{Field, FieldKind, Schema, Value, literal};

/// The number of directories that `below` shows.
const DIRECTORIES: usize = 100;

/// A facet, and what is shown of each of its buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetLevel {
    /// The name of the column.
    pub field: String,
    /// The unit of buckets of dates.
    pub unit: Option<CalendarUnit>,
    /// The sum that orders the buckets. The first nested answer of each bucket then has the sum.
    pub by_sum: Option<SumOrder>,
    /// What is shown of the documents of each bucket.
    pub nested: NestedLevel,
}

/// An order of buckets by the sum of a column, the greatest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumOrder {
    /// The name of the column.
    pub field: String,
    /// The maximum number of buckets to show.
    pub most: usize,
}

/// What is shown of the documents of a bucket.
#[derive(Clone, Debug, PartialEq)]
pub enum NestedLevel {
    /// Their number alone.
    Nothing,
    /// Another facet.
    Facet(Box<FacetLevel>),
    /// The sum of a column.
    Sum(String),
    /// All statistics of a column.
    Stats {
        /// The name of the column.
        field: String,
        /// True if its values are dates.
        dates: bool,
        /// The requested percentiles.
        percentiles: Vec<f64>,
    },
    /// The number of different values of a column.
    Distinct(String),
}

/// A facet that was parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedFacet {
    /// What the answer shows.
    pub level: FacetLevel,
    /// What is to be computed.
    pub aggregation: Aggregation,
}

impl FacetLevel {
    /// Parses a facet, and after ` > ` what to show of the documents of each bucket: another facet,
    /// `sum:FIELD`, `stats:FIELD` or `distinct:FIELD`.
    ///
    /// `FIELD` counts the ten most frequent values, `FIELD:20` twenty, `FIELD:all` all. `FIELD:by=value` and
    /// `FIELD:by=sum(OTHER)` are orders, `FIELD:prefix:TEXT` counts values with a prefix,
    /// `FIELD:ranges:A..B,B..C` ranges, `FIELD:every:N` or `FIELD:every:N,OFFSET` intervals; `year`, `month`,
    /// `week`, `day` and `hour` count dates, and `FIELD:below:DIR/` the directories in a directory.
    ///
    /// ```
    /// use scanns::aggregate::{FacetLevel, NestedLevel};
    /// use scanns::schema::{FieldEntry, FieldKind, Schema};
    ///
    /// # fn main() -> scanns::Result<()> {
    /// let mut schema = Schema::new();
    /// schema.add(FieldEntry::new("ext", FieldKind::Keyword).column())?;
    /// schema.add(FieldEntry::new("size", FieldKind::Unsigned).column())?;
    /// let parsed = FacetLevel::parse("ext:20 > sum:size", &schema)?;
    /// assert_eq!(parsed.level.nested, NestedLevel::Sum("size".into()));
    /// assert!(FacetLevel::parse("ext > sum:ext", &schema).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Facet`] with the place in the text.
    pub fn parse(text: &str, schema: &Schema) -> Result<ParsedFacet> {
        let parser = FacetParser { text, schema };
        if let Some((at, _)) = text.match_indices(" > ").nth(MOST_LEVELS) {
            let rest = text.get(at + 3..).unwrap_or_default();
            let message =
                format!("there are more than {MOST_LEVELS} levels: ask for inner ones in another facet");
            return Err(parser.wrong(rest, message));
        }
        parser.facets(text)
    }

    /// Puts the buckets that are ordered by a sum in order, and keeps those to show.
    pub fn arrange(&self, found: &mut Buckets) {
        if let Some(SumOrder { most, .. }) = &self.by_sum {
            let sum = |nested: &[Aggregated]| match nested.first() {
                Some(Aggregated::Stats(stats)) => stats.sum,
                _ => None,
            };
            found.buckets.sort_by(|a, b| compare_sums(sum(&b.nested), sum(&a.nested)));
            let hidden = found.buckets.split_off((*most).min(found.buckets.len()));
            found.others += hidden.iter().map(|bucket| bucket.count).sum::<u64>();
        }
        if let NestedLevel::Facet(level) = &self.nested {
            for nested in found.buckets.iter_mut().flat_map(|bucket| &mut bucket.nested) {
                if let Aggregated::Buckets(buckets) = nested {
                    level.arrange(buckets);
                }
            }
        }
    }
}

impl Aggregation {
    /// Parses the statistics of a column: `FIELD`, or `FIELD:50,99` with percentiles.
    ///
    /// # Errors
    /// [`Error::Facet`] with the place in the text.
    pub fn parse_stats(text: &str, schema: &Schema) -> Result<Self> {
        FacetParser { text, schema }.stats(text)
    }

    /// Parses a number of different values: `FIELD`, or `FIELD:estimate`.
    ///
    /// # Errors
    /// [`Error::Facet`] with the place in the text.
    pub fn parse_distinct(text: &str, schema: &Schema) -> Result<Self> {
        FacetParser { text, schema }.distinct(text)
    }
}

/// Compares two sums of a column; a missing one is the least.
fn compare_sums(a: Option<Sum>, b: Option<Sum>) -> std::cmp::Ordering {
    match (a, b) {
        (Some(Sum::Whole(a)), Some(Sum::Whole(b))) => a.cmp(&b),
        (Some(Sum::Float(a)), Some(Sum::Float(b))) => a.total_cmp(&b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

/// The number of characters of a message, after which it is cut.
const LONGEST_MESSAGE: usize = 1000;

/// Parses one text.
#[derive(Clone, Copy)]
struct FacetParser<'t> {
    text: &'t str,
    schema: &'t Schema,
}

/// A facet, and the column whose sum orders its buckets.
struct OwnFacet<'t> {
    facet: Facet,
    by_sum: Option<&'t str>,
}

impl<'t> FacetParser<'t> {
    /// The error of a part of the text.
    fn wrong(self, part: &str, message: String) -> Error {
        let at = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        // It may repeat a long text.
        let message = match message.char_indices().nth(LONGEST_MESSAGE) {
            Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
            None => message,
        };
        Error::Facet { message, at: at.min(self.text.len()), length: part.len() }
    }

    /// A column.
    fn column(self, name: &str) -> Result<(Field, &'t FieldKind)> {
        let names = |all: Vec<&str>| if all.is_empty() { "none".into() } else { all.join(", ") };
        let Some(field) = self.schema.field(name) else {
            let all = self.schema.fields().map(|(_, entry)| entry.name.as_str()).collect();
            return Err(self.wrong(name, format!("the index has no field '{name}': it has {}", names(all))));
        };
        match self.schema.entry(field).filter(|entry| entry.column) {
            Some(entry) => Ok((field, &entry.kind)),
            None => {
                let all = names(self.schema.columns().map(|(_, entry)| entry.name.as_str()).collect());
                Err(self.wrong(name, format!("the field '{name}' is not a column; the columns are: {all}")))
            }
        }
    }

    /// A facet with everything below it.
    fn facets(self, text: &'t str) -> Result<ParsedFacet> {
        let (own, nested) = text.split_once(" > ").map_or((text, None), |(own, nested)| (own, Some(nested)));
        let own = own.trim();
        let OwnFacet { mut facet, by_sum } = self.facet(own)?;
        let (shown, asked) = nested.map_or(Ok((NestedLevel::Nothing, None)), |nested| self.below(nested))?;
        let mut within = Vec::new();
        let by_sum = match (by_sum, &mut facet) {
            (Some(name), Facet::Terms(terms)) => {
                within.push(self.sum(name)?);
                let most = std::mem::replace(&mut terms.limit, usize::MAX);
                Some(SumOrder { field: name.into(), most })
            }
            _ => None,
        };
        within.extend(asked);
        let unit = if let Facet::Calendar { unit, .. } = &facet { Some(*unit) } else { None };
        let field = own.split(':').next().unwrap_or(own).into();
        let level = FacetLevel { field, unit, by_sum, nested: shown };
        Ok(ParsedFacet { level, aggregation: Aggregation::Facet(facet, within) })
    }

    /// What to show of the documents of each bucket.
    fn below(self, text: &'t str) -> Result<(NestedLevel, Option<Aggregation>)> {
        let (nested, asked) = match text.split_once(':') {
            Some(("sum", of)) => (NestedLevel::Sum(of.into()), self.sum(of)?),
            Some(("stats", of)) => {
                let (name, asked) = (of.split(':').next().unwrap_or(of), self.stats(of)?);
                let dates = *self.column(name)?.1 == FieldKind::Date;
                let percentiles = match &asked {
                    Aggregation::Stats { percentiles, .. } => percentiles.clone(),
                    _ => Vec::new(),
                };
                (NestedLevel::Stats { field: name.into(), dates, percentiles }, asked)
            }
            Some(("distinct", of)) => {
                (NestedLevel::Distinct(of.split(':').next().unwrap_or(of).into()), self.distinct(of)?)
            }
            _ => {
                let ParsedFacet { level, aggregation } = self.facets(text)?;
                (NestedLevel::Facet(Box::new(level)), aggregation)
            }
        };
        Ok((nested, Some(asked)))
    }

    /// The statistics that have the sum of a column.
    fn sum(self, name: &str) -> Result<Aggregation> {
        let (field, kind) = self.column(name)?;
        if !matches!(kind, FieldKind::Unsigned | FieldKind::Signed | FieldKind::Float) {
            return Err(self.wrong(name, format!("'{name}' has no sum: its values are not numbers")));
        }
        Ok(Aggregation::Stats { field, percentiles: Vec::new() })
    }

    /// A facet without what is below it.
    fn facet(self, text: &'t str) -> Result<OwnFacet<'t>> {
        let (name, how) = text.split_once(':').unwrap_or((text, ""));
        let (field, kind) = self.column(name)?;
        let (word, rest) = how.split_once(':').unwrap_or((how, ""));
        let plain = |facet| Ok(OwnFacet { facet, by_sum: None });
        let unit = match word {
            "ranges" => {
                let ranges = rest.split(',').map(|range| self.range(range, kind)).collect::<Result<_>>()?;
                return plain(Facet::Ranges { field, ranges });
            }
            "every" => {
                let (length, offset) = rest.split_once(',').unwrap_or((rest, "0"));
                let (interval, offset) = (self.number(length)?, self.number(offset)?);
                return plain(Facet::Histogram { field, interval, offset });
            }
            "below" => return plain(Facet::Path { field, below: rest.into(), limit: DIRECTORIES }),
            "year" => CalendarUnit::Year,
            "month" => CalendarUnit::Month,
            "week" => CalendarUnit::Week,
            "day" => CalendarUnit::Day,
            "hour" => CalendarUnit::Hour,
            _ => return self.terms(FacetTerms::new(field), how),
        };
        if !rest.is_empty() {
            return Err(self.wrong(rest, format!("nothing can follow '{word}'")));
        }
        plain(Facet::Calendar { field, unit })
    }

    fn terms(self, mut terms: FacetTerms, how: &'t str) -> Result<OwnFacet<'t>> {
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
                        let orders = "write by=count, by=value or by=sum(FIELD)";
                        self.wrong(word, format!("'{word}' is not an order: {orders}"))
                    })?);
                }
                _ => {
                    terms.limit = word.parse().map_err(|_| {
                        let known = "write a number, all, by=value, by=sum(FIELD), prefix:TEXT, \
                                     ranges:A..B,B..C, every:N, year, month, week, day, hour or below:DIR/";
                        self.wrong(word, format!("'{word}' is unknown: {known}"))
                    })?;
                }
            }
        }
        Ok(OwnFacet { facet: Facet::Terms(terms), by_sum })
    }

    /// A range `from..to`; both bounds are optional.
    fn range(self, text: &str, kind: &FieldKind) -> Result<FacetRange> {
        let wrong = || self.wrong(text, format!("'{text}' is not a range: write FROM..TO"));
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let bound = |text: &str| match text {
            "" => Ok(None),
            text => self.value(text, kind).map(Some),
        };
        Ok(FacetRange { label: text.into(), from: bound(from)?, to: bound(to)? })
    }

    /// A value of a field; numbers may have a unit, as in 1MiB.
    fn value(self, text: &str, kind: &FieldKind) -> Result<Value> {
        let has_order = !matches!(kind, FieldKind::Boolean | FieldKind::Bytes | FieldKind::Text { .. });
        let found = literal(kind, text).ok().filter(|_| has_order);
        let wrong = || self.wrong(text, format!("'{text}' is not a value of type {}", kind.name()));
        found.map(|(first, _)| first).ok_or_else(wrong)
    }

    /// A number, or a size.
    fn number(self, text: &str) -> Result<f64> {
        let size = || match literal(&FieldKind::Unsigned, text) {
            Ok((Value::Unsigned(size), _)) => Some(size as f64),
            _ => None,
        };
        let wrong = || self.wrong(text, format!("'{text}' is not a number"));
        text.parse().ok().or_else(size).ok_or_else(wrong)
    }

    fn stats(self, text: &str) -> Result<Aggregation> {
        let (name, percents) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let percent = |text: &str| {
            text.parse()
                .map_err(|_| self.wrong(text, format!("'{text}' is not a percentile: write 0 to 100")))
        };
        let percentiles = percents.map(|rest| rest.split(',').map(percent).collect()).transpose()?;
        Ok(Aggregation::Stats { field: self.column(name)?.0, percentiles: percentiles.unwrap_or_default() })
    }

    fn distinct(self, text: &str) -> Result<Aggregation> {
        let (name, how) = text.split_once(':').unwrap_or((text, ""));
        if !matches!(how, "" | "estimate") {
            return Err(self.wrong(how, format!("'{how}' is unknown: write FIELD or FIELD:estimate")));
        }
        Ok(Aggregation::Distinct { field: self.column(name)?.0, exact: how.is_empty() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::FieldEntry;

    fn schema() -> Schema {
        let mut schema = Schema::new();
        for (name, kind) in [
            ("ext", FieldKind::Keyword),
            ("size", FieldKind::Unsigned),
            ("mtime", FieldKind::Date),
            ("path", FieldKind::Path),
            ("flag", FieldKind::Boolean),
        ] {
            schema.add(FieldEntry::new(name, kind).column()).unwrap();
        }
        schema.add(FieldEntry::text("text")).unwrap();
        schema
    }

    #[test]
    fn facets_are_read_with_what_is_below_them() {
        let schema = schema();
        let parsed = FacetLevel::parse("ext:5:by=sum(size) > mtime:month > stats:mtime:50", &schema).unwrap();
        assert_eq!(parsed.level.by_sum, Some(SumOrder { field: "size".into(), most: 5 }));
        let NestedLevel::Facet(month) = &parsed.level.nested else { panic!("a facet of months") };
        assert_eq!(month.unit, Some(CalendarUnit::Month));
        assert!(matches!(&month.nested, NestedLevel::Stats { dates: true, .. }));
        let Aggregation::Facet(Facet::Terms(terms), within) = &parsed.aggregation else { panic!("terms") };
        assert_eq!((terms.limit, within.len()), (usize::MAX, 2));
        let range = |text: &str| match FacetLevel::parse(text, &schema).unwrap().aggregation {
            Aggregation::Facet(Facet::Ranges { ranges, .. }, _) => ranges,
            other => panic!("{other:?}"),
        };
        let sizes = range("size:ranges:..1MiB,1.5MiB..");
        assert_eq!(sizes[0].to, Some(Value::Unsigned(1 << 20)));
        assert_eq!((&sizes[1].from, &sizes[1].to), (&Some(Value::Unsigned(3 << 19)), &None));
        assert!(range("mtime:ranges:2024..2025")[0].from.is_some());
    }

    #[test]
    fn errors_have_their_place() {
        let schema = schema();
        let place = |text: &str| match FacetLevel::parse(text, &schema).unwrap_err() {
            Error::Facet { at, length, .. } => text.get(at..at + length).unwrap().to_owned(),
            other => panic!("{other}"),
        };
        for (text, part) in [
            ("nothing", "nothing"),
            ("text:5", "text"),
            ("ext:x", "x"),
            ("ext:by=sum", "by=sum"),
            ("ext:by=sum(ext)", "ext"),
            ("ext > size:every:y", "y"),
            ("ext > sum:ext", "ext"),
            ("mtime:month:3", "3"),
            ("size:ranges:1,2..3", "1"),
            ("flag:ranges:0..1", "0"),
            ("ext > stats:size:a", "a"),
            ("ext > distinct:size:b", "b"),
            ("ext > ext > ext > ext > ext > ext > ext > ext > ext > last > size", "last > size"),
            ("", ""),
        ] {
            assert_eq!(place(text), part, "{text}");
        }
    }
}
