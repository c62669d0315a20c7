//! The text form of queries.
//!
//! ```text
//! list    = and ((OR | ' ') and)*           ' ' is the default operator: OR, or AND if that was chosen
//! and     = clause (AND clause)*
//! clause  = ('+' | '-' | NOT) clause | primary
//! primary = (name ':')? (group | phrase | regex | range | set | word) ('^' number)? score*
//!         | name '->' name (',' score)? ':' group ('^' number)? score*
//!                                           documents by values of those in the group: see `join.rs`
//! score   = '^' ('+' | '=')? curve '(' column (',' argument)* ')'
//!                                           changes scores by a column: see `score.rs`
//! group   = '(' list ')' ('@' number)?      the number of its clauses that must match
//! phrase  = '"' text '"' ('~' number)?      words beside each other, moved by up to this many places
//! regex   = 're"' expression '"'            terms that the expression matches as a whole
//! range   = ('[' | '{') bound ' TO ' bound (']' | '}')
//!                                           terms or values; a brace excludes its bound, * is no bound
//! set     = 'in(' word* ')'                 any of the terms
//! word    = text                            a pattern if it contains * or ?; * alone is every document
//!         | text '~' ('1' | '2')?           terms within this many edits
//! ```
//!
//! `NOT` binds tighter than `AND`, and `AND` tighter than `OR`. As in Lucene, `+a` makes a clause of a list
//! required, and `-a` and `NOT a` exclude it from the list, also after `OR`; `a OR (NOT b)` has the boolean
//! meaning. Operators are upper case. A backslash makes any character plain. `+` and `-` are operators only
//! before a clause, `^`, `~` and `@` only after one. `name:` before more text names a field; `http://x`,
//! `std::x` and `12:30` do not. Words of a field that is only a column, and words after `<` and `>`, are
//! values: `size:>1GiB`, `mtime:<=2024-03`, `open:true`, `ext:*`, `name:*.html`. The colon may be left out
//! before the sign of a comparison, and spaces may be around it: `size=5`, `size > 5`.
//!
//! Text that names no field is looked up in every default field, and the best one decides its score. A
//! keyword beside which another field has its words, `title.words`, is also found by these; one with parts,
//! `path.parts`, is a path, which stands for everything below it.
//!
//! A clause that names a column of values is a condition, as is a group of conditions. In a list, all
//! conditions must hold, and do not score; the other clauses remain alternatives, of which one must match.
//! Conditions joined by `OR` are alternatives. So are a condition with `^` and conditions joined to words by
//! `OR`. In `size:(…)`, comparisons must all hold, and other values are alternatives.
//!
//! `lex.rs` splits the text into tokens, `suffix.rs` reads the numbers after clauses. `state.rs` keeps what
//! remains of them, `parser.rs` parses lists and groups, `leaves.rs` words and patterns, `values.rs` values
//! of columns, `score.rs` scores by columns, and `join.rs` joins.

mod clause;
#[cfg(test)]
mod condition_tests;
mod fault;
#[cfg(test)]
mod field_tests;
#[cfg(test)]
mod generated_tests;
mod join;
mod leaves;
mod lex;
mod parser;
mod score;
mod state;
mod suffix;
#[cfg(test)]
mod tests;
mod token;
mod values;

pub use parser::parse;
