//! Scores that depend on the value of a column: how recent a document is, how large, how often cited.

use std::f64::consts::LN_2;

use crate::error::{Error, Result};
use crate::schema::{Field, Value};

/// How a number changes a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoreChange {
    /// The score is multiplied by the number.
    #[default]
    Multiply,
    /// The number is added to the score.
    Add,
    /// The number takes the place of the score.
    Replace,
}

/// A number that each document has by its value in a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueScore {
    /// A column of numbers, dates or booleans.
    pub field: Field,
    /// The number of a value.
    pub curve: ScoreCurve,
    /// The number of documents without a value; not negative.
    pub missing: f64,
}

/// The number of a value: not negative, and 0 for values below 0 and for what is not a number.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoreCurve {
    /// The value itself.
    Value,
    /// The logarithm of the value plus 1, to the base e.
    Log,
    /// The square root of the value.
    Root,
    /// `value / (value + half)`: it rises from 0 towards 1, and is one half where the value is `half`.
    Saturation {
        /// The value at which the number is one half; greater than 0.
        half: f64,
    },
    /// 1 where the value is `origin`, less with its distance from there.
    Near {
        /// The value with the greatest number, of the kind of the column.
        origin: Value,
        /// The distance at which the number is one half, in the units of the column, for dates in
        /// nanoseconds; greater than 0.
        scale: f64,
        /// How the number falls with the distance.
        closeness: Closeness,
    },
}

/// How a number falls with the distance from an origin: from 1 to one half at the distance of the scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closeness {
    /// `scale / (scale + distance)`: it falls slowly, and tells far values apart.
    #[default]
    Reciprocal,
    /// Half as much with each scale.
    Exponential,
    /// A bell: nearly 1 where the distance is less than the scale, and nearly 0 beyond three times the scale.
    Gauss,
    /// A straight line, which is 0 from twice the scale on.
    Linear,
}

impl ScoreChange {
    /// The changes with their names.
    pub(crate) const ALL: [(ScoreChange, &str); 3] =
        [(ScoreChange::Multiply, "multiply"), (ScoreChange::Add, "add"), (ScoreChange::Replace, "replace")];

    /// The name.
    pub(crate) fn name(self) -> &'static str {
        ScoreChange::ALL.iter().find(|(change, _)| *change == self).map_or("", |(_, name)| name)
    }
}

impl Closeness {
    /// The kinds with their names.
    pub(crate) const ALL: [(Closeness, &str); 4] = [
        (Closeness::Reciprocal, "reciprocal"),
        (Closeness::Exponential, "exponential"),
        (Closeness::Gauss, "gauss"),
        (Closeness::Linear, "linear"),
    ];

    /// The name.
    pub(crate) fn name(self) -> &'static str {
        Closeness::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The number at a distance, which is counted in scales.
    fn at(self, scales: f64) -> f64 {
        match self {
            Closeness::Reciprocal => 1.0 / (1.0 + scales),
            Closeness::Exponential => (-scales * LN_2).exp(),
            Closeness::Gauss => (-scales * scales * LN_2).exp(),
            Closeness::Linear => (1.0 - scales / 2.0).max(0.0),
        }
    }
}

impl ValueScore {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a parameter outside its range.
    pub(crate) fn check(&self) -> Result<()> {
        let above_0 = |what, number: f64| match number > 0.0 && number.is_finite() {
            true => Ok(()),
            false => Err(Error::invalid(what, number, "a number greater than 0")),
        };
        if !(self.missing >= 0.0 && self.missing.is_finite()) {
            return Err(Error::invalid("score without a value", self.missing, "a number from 0 on"));
        }
        match self.curve {
            ScoreCurve::Saturation { half } => above_0("value of half the score", half),
            ScoreCurve::Near { scale, .. } => above_0("scale of a score", scale),
            ScoreCurve::Value | ScoreCurve::Log | ScoreCurve::Root => Ok(()),
        }
    }
}

impl ScoreCurve {
    /// The name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            ScoreCurve::Value => "value",
            ScoreCurve::Log => "log",
            ScoreCurve::Root => "root",
            ScoreCurve::Saturation { .. } => "saturate",
            ScoreCurve::Near { .. } => "near",
        }
    }

    /// The number of a value. The origin, if the curve has one, is given as a double.
    #[inline]
    pub(crate) fn at(&self, value: f64, origin: f64) -> f64 {
        let raised = match self {
            ScoreCurve::Near { scale, closeness, .. } => closeness.at((value - origin).abs() / scale),
            ScoreCurve::Value => value,
            ScoreCurve::Log => value.max(0.0).ln_1p(),
            ScoreCurve::Root => value.max(0.0).sqrt(),
            ScoreCurve::Saturation { .. } if value == f64::INFINITY => 1.0,
            ScoreCurve::Saturation { half } => value.max(0.0) / (value.max(0.0) + half),
        };
        // This is also for what is not a number. Infinite numbers would make 0 of 0 not a number.
        if raised > 0.0 { raised.min(f64::MAX) } else { 0.0 }
    }

    /// The greatest number of values from `least` to `most`, or slightly more.
    pub(crate) fn greatest(&self, least: f64, most: f64, origin: f64) -> f64 {
        let nearest = match self {
            ScoreCurve::Near { .. } => origin.max(least).min(most),
            // In columns, what is not a number is greater than all numbers.
            _ if most.is_nan() => f64::INFINITY,
            _ => most,
        };
        // Exponentials and logarithms are rounded in either direction.
        self.at(nearest, origin) * (1.0 + 1e-12)
    }

    /// True if no number is above 1.
    pub(crate) fn is_at_most_1(&self) -> bool {
        matches!(self, ScoreCurve::Near { .. } | ScoreCurve::Saturation { .. })
    }
}
