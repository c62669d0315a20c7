//! What the adapters for tantivy share: tokenizers that find the tokens of scanns, and queries.

pub mod parts;
pub mod queries;
pub mod terms;
pub mod words;
