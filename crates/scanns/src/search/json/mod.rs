//! Queries as JSON, in both directions: what a program writes instead of text that has to be escaped.
//!
//! A clause is an object with one key that says its kind, and beside it `field` and `boost` where they are needed:
//!
//! ```text
//! {"term": T}                                      {"match": "text"}, {"match": {"text": …, "operator": "and"}}
//! {"phrase": {"terms": [T…], "places": [0…], "slop": 0}}, {"phrase": [T…]}, {"phrase": {"text": …, "slop": 0}}
//! {"prefix": T}    {"regexp": "…"}                 {"wildcard": "li?en*"}, {"wildcard": {"parts": […]}}
//! {"fuzzy": {"term": "…", "edits": 2, "prefix": 0}}, {"fuzzy": "…"}
//! {"range": {"gte"|"gt": T, "lte"|"lt": T}}        {"set": [T…]}
//! {"bool": {"must": […], "should": […], "must_not": […], "at_least": 0}}
//! {"match_all": {}}    {"exists": {}}              {"query": {…}}
//! {"values": {"column": "size", "gte"|"gt": V, "lte"|"lt": V}}, {"values": {"column": "size", "equals": V}}
//! ```
//!
//! `T` is a term as the index has it, a string or, where it is no UTF-8, `{"bytes": "ff61"}`; only `match` and a
//! phrase of `text` are analyzed. `V` is a value of a column, a number, a truth or a string as in the text of a query. `query` is the clause in it, for what needs a field or boost around another. What
//! `write.rs` writes, `read.rs` reads as the same query. `docs/QUERIES.md` has an example of each.

mod depth;
mod read;
#[cfg(test)]
mod tests;
mod values;
mod write;

pub use read::parse_json;
