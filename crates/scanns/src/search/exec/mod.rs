//! Runs a plan over one leaf: one file for each shape of query, and the parts that they share.

pub(crate) mod bits;
pub(crate) mod bound_terms;
mod column_part;
pub(crate) mod conjunction;
pub(crate) mod disjunction;
pub(crate) mod dispatch;
pub(crate) mod doc_source;
pub(crate) mod goal;
pub(crate) mod join;
pub(crate) mod joined;
pub(crate) mod live_filter;
pub(crate) mod match_bits;
pub(crate) mod maxscore;
mod path_pattern;
pub(crate) mod phrase;
pub(crate) mod pnorm;
pub(crate) mod rare_term;
mod required_ranges;
pub(crate) mod strategy;
pub(crate) mod term;
pub(crate) mod tree;
pub(crate) mod value_filter;
pub(crate) mod value_pattern;
mod value_terms;
pub(crate) mod view;
pub(crate) mod windows;
