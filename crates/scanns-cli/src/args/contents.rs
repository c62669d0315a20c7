//! Options about the content of files, and about files that are not plain text.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::extract::ExtractLimitArgs;
use crate::units::parse_size;

/// What to do with files that are not plain text.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Content: binary, compressed and converted files")]
pub struct ContentArgs {
    /// What to index of files besides names and metadata [default: text, or as in the index]
    #[arg(long, value_enum)]
    pub content: Option<ContentArg>,
    /// Of which formats to find the text, if documents are files [default: all, or as in the index]
    #[arg(long, value_enum, value_name = "FORMATS")]
    pub extract: Option<ExtractArg>,
    #[command(flatten)]
    pub limits: ExtractLimitArgs,
    /// Keep what is found in documents such as PDF in this directory, and do not extract again what is in it;
    /// indexes may share it, users may not
    #[arg(long, value_name = "DIR")]
    pub extract_cache: Option<PathBuf>,
    /// The most disk space of --extract-cache; what was not used for the longest time goes first
    #[arg(long, value_name = "SIZE", default_value = "10GiB", value_parser = parse_size)]
    #[arg(requires = "extract_cache")]
    pub extract_cache_size: u64,
    /// What to do with the content of binary files: images, programs and others that are recognised by their
    /// first bytes [default: skip, or as in the index]
    #[arg(long, value_enum)]
    pub binary: Option<BinaryArg>,
    /// Do not decompress gzip, Zstandard, xz, bzip2, LZ4 and compress; compressed files are then binary
    #[arg(long)]
    pub no_decompress: bool,
    /// Find out in which language texts are that do not say so, for the field language: en, de, zh. This is
    /// done for files and for pages of web archives
    #[arg(long)]
    pub detect_language: bool,
    /// Store a sketch of the text of each document, 8 bytes, by which search --collapse shows near-duplicates
    /// once. Documents must be files or records, not lines; only the first build of an index can choose this,
    /// and programs cannot add documents to the index
    #[arg(long)]
    pub near_duplicates: bool,
    /// The character encoding of text that is not valid UTF-8 [default: auto, or as in the index]
    #[arg(long, value_enum)]
    pub encoding: Option<EncodingArg>,
}

/// What to index of files.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ContentArg {
    /// The text of files
    Text,
    /// Nothing: no file is opened, and directories, links and special files are documents too
    None,
}

/// The formats of files whose text is found.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExtractArg {
    /// None: web pages are indexed with their tags, and archives and documents are binary files
    None,
    /// Web pages, and the members of archives (tar, zip, cpio, ar), each a document of its own
    Safe,
    /// Also PDF, office documents, and the headers of scientific files and images; other people's parsers
    /// read them, in processes that cannot write and have no network
    All,
}

/// What to do with binary files.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BinaryArg {
    /// Index the name and the metadata, and count the file
    Skip,
    /// Index every byte as text
    Text,
}

/// How text is encoded.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum EncodingArg {
    /// Recognise UTF-16 and older encodings such as windows-1252, and convert them
    Auto,
    /// Take every text for UTF-8
    #[value(name = "utf-8")]
    Utf8,
}
