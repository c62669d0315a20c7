//! Divides bytes into tokens, which are pushed into a sink a window at a time.
//!
//! Text comes in as a mutable slice (the standard analyzer lower-cases in place) and a range of it. Tokens
//! go out as offsets into the slice, for up to 4 KiB of text per call, so that both the text and the offsets
//! are in the first-level cache when the sink hashes them. Read `window.rs` first: bit masks of 64 bytes
//! become a list of alternating starts and ends. `arch/` computes the masks, one file per instruction set;
//! `standard.rs` is the Unicode analyzer with its fast paths for ASCII and (`bmp.rs`) for most scripts.
//! `finder.rs` has the stage that finds words.
//!
//! Longer chains put filters between this stage and the sink (`filter_chain.rs` chooses them): `rewrite.rs`
//! applies rules such as stemmers (`rules.rs`) to words and remembers the results, and `parts.rs` makes
//! several tokens of one. `sketch.rs` computes numbers of texts by which near-duplicates are found.

mod arch;
mod bmp;
mod byteset;
mod class;
mod class_table;
mod filter;
mod filter_chain;
mod finder;
mod fold;
mod grammar;
mod parts;
mod porter;
mod rewrite;
mod rules;
mod sink;
mod sketch;
mod standard;
mod stop;
mod tokenizer;
mod window;

pub(crate) use rules::spelling;
pub use sink::{ShortToken, TokenSink};
pub(crate) use sketch::DocumentSketch;
pub use tokenizer::Tokenizer;

#[cfg(test)]
mod tests;
