//! What an index keeps of its documents beside what searching needs.

use clap::{Args, ValueEnum};
use scanns::schema::Compression;

/// What is kept of documents.
#[derive(Debug, Args)]
#[command(next_help_heading = "Stored documents")]
pub struct StoreArgs {
    /// Keep the text of documents, for scanns search --content [default: none, or what the index has]. An
    /// index has it from its first build on, or never
    #[arg(long, value_enum, value_name = "WHAT")]
    pub store: Option<StoreArg>,
    /// How stored documents and vectors are compressed: lz4 costs least time, zstd or zstd:LEVEL (1 to 19)
    /// takes less space, or none [default: lz4, or what the index was told last]
    #[arg(long, value_name = "CODEC", value_parser = compression)]
    pub compression: Option<Compression>,
    /// Keep the terms of each document with their places, in one piece, for scanns search --rm3 and --like,
    /// and for programs that compare documents; an index has vectors from its first build on, or never
    #[arg(long)]
    pub vectors: bool,
}

/// What is kept of the text of documents.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StoreArg {
    /// Nothing
    None,
    /// Where it is: it is read from its file again, as long as that has not changed
    Reference,
    /// All of it, compressed
    Content,
}

fn compression(name: &str) -> Result<Compression, String> {
    Compression::parse(name).map_err(|error| error.to_string())
}
