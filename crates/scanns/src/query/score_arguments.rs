//! What is written in queries to score by a column: the names of curves, origins and distances.

use crate::query::value_range::Parsed;
use crate::query::value_score::{Closeness, ScoreCurve};
use crate::schema::{FieldKind, Value, length_of_time, literal};

/// The names of the curves.
pub(super) const CURVES: [&str; 5] = ["value", "log", "root", "saturate", "near"];

/// An example of each curve, for messages.
pub(super) const EXAMPLES: &str =
    "value(cites), log(cites), root(size), saturate(cites,10) or near(mtime,now,30d)";

/// The curve with this name, if it has no arguments of its own.
pub(super) fn plain_curve(name: &str) -> Option<ScoreCurve> {
    match name {
        "value" => Some(ScoreCurve::Value),
        "log" => Some(ScoreCurve::Log),
        "root" => Some(ScoreCurve::Root),
        _ => None,
    }
}

/// Whether values of fields of this kind are numbers.
pub(super) fn has_numbers(kind: &FieldKind) -> bool {
    use FieldKind::{Boolean, Date, Float, Signed, Unsigned};
    matches!(kind, Unsigned | Signed | Float | Date | Boolean)
}

/// The value with the greatest score. Of a year, month or day, it is the beginning.
pub(super) fn origin(kind: &FieldKind, text: &str) -> Parsed<Value> {
    literal(kind, text).map(|(first, _)| first)
}

/// A distance between values of a field, in its units.
pub(super) fn distance(kind: &FieldKind, text: &str) -> Parsed<f64> {
    #[expect(clippy::cast_precision_loss, reason = "scores are less exact than this")]
    let found = match kind {
        FieldKind::Date => length_of_time(text).map(|nanoseconds| nanoseconds as f64),
        FieldKind::Unsigned => match literal(kind, text) {
            Ok((Value::Unsigned(number), _)) => Some(number as f64),
            _ => text.parse().ok(),
        },
        _ => text.parse().ok(),
    };
    found.filter(|distance| *distance > 0.0 && distance.is_finite()).ok_or_else(|| {
        match kind {
            FieldKind::Date => "write a length of time such as 90s, 15m, 6h, 30d, 2w, 6mo or 1y",
            FieldKind::Unsigned => "write a number greater than 0, such as 10 or 5MiB",
            _ => "write a number greater than 0",
        }
        .to_owned()
    })
}

/// How a number falls with the distance.
pub(super) fn closeness(name: &str) -> Parsed<Closeness> {
    let found = Closeness::ALL.iter().find(|(_, known)| *known == name);
    found
        .map(|(closeness, _)| *closeness)
        .ok_or_else(|| "write reciprocal, exponential, gauss or linear".to_owned())
}

/// The number of documents without a value.
pub(super) fn missing(text: &str) -> Parsed<f64> {
    let found = text.parse().ok().filter(|number| (0.0..f64::INFINITY).contains(number));
    found.ok_or_else(|| "write a number from 0 on".to_owned())
}
