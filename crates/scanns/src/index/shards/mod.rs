//! Several indexes in other processes or on other machines, searched as one.
//!
//! A [`Shard`] answers messages about the index that it has opened. A [`ShardSet`] knows what all shards
//! have, and a [`ShardSearch`] says which message to send to each of them and puts the answers together.
//! How messages travel is left to the program.
//!
//! The first round of a search collects integers: the sizes of fields, the figures of terms, and the terms
//! near fuzzy words. Their sums go out in the second round, so each shard scores as a single index with all
//! documents would; best hits, counts, and sums that can be added up come back. What is nested in facets,
//! and the hits of groups, takes a further round for each level; the texts of the hits of the page take one,
//! too. Hits, scores, ties and sums are the same to the last digit as those of a single index with the
//! documents of all shards, in the order of the shards.
//!
//! `wire.rs` is the encoding of messages and its version, `message.rs` their content. `shard.rs` answers,
//! `shard_set.rs` asks, `search.rs` runs the rounds, and `merge.rs` puts hits and groups together.

mod merge;
mod message;
mod search;
mod shard;
mod shard_set;
mod wire;

pub use message::{ShardOrder, ShardShow, ShardShown, ShardSnippets};
pub use search::{MissingShard, ShardAnswer, ShardGroup, ShardGroups, ShardHit, ShardSearch};
pub use shard::Shard;
pub use shard_set::{ShardQuery, ShardSet};
pub use wire::MESSAGE_VERSION;
