//! scanns: indexing and search for data that outgrew `find` and `grep`.
//!
//! Data flows one way, and the modules are listed in its order: a *source* says which inputs exist, *read*
//! brings their bytes into blocks, *record* finds the documents, *tokenize* the terms, *invert* turns them
//! into postings in memory, *segment* writes those as one immutable file, *index* keeps a set of segments
//! durable, *search* answers ranked queries over a snapshot. A module imports only modules above it.

mod error;

mod sys;

mod codec;

mod schema;

mod search;

pub use error::{Error, Result};
pub use schema::{Analyzer, Delimiters, Records};
