//! The JSON form of queries, which programs read and write without escaping.
//!
//! A clause is an object with one key for its kind, and optionally `field` and `boost`:
//!
//! ```text
//! {"term": T}
//! {"match": "text"}, {"match": {"text": …, "operator": "and"}}
//! {"phrase": {"terms": [T…], "places": [0…], "slop": 0}}
//! {"phrase": [T…]}, {"phrase": {"text": …, "slop": 0}}
//! {"prefix": T}
//! {"wildcard": "li?en*"}, {"wildcard": {"parts": […]}}
//! {"regexp": "…"}
//! {"fuzzy": {"term": "…", "edits": 2, "prefix": 0}}, {"fuzzy": "…"}
//! {"range": {"gte"|"gt": T, "lte"|"lt": T}}
//! {"set": [T…]}
//! {"bool": {"must": […], "filter": […], "should": […], "must_not": […], "at_least": 0}}
//! {"match_all": {}}
//! {"exists": {}}
//! {"values": {"column": "size", "gte"|"gt": V, "lte"|"lt": V}}, {"values": {"column": "size", "equals": V}}
//! {"values": {"column": "name", "prefix"|"wildcard"|"regexp"|"fuzzy"|"range"|"set": …}}
//! {"join": {"from": "parent", "to": "key", "query": {…}, "score": "none"|"max"|"sum"|"mean"|"min"}}
//! {"scored": {"query": {…}, "column": "cites", "curve": "value"|"log"|"root", "missing": 0}}
//! {"scored": {"query": {…}, "column": "cites", "curve": "saturate", "half": D, "change": "add"}}
//! {"scored": {"query": {…}, "column": "mtime", "curve": "near", "origin": V, "scale": D}}
//! {"query": {…}}
//! ```
//!
//! `T` is a term as in the index: a string, or `{"bytes": "ff61"}` if it is not UTF-8. Only `match` and a
//! phrase with `text` are analyzed. `V` is a value of a column: a number, a boolean, or a string as in the
//! text form. `query` contains a clause; it is used to add a boost or field to a clause that has its own. A
//! field applies to all clauses inside. `from` and `to` are names of columns, or `key` for the keys of
//! documents; `{"column": "key"}` is a column of this name. `D` is a distance between values: a number in the
//! units of the column, for dates nanoseconds, or a string such as `30d` or `5MiB`.
//!
//! `read.rs` parses what `write.rs` writes into the same query. `docs/QUERIES.md` has an example of each
//! kind.

mod depth;
mod join;
mod patterns;
mod read;
mod reader;
mod scored;
#[cfg(test)]
mod tests;
mod values;
mod wildcard;
mod write;

pub use read::parse_json;
