//! Answers queries over the leaves of an index, which are segments on disk or documents in memory.
//!
//! The input is a [`Query`](crate::query::Query) and a [`Model`]; the output is the best hits, or all hits in
//! document order, or statistics of their columns. Statistics are summed over all leaves before anything is
//! scored, so scores do not depend on how documents are spread over segments. The best hits are exactly the
//! same as if every match were scored; hits with equal scores are in document order.
//!
//! From the bottom up:
//!
//! | module | purpose |
//! |---|---|
//! | `leaf`, `segment_leaf` | the interface of a leaf, and segments as leaves |
//! | `budget`, `threads` | the time and the threads of a query |
//! | `best_score` | the score by the best of several clauses |
//! | `doc_set`, `number_set` | sets of documents of a leaf, sets of terms of a dictionary |
//! | `top_k`, `fields`, `searcher` | the best hits, the leaves by field |
//! | `filter_cache` | the documents of filters that repeat |
//! | `statistics` | the statistics of terms that searchers of parts of the documents share |
//! | `similarity` | the formulas of the models |
//! | `terms` | patterns, suggestions, frequent terms |
//! | `joining` | the values of joins, and what they score |
//! | `plan` | a query with numbers for terms, its shape, its terms in every leaf |
//! | `exec` | runs a plan in one leaf; `exec/strategy.rs` chooses the algorithm |
//! | `parallel` | cuts a query into ranges of documents for several threads |
//! | `prepared`, `run`, `hits`, `by_key`, `own_score` | a prepared query, and its results |
//! | `joins` | runs the queries inside joins |
//! | `snippets`, `explain` | the parts of a text that match, and the parts of a score |
//! | `aggregate` | sorts, counts and groups by columns |
//! | `near` | shows near-duplicates once |
//! | `expand` | queries made from documents |
//!
//! Read `run.rs` first, then `exec/dispatch.rs`.

pub(crate) mod aggregate;
mod best_score;
mod budget;
mod by_key;
mod doc_set;
mod exec;
mod expand;
mod explain;
mod fields;
mod filter_cache;
mod hits;
mod joining;
mod joins;
mod leaf;
mod near;
mod number_set;
mod own_score;
mod parallel;
mod plan;
mod prepared;
mod run;
mod searcher;
mod segment_leaf;
mod similarity;
mod snippets;
pub(crate) mod statistics;
mod terms;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
pub(crate) mod tests;
mod threads;
pub(crate) mod top_k;

pub use crate::codec::length_to_norm;
pub use aggregate::{Missing, SortBy, SortKey, SortedHit};
pub use budget::Budget;
pub use by_key::{KeyOrder, KeyPage, KeyedHit};
pub(crate) use exec::bits::docs_of;
pub use exec::bits::{MatchBits, WINDOW as MATCH_WINDOW};
pub use expand::more_like_this::MoreLikeThis;
pub(crate) use expand::rm3::Answer;
pub use expand::rm3::Rm3;
pub use explain::Explanation;
pub(crate) use explain::clause_text;
pub(crate) use filter_cache::FilterCache;
pub use hits::Hits;
pub use leaf::{Leaf, LeafStats, ListSource, PositionSource, TermFigures, TermRef, TermStream};
pub use near::{Collapsed, KeptHit, MOST_DISTANCE, NEAR_DISTANCE, NearHits};
pub use prepared::PreparedQuery;
pub use searcher::Searcher;
pub use similarity::Model;
pub use snippets::{Highlighter, Snippet, SnippetOptions};
pub use terms::frequent::TermCounts;
pub use terms::suggest::Suggestion;
pub use terms::term_count::TermCount;
pub use threads::SearchThreads;
pub(crate) use top_k::Hit;
