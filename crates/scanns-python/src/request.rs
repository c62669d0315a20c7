//! What a search is asked for: a model, an order, and aggregations.

use std::str::FromStr;

use pyo3::prelude::*;
use scanns::Error;
use scanns::aggregate::{Aggregation, CalendarUnit, Facet, FacetRange, FacetTerms, TermsOrder};
use scanns::schema::{FieldKind, Schema, Value, parse_date};
use scanns::search::{Missing, Model, SortBy, SortKey};
use serde::Deserialize;

use crate::errors::{raise, wrong};
use crate::fields::column;

/// The name of a model and its parameters.
pub type ModelSpec = (String, Vec<(String, f64)>);

/// The model of a name, with its parameters; those of another model are refused.
#[expect(clippy::cast_possible_truncation, reason = "parameters of models are floats of 32 bits")]
pub fn model_of(spec: &ModelSpec) -> PyResult<Model> {
    let (name, parameters) = spec;
    let known: &[&str] = match name.as_str() {
        "bm25" => &["k1", "b"],
        "tf-idf" | "dph" => &[],
        "lm-dirichlet" => &["mu"],
        "lm-jelinek-mercer" => &["lambda"],
        "pl2" => &["c"],
        "p-norm" => &["p"],
        _ => {
            let known = "bm25, tf-idf, lm-dirichlet, lm-jelinek-mercer, pl2, dph or p-norm".into();
            return Err(raise(&Error::UnknownName { what: "model", name: name.clone(), known }));
        }
    };
    if let Some((other, _)) = parameters.iter().find(|(other, _)| !known.contains(&other.as_str())) {
        let expected = format!("parameters of {name}: {}", known.join(", "));
        return Err(wrong("parameter", format!("'{other}'"), &expected));
    }
    let of = |name: &str, default: f64| {
        parameters.iter().find(|(given, _)| given == name).map_or(default, |(_, value)| *value)
    };
    let single = |name: &str, default: f64| of(name, default) as f32;
    Ok(match name.as_str() {
        "bm25" => Model::Bm25 { k1: single("k1", 1.2), b: single("b", 0.75) },
        "lm-dirichlet" => Model::LmDirichlet { mu: single("mu", 2000.0) },
        "lm-jelinek-mercer" => Model::LmJelinekMercer { lambda: single("lambda", 0.1) },
        "pl2" => Model::Pl2 { c: single("c", 1.0) },
        "dph" => Model::Dph,
        "p-norm" => Model::PNorm { p: of("p", 2.0) },
        _ => Model::Classic,
    })
}

/// The order of hits.
pub enum Order {
    Score,
    /// By key; true for the greatest first.
    Key(bool),
    Fields(Vec<SortKey>),
}

/// A column of an order: its name, whether the greatest values come first, and whether documents without a
/// value do.
pub type SortSpec = (String, bool, bool);

/// The order of a list of columns. An empty one is by score; `_key` alone is by key.
pub fn order_of(schema: &Schema, specs: &[SortSpec]) -> scanns::Result<Order> {
    match specs {
        [] => return Ok(Order::Score),
        [(name, descending, _)] if name == "_key" => return Ok(Order::Key(*descending)),
        _ => {}
    }
    let key = |(name, descending, missing_first): &SortSpec| {
        // A field with the name `score` takes precedence.
        let by = match schema.field(name) {
            None if name == "score" => SortBy::Score,
            _ => SortBy::Field(column(schema, name)?),
        };
        let missing = if *missing_first { Missing::First } else { Missing::Last };
        Ok(SortKey { by, descending: *descending, missing })
    };
    specs.iter().map(key).collect::<scanns::Result<_>>().map(Order::Fields)
}

/// An aggregation as the package describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum AggregationSpec {
    Terms {
        field: String,
        limit: Option<usize>,
        by_value: bool,
        prefix: String,
        nested: Vec<AggregationSpec>,
    },
    Ranges {
        field: String,
        /// Labels, and bounds as text, empty for none.
        ranges: Vec<(String, String, String)>,
        nested: Vec<AggregationSpec>,
    },
    Every {
        field: String,
        interval: f64,
        offset: f64,
        nested: Vec<AggregationSpec>,
    },
    Calendar {
        field: String,
        unit: String,
        nested: Vec<AggregationSpec>,
    },
    Below {
        field: String,
        below: String,
        limit: usize,
        nested: Vec<AggregationSpec>,
    },
    Stats {
        field: String,
        percentiles: Vec<f64>,
    },
    Distinct {
        field: String,
        exact: bool,
    },
}

/// The aggregations of a list in JSON; none for an empty text.
pub fn aggregations_of(schema: &Schema, json: &str) -> PyResult<Vec<Aggregation>> {
    if json.is_empty() {
        return Ok(Vec::new());
    }
    let specs: Vec<AggregationSpec> =
        serde_json::from_str(json).map_err(|error| wrong("facet", error, "what scanns.facets makes"))?;
    specs
        .iter()
        .map(|spec| aggregation(schema, spec))
        .collect::<scanns::Result<_>>()
        .map_err(|error| raise(&error))
}

fn aggregation(schema: &Schema, spec: &AggregationSpec) -> scanns::Result<Aggregation> {
    let (facet, nested) = match spec {
        AggregationSpec::Terms { field, limit, by_value, prefix, nested } => {
            let mut terms = FacetTerms::new(column(schema, field)?);
            terms.limit = limit.unwrap_or(usize::MAX);
            terms.order = if *by_value { TermsOrder::Term } else { TermsOrder::Count };
            terms.prefix = prefix.as_bytes().to_vec();
            (Facet::Terms(terms), nested)
        }
        AggregationSpec::Ranges { field, ranges, nested } => {
            let field = column(schema, field)?;
            let kind = schema.entry(field).map(|entry| &entry.kind);
            let range = |(label, from, to): &(String, String, String)| {
                let bound = |text: &String| match text.as_str() {
                    "" => Ok(None),
                    text => value_of(text, kind).map(Some),
                };
                Ok(FacetRange { label: label.clone(), from: bound(from)?, to: bound(to)? })
            };
            let ranges = ranges.iter().map(range).collect::<scanns::Result<_>>()?;
            (Facet::Ranges { field, ranges }, nested)
        }
        AggregationSpec::Every { field, interval, offset, nested } => {
            let field = column(schema, field)?;
            (Facet::Histogram { field, interval: *interval, offset: *offset }, nested)
        }
        AggregationSpec::Calendar { field, unit, nested } => {
            (Facet::Calendar { field: column(schema, field)?, unit: unit_of(unit)? }, nested)
        }
        AggregationSpec::Below { field, below, limit, nested } => {
            let (field, below) = (column(schema, field)?, below.as_bytes().to_vec());
            (Facet::Path { field, below, limit: *limit }, nested)
        }
        AggregationSpec::Stats { field, percentiles } => {
            let (field, percentiles) = (column(schema, field)?, percentiles.clone());
            return Ok(Aggregation::Stats { field, percentiles });
        }
        AggregationSpec::Distinct { field, exact } => {
            return Ok(Aggregation::Distinct { field: column(schema, field)?, exact: *exact });
        }
    };
    let nested = nested.iter().map(|spec| aggregation(schema, spec)).collect::<scanns::Result<_>>()?;
    Ok(Aggregation::Facet(facet, nested))
}

fn unit_of(name: &str) -> scanns::Result<CalendarUnit> {
    Ok(match name {
        "year" => CalendarUnit::Year,
        "month" => CalendarUnit::Month,
        "week" => CalendarUnit::Week,
        "day" => CalendarUnit::Day,
        "hour" => CalendarUnit::Hour,
        other => {
            let known = "year, month, week, day or hour".into();
            return Err(Error::UnknownName { what: "unit", name: other.into(), known });
        }
    })
}

/// A bound of a range; the package has turned sizes into numbers.
fn value_of(text: &str, kind: Option<&FieldKind>) -> scanns::Result<Value> {
    fn number<T: FromStr>(text: &str) -> scanns::Result<T> {
        text.parse().map_err(|_| Error::invalid("bound of a range", text, "a number"))
    }
    Ok(match kind {
        Some(FieldKind::Unsigned) => Value::Unsigned(number(text)?),
        Some(FieldKind::Signed) => Value::Signed(number(text)?),
        Some(FieldKind::Float) => Value::Float(number(text)?),
        Some(FieldKind::Date) => {
            let moment = parse_date(text.as_bytes());
            Value::Date(moment.ok_or_else(|| Error::invalid("bound of a range", text, "a date"))?)
        }
        Some(FieldKind::Keyword | FieldKind::Path) => Value::Text(text.into()),
        _ => return Err(Error::invalid("bound of a range", text, "a field of numbers, dates or keywords")),
    })
}
