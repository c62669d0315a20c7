//! Options about what an index stores of its documents beyond the needs of searching.

use clap::{Args, ValueEnum};
use scanns::schema::Compression;

/// What to store of documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Stored documents")]
pub struct StoreArgs {
    /// Store the text of documents, for scanns search --content; cannot be changed for an existing index
    /// [default: content for records of JSON and CSV, else none; or as in the index]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub store: Option<StoreArg>,
    /// Compression of stored documents and vectors: lz4 takes the least time, zstd or zstd:LEVEL (1 to 19)
    /// less space, none does not compress [default: lz4, or the last choice for the index]
    #[arg(long, value_name = "CODEC", value_parser = compression)]
    pub compression: Option<Compression>,
    /// Store the terms of each document together, with their positions, for scanns search --rm3 and --like,
    /// and for programs that compare documents; vectors cannot be added to an existing index
    #[arg(long)]
    pub vectors: bool,
}

/// What to store of the text of documents.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StoreArg {
    /// Nothing
    None,
    /// Its location; the text is read from its file again, if that has not changed
    Reference,
    /// The whole text, compressed
    Content,
}

fn compression(name: &str) -> Result<Compression, String> {
    Compression::parse(name).map_err(|error| error.to_string())
}
