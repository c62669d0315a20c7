//! `scanns index`: turns arguments into options, runs the build, and reports the outcome of every input.

mod changes;
pub mod contents;
mod detect_records;
mod document_kind;
pub mod dumps;
mod polite;
mod preview;
mod scans;
pub mod snapshot;
mod summary;
mod threads;
mod versions;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use scanns::Index;
use scanns::index::{IndexOptions, IndexReport, Progress};
use scanns::schema::{Analyzer, Delimiters, Postings, Store};
use scanns::sources::{
    ColumnMap, CsvTable, Direct, DumpFormat, DumpOptions, FileList, ListFrom, MapView, PageSize, ReadOptions,
    ScanSettings, Separator, SourceOptions, TableDump,
};
use scanns::writer::StoredOptions;

use crate::args::{
    CommitEvery, DUMPS_HELP, DirectArg, DumpArgs, IndexArgs, InputArgs, ReadArgs, RecordsArg, ScanArgs,
    StoreArg, StoreArgs, TextArgs,
};
use crate::output::Output;
use crate::profile::{self, Parameters};
use crate::progress;
use crate::records;
use crate::report::{self, Outcome};
use document_kind::{DocumentKind, kind_of_documents};
pub use summary::{failure_json, list_failures, list_remarks, list_some_failures};
use summary::{print_json, print_summary};
use threads::threads;
pub use threads::{Threads, default_threads};

/// Runs the verb.
pub fn run(args: &IndexArgs) -> Result<Outcome> {
    if let Some(kept) = snapshot::keep_alone(args, path(args))? {
        return Ok(kept);
    }
    snapshot::warn_of_snapshots(args);
    let options = options(args)?;
    if let Some(to) = &args.fields.infer_schema {
        return records::infer(&options, to);
    }
    if let (Some(most), Some(dump)) = (args.dump.dump_preview, &options.dump) {
        return preview::preview(dump, most);
    }
    polite::begin(args, &options)?;
    let cancel = progress::stop_flag()?;
    let state = Progress::default();
    let output = path(args);
    let built =
        progress::during(&state, !args.output.quiet, || Index::at(output).build(&options, &state, &cancel));
    let mut built = match built {
        Err(error @ scanns::Error::Cancelled) => {
            report::note(&error.to_string());
            return Ok(Outcome::Stopped);
        }
        built => built?,
    };
    built.seconds = report::seconds();
    print(args, &options, &built)?;
    Ok(outcome(&built))
}

/// Prints the report of a build.
pub fn print(args: &IndexArgs, options: &IndexOptions, built: &IndexReport) -> Result<()> {
    let output = path(args);
    let committed = || format!("{} is complete and committed", report::path_text(output));
    if args.output.json {
        print_json(output, built, contents::cache_json(options)).with_context(committed)?;
    } else {
        if !args.output.quiet {
            print_summary(output, built).with_context(committed)?;
        }
        list_failures(&built.failed);
        list_remarks(&built.remarks);
        contents::list_cache(options, !args.output.quiet);
        snapshot::list_failure(output, built);
        scans::list(built.scan.as_ref());
        scans::list_undecided(&built.undecided_access);
        if !args.output.quiet {
            scans::list_unused(&built.unused_globs, &args.input.exclude);
        }
        scans::list_rule_faults(&built.rule_faults);
        changes::list(built.changes.as_ref());
        dumps::list(&built.dumps);
        if !args.output.quiet {
            dumps::list_lacking(&built.dumps);
        }
        dumps::list_repeated(built);
        dumps::list_mixed(built);
        records::list_conflicts(&built.records);
        records::list_unforeseen(&built.records);
        records::list_malformed(&built.records);
    }
    Ok(())
}

/// Says what was odd about the rules by which files were chosen.
pub fn list_listing(listing: &IndexReport, exclude: &[String]) {
    scans::list_unused(&listing.unused_globs, exclude);
    scans::list_rule_faults(&listing.rule_faults);
}

/// Prints which dumps can be indexed.
pub fn print_dump_help() -> Result<Outcome> {
    let mut out = Output::stdout();
    writeln!(out, "{}", DUMPS_HELP.trim_start())?;
    out.flush()?;
    Ok(Outcome::Done)
}

/// How a build ended.
pub fn outcome(built: &IndexReport) -> Outcome {
    if built.cancelled {
        report::note(
            "stopped; what was indexed so far is committed, and the same command resumes from there",
        );
        Outcome::Stopped
    } else if built.failed.is_empty()
        && !built.dumps.iter().any(|dump| dump.is_lossy() || dump.tally.unread > 0)
        && built.changes.as_ref().is_none_or(|changes| changes.tally.lost() == 0)
        && !built.records.is_lossy(built.documents)
        && !records::has_serious_conflicts(&built.records)
        && built.snapshot_failure.is_none()
    {
        Outcome::Done
    } else {
        Outcome::WithFailures
    }
}

/// The path of the index; empty for --infer-schema, which needs none.
fn path(args: &IndexArgs) -> &Path {
    args.output.output.as_deref().unwrap_or(Path::new(""))
}

/// The options of the library for these arguments.
pub fn options(args: &IndexArgs) -> Result<IndexOptions> {
    let parameters = args.profile.as_deref().map(profile::read).transpose()?.unwrap_or_default();
    let resources = polite::resources(args);
    let threads = threads(&resources, &args.reading, &parameters)?;
    let finders = if args.polite { threads.read } else { threads.read + threads.index };
    let mut source = source(&args.input, finders);
    let DocumentKind { records, are_whole } = kind_of_documents(args, &source, path(args))?;
    contents::check_languages(&args.contents, records)?;
    let changes = changes::options(&args.scan, &mut source.paths)?;
    Ok(IndexOptions {
        source,
        dump: dump(&args.dump, &args.input, args.output.quiet)?,
        scan: scan(args)?,
        changes,
        read: ReadOptions { tables: contents::tables(), ..reading(&args.reading, threads, &parameters)? },
        records,
        fields: records::fields(&args.fields, args.text.records == Some(RecordsArg::Tsv), records)?,
        analyzer: analyzer(&args.text)?,
        postings: postings(&args.text),
        stored: stored(&args.storing),
        memory: resources.memory.unwrap_or_else(default_memory),
        segment_memory: resources.segment_memory,
        buffers: scanns::writer::FlushBuffers::default(),
        merge: Some(scanns::writer::MergePolicy {
            rate: args.keeping.merge_rate,
            ..scanns::writer::MergePolicy::default()
        }),
        contents: contents::contents(&args.contents, are_whole)?,
        extractors: Some(contents::cached_extractors(&args.contents, threads.index)?),
        again: args.keeping.reindex,
        keep_removed: args.keeping.keep_removed,
        commit_every: args.keeping.commit_every.iter().find_map(|every| match every {
            CommitEvery::Time(time) => Some(*time),
            CommitEvery::Bytes(_) => None,
        }),
        commit_bytes: args.keeping.commit_every.iter().find_map(|every| match every {
            CommitEvery::Bytes(bytes) => Some(*bytes),
            CommitEvery::Time(_) => None,
        }),
        time_limit: args.keeping.time_limit,
        snapshot: args.output.snapshot.clone(),
    })
}

/// Half of the memory that this process may use, or 1 GiB if that is unknown.
pub fn default_memory() -> u64 {
    scanns::tuning::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2)
}

/// The inputs of a build.
pub fn source(args: &InputArgs, threads: usize) -> SourceOptions {
    let files_from = args.files_from.as_ref().map(|path| FileList {
        from: if path.as_os_str() == "-" { ListFrom::Stdin } else { ListFrom::Path(path.clone()) },
        separator: if args.null { Separator::Nul } else { Separator::Auto },
    });
    SourceOptions {
        paths: args.paths.clone(),
        files_from,
        follow_symlinks: args.follow,
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        skip_hidden: args.skip_hidden,
        gitignore: args.gitignore,
        threads,
        ..SourceOptions::default()
    }
}

/// The dumps to import instead of the inputs.
fn dump(args: &DumpArgs, input: &InputArgs, quiet: bool) -> Result<Option<DumpOptions>> {
    let Some(name) = &args.dump else { return Ok(None) };
    let InputArgs { paths, files_from, null: _, follow, include, exclude, gitignore, skip_hidden } = input;
    let chooses = !include.is_empty() || !exclude.is_empty() || *gitignore || *skip_hidden;
    if files_from.is_some() || *follow || chooses {
        bail!(
            "--dump takes all entries of the dump: leave --files-from, --follow, --include, --exclude, \
               --gitignore and --skip-hidden out"
        );
    }
    let mut map = ColumnMap::default();
    for entries in &args.map {
        map = map.with(ColumnMap::parse(entries).map_err(|error| anyhow!("--map: {error}"))?);
    }
    let is_table = !map.is_empty() || args.dump_no_header;
    let format = match (name.as_str(), args.dump_format.as_deref()) {
        ("auto", None) if is_table => DumpFormat::Table(TableDump::default()),
        ("auto", None) => DumpFormat::Detect,
        ("auto", details) => DumpFormat::named("find", details).map_err(anyhow::Error::msg)?,
        (name, details) => DumpFormat::named(name, details).map_err(anyhow::Error::msg)?,
    };
    let format = match format {
        DumpFormat::Table(table) => {
            let csv = CsvTable { no_header: args.dump_no_header, ..table.csv };
            DumpFormat::Table(TableDump { map, csv, ..table })
        }
        _ if is_table => bail!("--map and --dump-no-header are for tables: csv, tsv, jsonl, parquet, arrow"),
        format => format,
    };
    let show: fn(&Path, &MapView) = if quiet { preview::show_unused } else { preview::show_map };
    let (tables, show_map) = (preview::tables(), Some(show));
    let (files, root, without_acls) = (paths.clone(), args.dump_root.clone(), args.dump_no_acls);
    Ok(Some(DumpOptions { files, format, root, without_acls, tables, show_map }))
}

/// How file systems are scanned.
fn scan(args: &IndexArgs) -> Result<ScanSettings> {
    let ScanArgs { one_file_system, pseudo, snapshots, lazy, xattrs, acl, .. } = args.scan;
    let max_ops = polite::max_ops(args);
    let settings =
        ScanSettings { one_file_system, pseudo, snapshots, max_operations: max_ops, lazy, xattrs, acl };
    if args.dump.dump.is_some() && settings != ScanSettings::default() {
        bail!(
            "--dump scans nothing: leave -x, --pseudo, --snapshots, --max-ops, --lazy, --xattrs and --acl out"
        );
    }
    Ok(settings)
}

/// What to store of a term in a document, if requested.
pub fn postings(args: &TextArgs) -> Option<Postings> {
    match (args.offsets, args.positions) {
        (true, _) => Some(Postings::Offsets),
        (false, true) => Some(Postings::Positions),
        (false, false) => None,
    }
}

/// What to store of documents, if requested.
fn stored(args: &StoreArgs) -> StoredOptions {
    let store = args.store.map(|store| match store {
        StoreArg::None => Store::None,
        StoreArg::Reference => Store::Reference,
        StoreArg::Content => Store::Content,
    });
    StoredOptions { store, compression: args.compression, vectors: args.vectors.then_some(true) }
}

/// The analyzer, if requested.
pub fn analyzer(args: &TextArgs) -> Result<Option<Analyzer>> {
    Ok(match (&args.delimiters, &args.analyzer) {
        (Some(spec), _) => Some(Analyzer::Bytes(Delimiters::parse(spec)?)),
        (None, Some(analyzer)) => Some(analyzer.clone()),
        (None, None) => None,
    })
}

/// How to read: as on the command line, else as in the profile, else by default.
fn reading(args: &ReadArgs, threads: Threads, profile: &Parameters) -> Result<ReadOptions> {
    let default = ReadOptions::default();
    let block_size = args.block_size.or(profile.block_size).map(usize::try_from).transpose()?;
    Ok(ReadOptions {
        read_threads: threads.read,
        lanes: threads.index,
        block_bytes: block_size.unwrap_or(default.block_bytes),
        blocks_per_lane: args.blocks.or(profile.blocks).unwrap_or(default.blocks_per_lane),
        queue_depth: args.queue_depth.or(profile.queue_depth).unwrap_or(default.queue_depth),
        chunk_bytes: args.chunk_size,
        direct: match args.direct {
            DirectArg::Auto => Direct::Auto,
            DirectArg::Always => Direct::Always,
            DirectArg::Never => Direct::Never,
        },
        drop_behind: args.drop_cache,
        uring: !args.no_uring,
        pin: !args.no_pin,
        pages: args.arena_page.or(profile.arena_page).map_or(default.pages, PageSize::from),
        ..default
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::bail;
    use clap::Parser;
    use scanns::schema::Records;

    use super::*;
    use crate::args::{Command, Verb};

    /// The options of `scanns index -o x` followed by `more`.
    fn parsed(more: &[&str]) -> Result<IndexOptions> {
        let start = ["scanns", "index", "-o", "/nonexistent/x.scanns"];
        let Verb::Index(args) = Command::try_parse_from(start.iter().chain(more))?.verb else {
            bail!("another verb");
        };
        options(&args)
    }

    #[test]
    fn threads_are_shared_out_as_the_help_says() {
        for (more, read, index) in [
            (&["--threads", "1"][..], 1, 1),
            (&["--threads", "4"], 1, 4),
            (&["--threads", "7"], 1, 7),
            (&["--threads", "8"], 2, 8),
            (&["--threads", "64"], 16, 64),
            (&["--threads", "10"], 2, 10),
            (&["--threads", "8", "--read-threads", "3"], 3, 6),
            (&["--threads", "2", "--read-threads", "3"], 3, 3),
            (&["--index-threads", "12"], 3, 12),
            (&["--read-threads", "2", "--index-threads", "6"], 2, 6),
        ] {
            let options = parsed(&[&["."], more].concat()).unwrap();
            assert_eq!((options.read.read_threads, options.read.lanes), (read, index), "{more:?}");
        }
    }

    #[test]
    fn index_threads_that_cannot_be_shared_out_are_refused_with_the_nearest_that_can() {
        let error = parsed(&[".", "--read-threads", "4", "--index-threads", "6"]).err().unwrap().to_string();
        assert!(error.contains("give 4 or 8"), "{error}");
        let error = parsed(&[".", "--read-threads", "4", "--index-threads", "3"]).err().unwrap().to_string();
        assert!(error.contains("at least one"), "{error}");
    }

    #[test]
    fn every_option_arrives() {
        let options = parsed(&[
            "a",
            "b",
            "--files-from",
            "-",
            "-0",
            "--follow",
            "--include",
            "*.c",
            "--exclude",
            "*.o",
            "--records",
            "lines",
            "--delimiters",
            "\\s,",
            "--memory",
            "1.5g",
            "--block-size",
            "2MiB",
            "--blocks",
            "5",
            "--queue-depth",
            "9",
            "--chunk-size",
            "32m",
            "--direct",
            "always",
            "--drop-cache",
            "--no-uring",
            "--no-pin",
            "--skip-hidden",
            "--arena-page",
            "4KiB",
            "--commit-every",
            "2m",
            "--commit-every",
            "10GiB",
        ])
        .unwrap();
        let source = &options.source;
        assert_eq!(source.paths, [Path::new("a"), Path::new("b")]);
        let list = source.files_from.as_ref().unwrap();
        assert!(matches!(list.from, ListFrom::Stdin) && matches!(list.separator, Separator::Nul));
        assert!(
            source.follow_symlinks
                && source.skip_hidden
                && source.include == ["*.c"]
                && source.exclude == ["*.o"]
        );
        assert_eq!(options.records, Records::Lines);
        assert_eq!(options.analyzer, Some(Analyzer::Bytes(Delimiters::new(b" \t\n\x0b\x0c\r,"))));
        assert_eq!(options.memory, 3 << 29);
        assert_eq!(
            (options.commit_every, options.commit_bytes),
            (Some(Duration::from_secs(120)), Some(10 << 30))
        );
        let read = &options.read;
        assert_eq!((read.block_bytes, read.blocks_per_lane, read.queue_depth), (2 << 20, 5, 9));
        assert_eq!(read.chunk_bytes, 32 << 20);
        assert!(matches!(read.direct, Direct::Always) && matches!(read.pages, PageSize::Base));
        assert!(read.drop_behind && !read.pin && !read.uring);
    }

    #[test]
    fn defaults_in_the_help_are_those_of_the_library() {
        let read = parsed(&["."]).unwrap().read;
        let default = ReadOptions {
            read_threads: read.read_threads,
            lanes: read.lanes,
            tables: read.tables.clone(),
            ..ReadOptions::default()
        };
        assert_eq!(format!("{read:?}"), format!("{default:?}"));
    }

    #[test]
    fn the_command_line_wins_over_the_profile_and_the_profile_over_the_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.toml");
        let parameters = "read-threads = 3\nindex-threads = 6\nblock-size = '2MiB'\nqueue-depth = 8\n\
                          arena-page = '2MiB'\n";
        std::fs::write(&path, format!("format = 1\n[parameters]\n{parameters}")).unwrap();
        let path = path.to_str().unwrap();
        let of = |more: &[&str]| {
            let read = parsed(&[&[".", "--profile", path], more].concat()).unwrap().read;
            let threads = (read.read_threads, read.lanes);
            (threads, read.block_bytes >> 20, read.blocks_per_lane, read.queue_depth, read.pages)
        };
        assert_eq!(of(&[]), ((3, 6), 2, 4, 8, PageSize::Huge));
        let more = ["--block-size", "4MiB", "--blocks", "9", "--queue-depth", "1", "--arena-page", "auto"];
        assert_eq!(of(&more), ((3, 6), 4, 9, 1, PageSize::Auto));
        assert_eq!(of(&["--threads", "8"]).0, (2, 8));
        assert_eq!(of(&["--index-threads", "4"]).0, (1, 4));
        assert_eq!(of(&["--threads", "4", "--read-threads", "2"]).0, (2, 4));
    }

    #[test]
    fn nothing_to_index_and_contradictions_are_usage_errors() {
        for more in [
            &[][..],
            &["-0", "."],
            &[".", "--analyzer", "paths", "--delimiters", ","],
            &[".", "--threads", "0"],
            &[".", "--memory", "lots"],
            &[".", "--delimiters", ""],
        ] {
            assert!(parsed(more).is_err(), "{more:?}");
        }
    }
}
