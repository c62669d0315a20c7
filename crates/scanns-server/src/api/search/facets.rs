//! Facets, statistics and numbers of different values: what is asked for, and the answers as JSON.

use scanns::Snapshot;
use scanns::aggregate::{
    Aggregated, Aggregation, Bucket, BucketKey, Buckets, CalendarUnit, Distinct, Facet, FacetLevel,
    NestedLevel, Stats,
};
use scanns::schema::{Value, format_date, parse_date};
use serde_json::Value as Json;

use super::answer::{
    BucketAnswer, CountsAnswer, DistinctAnswer, FacetAnswer, FiguresAnswer, NestedAnswer, NumberAnswer,
    StatsAnswer,
};
use crate::api::request::FacetRequest;
use crate::api::show;
use crate::problem::{Place, Problem};

/// The maximum number of percentiles of statistics.
const MOST_PERCENTILES: usize = 100;

/// What is asked for, and how its answers are shown.
#[derive(Debug, Default)]
pub(crate) struct AskedFacets {
    /// Facets first, then statistics, then numbers of different values.
    pub(crate) aggregations: Vec<Aggregation>,
    levels: Vec<FacetLevel>,
}

/// The answers, by what was asked for.
#[derive(Debug, Default)]
pub(crate) struct FacetsFound {
    pub(crate) facets: Vec<FacetAnswer>,
    pub(crate) stats: Vec<StatsAnswer>,
    pub(crate) distinct: Vec<DistinctAnswer>,
}

impl AskedFacets {
    /// Reads what is asked for, in the words of the command. A facet shows at most this number of values.
    ///
    /// # Errors
    /// 400 with the place of the error.
    pub(crate) fn new(snapshot: &Snapshot, request: &FacetRequest, most: usize) -> Result<Self, Problem> {
        let (mut asked, schema) = (AskedFacets::default(), snapshot.schema());
        for text in &request.facets {
            let mut parsed = FacetLevel::parse(text, schema).map_err(|error| of_facet(&error, "facet"))?;
            limit(&mut parsed.level, &mut parsed.aggregation, most);
            asked.levels.push(parsed.level);
            asked.add(snapshot, parsed.aggregation, "facet")?;
        }
        for text in &request.stats {
            let stats = Aggregation::parse_stats(text, schema).map_err(|error| of_facet(&error, "stats"))?;
            let Aggregation::Stats { percentiles, .. } = &stats else { continue };
            if percentiles.len() > MOST_PERCENTILES {
                let detail = format!("statistics have at most {MOST_PERCENTILES} percentiles");
                return Err(Problem::parameter("stats", detail));
            }
            asked.add(snapshot, stats, "stats")?;
        }
        for text in &request.distinct {
            let distinct = Aggregation::parse_distinct(text, schema);
            asked.add(snapshot, distinct.map_err(|error| of_facet(&error, "distinct"))?, "distinct")?;
        }
        Ok(asked)
    }

    fn add(
        &mut self,
        snapshot: &Snapshot,
        aggregation: Aggregation,
        parameter: &'static str,
    ) -> Result<(), Problem> {
        if is_internal(snapshot, &aggregation) {
            return Err(Problem::parameter(parameter, "the values of this column mean nothing to people"));
        }
        self.aggregations.push(aggregation);
        Ok(())
    }

    /// The answers as JSON.
    pub(crate) fn answers(
        &self,
        request: &FacetRequest,
        found: Vec<Aggregated>,
        partial: bool,
    ) -> FacetsFound {
        let mut all = FacetsFound::default();
        let mut found = found.into_iter().zip(&self.aggregations);
        for ((text, level), (found, asked)) in request.facets.iter().zip(&self.levels).zip(&mut found) {
            let Aggregated::Buckets(mut buckets) = found else { continue };
            level.arrange(&mut buckets);
            let counts = counts(level, asked, &buckets);
            all.facets.push(FacetAnswer { facet: text.clone(), counts, partial });
        }
        for (text, (found, _)) in request.stats.iter().zip(&mut found) {
            let Aggregated::Stats(stats) = found else { continue };
            all.stats.push(StatsAnswer { stats: text.clone(), figures: figures(&stats), partial });
        }
        for (text, (found, _)) in request.distinct.iter().zip(&mut found) {
            let Aggregated::Distinct(distinct) = found else { continue };
            all.distinct.push(DistinctAnswer { distinct: text.clone(), number: number(distinct), partial });
        }
        all
    }
}

/// The problem of a facet, with its place.
fn of_facet(error: &scanns::Error, parameter: &'static str) -> Problem {
    match error {
        scanns::Error::Facet { message, at, length } => {
            Problem::parameter(parameter, message.as_str()).at(Place { offset: *at, length: *length })
        }
        error => Problem::of_engine(error).of_parameter(parameter),
    }
}

/// Limits the numbers of values of a facet and of those within it.
fn limit(level: &mut FacetLevel, aggregation: &mut Aggregation, most: usize) {
    let Aggregation::Facet(facet, within) = aggregation else { return };
    match (&mut level.by_sum, facet) {
        (Some(order), _) => order.most = order.most.min(most),
        (None, Facet::Terms(terms)) => terms.limit = terms.limit.min(most),
        (None, Facet::Path { limit, .. }) => *limit = (*limit).min(most),
        _ => {}
    }
    if let (NestedLevel::Facet(level), Some(aggregation)) = (&mut level.nested, within.last_mut()) {
        limit(level, aggregation, most);
    }
}

fn is_internal(snapshot: &Snapshot, aggregation: &Aggregation) -> bool {
    let nested = match aggregation {
        Aggregation::Facet(_, nested) => nested.as_slice(),
        _ => &[],
    };
    snapshot.is_internal(aggregation.field()) || nested.iter().any(|one| is_internal(snapshot, one))
}

fn counts(level: &FacetLevel, asked: &Aggregation, found: &Buckets) -> CountsAnswer {
    let buckets = found.buckets.iter().map(|one| bucket(level, asked, one)).collect();
    CountsAnswer { buckets, other: found.others, total: found.total, missing: found.missing }
}

fn bucket(level: &FacetLevel, asked: &Aggregation, bucket: &Bucket) -> BucketAnswer {
    let (facet, within) = match asked {
        Aggregation::Facet(facet, within) => (Some(facet), within.as_slice()),
        _ => (None, &[][..]),
    };
    let bound = |value: &Option<Value>| value.as_ref().map_or(Json::Null, show::value);
    let (value, value_bytes, from, to) = match &bucket.key {
        BucketKey::Range(range) => (range.label.clone().into(), None, bound(&range.from), bound(&range.to)),
        BucketKey::Value(value) => {
            let end = facet.and_then(|facet| end_of(facet, value));
            let from = if end.is_some() { show::value(value) } else { Json::Null };
            (show::value(value), show::exact_value(value), from, bound(&end))
        }
    };
    let mut nested = bucket.nested.iter();
    let sum = level.by_sum.as_ref().and_then(|_| match nested.next() {
        Some(Aggregated::Stats(stats)) => Some(stats.sum.map_or(Json::Null, Json::from)),
        _ => None,
    });
    let inner = if let NestedLevel::Facet(inner) = &level.nested { inner } else { level };
    let nested = nested.next().map(|found| match found {
        Aggregated::Buckets(buckets) => {
            NestedAnswer::Counts(counts(inner, within.last().unwrap_or(asked), buckets))
        }
        Aggregated::Stats(stats) => NestedAnswer::Stats(Box::new(figures(stats))),
        Aggregated::Distinct(distinct) => NestedAnswer::Distinct(number(*distinct)),
    });
    BucketAnswer { value, value_bytes, from, to, count: bucket.count, sum, nested: nested.map(Box::new) }
}

/// The first value after an interval that begins with a value.
fn end_of(facet: &Facet, first: &Value) -> Option<Value> {
    match (facet, first) {
        (Facet::Histogram { interval, .. }, first) => Some(match first {
            Value::Float(number) => Value::Float(number + interval),
            Value::Unsigned(number) => Value::Unsigned(number.saturating_add(whole(*interval))),
            Value::Signed(number) => Value::Signed(number.saturating_add_unsigned(whole(*interval))),
            Value::Date(moment) => Value::Date(moment.saturating_add_unsigned(whole(*interval))),
            _ => return None,
        }),
        (Facet::Calendar { unit, .. }, Value::Date(moment)) => calendar_end(*unit, *moment).map(Value::Date),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a length beyond the range becomes the greatest")]
#[expect(clippy::cast_sign_loss, reason = "lengths are greater than zero")]
fn whole(length: f64) -> u64 {
    length.ceil() as u64
}

/// The first moment after a unit of the calendar.
fn calendar_end(unit: CalendarUnit, first: i64) -> Option<i64> {
    const HOUR: i64 = 3_600_000_000_000;
    let text = format_date(first);
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok();
    match unit {
        CalendarUnit::Hour => first.checked_add(HOUR),
        CalendarUnit::Day => first.checked_add(24 * HOUR),
        CalendarUnit::Week => first.checked_add(7 * 24 * HOUR),
        CalendarUnit::Month => {
            let (year, month) = (part(0..4)?, part(5..7)?);
            let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            parse_date(format!("{year:04}-{month:02}-01").as_bytes())
        }
        CalendarUnit::Year => parse_date(format!("{:04}-01-01", part(0..4)? + 1).as_bytes()),
    }
}

fn figures(stats: &Stats) -> FiguresAnswer {
    let value = |value: &Option<Value>| value.as_ref().map_or(Json::Null, show::value);
    FiguresAnswer {
        count: stats.values,
        documents: stats.documents,
        missing: stats.missing,
        sum: stats.sum.map_or(Json::Null, Json::from),
        mean: stats.mean,
        deviation: stats.deviation,
        least: value(&stats.min),
        greatest: value(&stats.max),
        percentiles: stats
            .percentiles
            .iter()
            .map(|(percent, value)| (*percent, show::value(value)))
            .collect(),
    }
}

fn number(distinct: Distinct) -> NumberAnswer {
    NumberAnswer { count: distinct.values, estimate: !distinct.exact, missing: distinct.missing }
}
