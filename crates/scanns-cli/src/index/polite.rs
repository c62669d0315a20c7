//! `--polite`: limits for builds where other people work. Options that are given explicitly win.

use std::num::NonZeroU32;

use anyhow::{Context, Result};
use scanns::Snapshot;
use scanns::index::IndexOptions;

use crate::args::{ContentArg, IndexArgs, ResourceArgs};
use crate::report;
use crate::units;

/// Metadata operations per second: a server of a network file system answers many times as many.
const OPERATIONS: Option<NonZeroU32> = NonZeroU32::new(1000);

/// Memory.
const MEMORY: u64 = 256 << 20;

/// The limits of the threads and the memory.
pub fn resources(args: &IndexArgs) -> ResourceArgs {
    let given = args.resources;
    if !args.polite {
        return given;
    }
    ResourceArgs { threads: given.threads.or(Some(1)), memory: given.memory.or(Some(MEMORY)), ..given }
}

/// The limit of metadata operations of a scan of names and metadata.
pub fn max_ops(args: &IndexArgs) -> Option<NonZeroU32> {
    let scans_names = || match (&args.dump.dump, args.contents.content) {
        (Some(_), _) => false,
        (None, Some(content)) => matches!(content, ContentArg::None),
        // Then the index decides.
        (None, None) => {
            let index = args.output.output.as_ref().and_then(|path| Snapshot::open(path).ok());
            index.is_some_and(|index| index.schema().field("scanned").is_some())
        }
    };
    let is_wanted = args.polite && args.scan.max_ops.is_none() && scans_names();
    if is_wanted { OPERATIONS } else { args.scan.max_ops }
}

/// Lowers the priority of this process, and says which limits are in force.
pub fn begin(args: &IndexArgs, options: &IndexOptions) -> Result<()> {
    if !args.polite {
        return Ok(());
    }
    let nice = scanns::tuning::lower_priority().context("lower the priority of this process")?;
    let threads = |count: usize, what: &str| units::counted(count as u64, what);
    let mut limits = vec![
        format!("nice {nice}"),
        threads(options.source.threads, "thread that finds files"),
        threads(options.read.lanes, "index thread"),
        format!("at most {} of memory", units::size(options.memory)),
    ];
    if let Some(most) = options.scan.max_operations {
        limits.push(format!("at most {} metadata operations per second", units::count(most.get().into())));
    }
    if !args.output.quiet {
        report::note(&format!("polite: {}", limits.join(", ")));
    }
    Ok(())
}
