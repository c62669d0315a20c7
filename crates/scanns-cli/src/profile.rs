//! Profiles: the TOML files that `scanns tune` writes and `scanns index --profile` reads.
//!
//! Only `[parameters]` takes effect; its keys are the names of options of `scanns index`. The other tables
//! document the origin of the profile. Users may edit profiles, so every mistake is reported.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use scanns::sources::PageSize;
use scanns::tuning::Profile;
use serde::Deserialize;

use crate::args::PageArg;
use crate::report;
use crate::units;
use crate::whole_file;

/// The format that this program reads and writes.
const FORMAT: i64 = 1;

/// The parameters of a profile; `None` for the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters {
    pub read_threads: Option<usize>,
    pub index_threads: Option<usize>,
    /// In bytes.
    pub block_size: Option<u64>,
    pub blocks: Option<usize>,
    pub queue_depth: Option<usize>,
    pub arena_page: Option<PageArg>,
}

/// The file as TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "format")]
    _format: i64,
    parameters: Table,
    #[serde(default, rename = "measured")]
    _measured: toml::Table,
    #[serde(default, rename = "machine")]
    _machine: toml::Table,
}

/// The parameters as TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    read_threads: Option<usize>,
    index_threads: Option<usize>,
    block_size: Option<String>,
    blocks: Option<usize>,
    queue_depth: Option<usize>,
    arena_page: Option<String>,
}

/// Reads the parameters of the profile at `path`.
///
/// # Errors
/// The file cannot be read, was written by a newer version, or has invalid content.
pub fn read(path: &Path) -> Result<Parameters> {
    let text = fs::read_to_string(path).with_context(|| {
        format!("cannot read the profile {}; scanns tune writes one", report::path_text(path))
    })?;
    parse(&text).with_context(|| format!("the profile {}", report::path_text(path)))
}

fn parse(text: &str) -> Result<Parameters> {
    let table: toml::Table = text.parse().context("it is not valid TOML")?;
    // This comes first, since a newer format may have other keys.
    match table.get("format").and_then(toml::Value::as_integer) {
        Some(FORMAT) => {}
        Some(newer) if newer > FORMAT => {
            bail!(
                "it has format {newer}, but this program reads format {FORMAT}: use a newer scanns, or \
                 run scanns tune"
            )
        }
        _ => bail!("it has no line 'format = {FORMAT}', so it is not a profile: scanns tune writes one"),
    }
    let document: Document = toml::from_str(text).context("a key is unknown or has a wrong value")?;
    checked(&document.parameters)
}

fn checked(table: &Table) -> Result<Parameters> {
    let positive = |name: &str, value: Option<usize>, least: usize| {
        ensure!(value.is_none_or(|value| value >= least), "{name} must be at least {least}");
        Ok(value)
    };
    let block_size = table.block_size.as_deref().map(units::parse_size).transpose();
    let block_size = block_size.map_err(anyhow::Error::msg).context("block-size")?;
    let possible = |size: u64| size.is_multiple_of(4096) && (256 << 10..=1 << 30).contains(&size);
    ensure!(
        block_size.is_none_or(possible),
        "block-size must be a multiple of 4KiB from 256KiB to 1GiB, such as \"1MiB\""
    );
    let page = |name: &String| {
        PageArg::from_str(name, true)
            .map_err(|_| anyhow::anyhow!("arena-page must be auto, 4KiB or 2MiB, not {name}"))
    };
    let (read, index) = (table.read_threads, table.index_threads);
    if let (Some(read), Some(index)) = (read, index) {
        ensure!(
            read > 0 && index > 0 && index.is_multiple_of(read),
            "index-threads must be a multiple of read-threads, but {index} is not a multiple of {read}"
        );
    }
    Ok(Parameters {
        read_threads: positive("read-threads", read, 1)?,
        index_threads: positive("index-threads", index, 1)?,
        block_size,
        blocks: positive("blocks", table.blocks, 2)?,
        queue_depth: positive("queue-depth", table.queue_depth, 1)?,
        arena_page: table.arena_page.as_ref().map(page).transpose()?,
    })
}

/// The name of a page size in profiles.
pub fn page_name(pages: PageSize) -> &'static str {
    match pages {
        PageSize::Auto => "auto",
        PageSize::Base => "4KiB",
        PageSize::Huge => "2MiB",
    }
}

/// The profile as text; `measured` and `machine` only inform its readers.
pub fn text(profile: &Profile, measured: &toml::Table, machine: &toml::Table) -> String {
    let Profile { read_threads, index_threads, block_bytes, blocks, queue_depth, pages } = profile;
    let page = page_name(*pages);
    let kib = block_bytes >> 10;
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "\
# Parameters that suit this machine and data, found by scanns tune {version}. To use them:
#   scanns index --profile THIS-FILE -o NAME.scanns PATH
# Options on the command line override this file. Omitted parameters have their defaults.
format = {FORMAT}

[parameters]
# Number of read threads. Each serves the same number of index threads.
read-threads = {read_threads}
# Number of index threads, a multiple of the read threads.
index-threads = {index_threads}
# Bytes per read, a multiple of 4KiB.
block-size = \"{kib}KiB\"
# Blocks per index thread.
blocks = {blocks}
# Concurrent reads per index thread, when large files are read past the page cache.
queue-depth = {queue_depth}
# Size of the pages for blocks, terms and postings: auto, 4KiB or 2MiB.
arena-page = \"{page}\"

# The measurements, for information only; scanns index ignores them.
{}
# The machine. On another machine, run scanns tune again.
{}",
        section("measured", measured),
        section("machine", machine)
    )
}

/// A document with one named table.
fn section(name: &str, table: &toml::Table) -> toml::Table {
    toml::Table::from_iter([(name.to_string(), toml::Value::Table(table.clone()))])
}

/// Replaces the file at `path` with `text`, as a whole or not at all.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
    whole_file::replace(path, text.as_bytes())
        .with_context(|| format!("cannot write the profile {}", report::path_text(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(parameters: &str) -> Result<Parameters> {
        parse(&format!("format = 1\n[parameters]\n{parameters}\n"))
    }

    #[test]
    fn a_profile_that_was_written_reads_back() {
        for (block_bytes, pages) in
            [(256 << 10, PageSize::Auto), (4096 * 65, PageSize::Base), (8 << 20, PageSize::Huge)]
        {
            let profile =
                Profile { read_threads: 2, index_threads: 6, block_bytes, blocks: 8, queue_depth: 7, pages };
            let told: toml::Table = "date = 'today'\nnested.rate = 1.5".parse().unwrap();
            let read = parse(&text(&profile, &told, &told)).unwrap();
            assert_eq!((read.read_threads, read.index_threads), (Some(2), Some(6)));
            assert_eq!((read.block_size, read.blocks), (Some(block_bytes as u64), Some(8)));
            assert_eq!((read.queue_depth, read.arena_page.map(PageSize::from)), (Some(7), Some(pages)));
        }
    }

    #[test]
    fn what_is_left_out_is_the_default() {
        let read = with("blocks = 5").unwrap();
        assert!(read.blocks == Some(5) && read.queue_depth.is_none() && read.arena_page.is_none());
        assert!(with("").is_ok());
    }

    #[test]
    fn every_mistake_is_named() {
        for (parameters, hint) in [
            ("threads = 3", "unknown field `threads`"),
            ("blocks = 1", "blocks must be at least 2"),
            ("blocks = -1", "blocks"),
            ("blocks = 'many'", "blocks"),
            ("queue-depth = 0", "queue-depth must be at least 1"),
            ("read-threads = 0", "read-threads must be at least 1"),
            ("index-threads = 0", "index-threads must be at least 1"),
            ("read-threads = 2\nindex-threads = 3", "3 is not a multiple of 2"),
            ("read-threads = 0\nindex-threads = 0", "index-threads"),
            ("block-size = 4096", "block-size"),
            ("block-size = 'big'", "512MiB"),
            ("block-size = '4KiB'", "from 256KiB"),
            ("block-size = '257000'", "multiple of 4KiB"),
            ("arena-page = '1GiB'", "auto, 4KiB or 2MiB, not 1GiB"),
            ("blocks = 4\nblocks = 5", "not valid TOML"),
            ("[more]", "unknown field `more`"),
        ] {
            let error = format!("{:#}", with(parameters).unwrap_err());
            assert!(error.contains(hint), "{parameters}: {error}");
        }
        for (text, hint) in [
            ("", "no line 'format = 1'"),
            ("format = 'one'", "no line 'format = 1'"),
            ("format = 0", "no line 'format = 1'"),
            ("format = 2\nnew = 1", "use a newer scanns"),
            ("format = 1", "missing field `parameters`"),
            ("format = 1 parameters", "not valid TOML"),
            ("\u{0}", "not valid TOML"),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(hint), "{text}: {error}");
        }
    }

    #[test]
    fn a_profile_is_replaced_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.toml");
        write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let error = write(&dir.path().join("none/p.toml"), "new").unwrap_err().to_string();
        assert!(error.contains("none/p.toml"), "{error}");
    }
}
