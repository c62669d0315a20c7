//! Queries: the tree of terms, phrases, patterns, values and joins, and its text and JSON forms.
//!
//! Queries are independent of any index: the parsers use a [`QueryText`], which resolves names and finds the
//! terms of text. `search/plan` lowers the tree to a plan that can be run. Begin with `tree.rs`.

mod join;
mod join_side;
mod json;
mod limits;
mod named_column;
mod operator;
mod pattern;
mod query_text;
mod regex;
mod score_arguments;
mod text;
pub(crate) mod tree;
mod value_range;
mod value_score;

pub use join::{JoinOn, JoinScore};
pub use json::parse_json;
pub use limits::{MAX_CLAUSES, MAX_DEPTH, MAX_PATTERN};
pub use operator::Operator;
pub use pattern::{Pattern, WildcardPart};
pub use query_text::{QueryText, WeightedField};
pub use text::parse;
pub(crate) use tree::Query;
pub use tree::{BestQuery, BoolQuery, JoinQuery, PhraseQuery, ScoredQuery, Term};
pub use value_range::ValueRange;
pub(crate) use value_range::after_prefix;
pub use value_score::{Closeness, ScoreChange, ScoreCurve, ValueScore};
