//! `scanns export`: the values of all hits, as CSV, JSON lines, Arrow or Parquet.
//!
//! Rows are written as they are found, some thousands at a time, or are sorted first for an order other
//! than index order. Either way values are read in index order, and memory does not grow with the number of
//! rows. The crate `scanns_export` does all of this, for the server, too. Here, `send.rs` sends rows to a
//! target of `target.rs`; text files can be resumed. `errors.rs` adds options to errors. `row_table.rs`
//! writes tables of other verbs.

mod errors;
#[cfg(feature = "arrow")]
pub mod row_table;
mod send;
pub mod target;

use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{Error, Result, anyhow, bail};
use scanns::columns::BatchField;
use scanns::search::Model;
use scanns::{Query, Snapshot};
use scanns_export::{KEY, RowKeys, RowOrder, Shape};
use serde_json::{Map, Value as Json, json};

use crate::args::{ExportArgs, ExportCompression, ExportFormat, SortArg};
use crate::indexes::Indexes;
use crate::progress::stop_flag;
use crate::report::{self, Outcome};
use crate::search::fields::kept;
use crate::search::{model, order};
use crate::units;
use target::{Target, is_stream};

/// Runs the verb.
pub fn run(args: &ExportArgs) -> Result<Outcome> {
    let export = Export::new(args)?;
    let stop = stop_flag()?;
    let is_text = matches!(export.format, ExportFormat::Csv | ExportFormat::Jsonl);
    // This is checked before anything is opened, so that an existing part is unchanged.
    if args.resume && (!is_text || is_stream(&args.output)) {
        bail!(
            "--resume is only for files of CSV and JSON lines: omit it, or write such a file with --output"
        );
    }
    let target = Target::open(&args.output, is_text, args.resume.then_some(&export.what))?;
    if target.before.rows > 0 {
        report::note(&format!("resuming after {} rows", units::count(target.before.rows)));
    }
    let sent = export.send(&target, &stop);
    match sent {
        Ok(sent) if sent.stopped => {
            let how = target.give_up().map(|how| format!("; {how}")).unwrap_or_default();
            report::note(&format!("stopped after {}{how}", units::counted(sent.rows, "row")));
            Ok(Outcome::Stopped)
        }
        Ok(sent) => {
            target.finish()?;
            let lacks = export.indexes.note_missing(&export.snapshot)?;
            if !target.is_stream() || io::stderr().is_terminal() {
                let (rows, seconds) = (units::counted(sent.rows, "row"), units::duration(report::seconds()));
                report::note(&format!("{rows} in {seconds}"));
            }
            if sent.rows == 0 {
                report::note("nothing matches the query");
                return Ok(Outcome::Nothing);
            }
            Ok(Outcome::Done.lacking(lacks))
        }
        Err(error) => {
            if let Some(how) = target.give_up() {
                report::note(&how);
            }
            Err(error)
        }
    }
}

/// The format for the extension of a path; CSV for standard output.
///
/// # Errors
/// The extension is not one of a format.
fn format_of(path: &Path) -> Result<ExportFormat> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(ExportFormat::Csv),
        Some("jsonl" | "json" | "ndjson") => Ok(ExportFormat::Jsonl),
        Some("arrow" | "feather") => Ok(ExportFormat::Arrow),
        Some("parquet") => Ok(ExportFormat::Parquet),
        // Standard output, a device or a pipe.
        _ if path.as_os_str() == "-" || path.metadata().is_ok_and(|found| !found.is_file()) => {
            Ok(ExportFormat::Csv)
        }
        _ => bail!(
            "{}: the name does not say the format: let it end in .csv, .jsonl, .arrow or .parquet, or give \
             --format",
            report::path_text(path)
        ),
    }
}

/// Refuses a format of Arrow if this build of the command does not have it.
pub fn must_be_built(is_of_arrow: bool) -> Result<()> {
    if cfg!(not(feature = "arrow")) && is_of_arrow { Err(not_built()) } else { Ok(()) }
}

/// The error for a format that this build of the command does not have.
fn not_built() -> Error {
    anyhow!(
        "this scanns was built without Arrow and Parquet: write CSV or JSON lines with --format, or build it \
         with the feature 'arrow'"
    )
}

/// The compression of the output.
fn compression(args: &ExportArgs, format: ExportFormat) -> Result<ExportCompression> {
    let wrong = |how: &str| Err(anyhow!("--compression: {how}; omit it, or choose another --format"));
    match (format, args.compression) {
        (ExportFormat::Csv | ExportFormat::Jsonl, Some(_)) => {
            wrong("text is not compressed, pipe it through gzip or zstd instead")
        }
        (ExportFormat::Arrow, Some(ExportCompression::Snappy)) => wrong("Arrow supports lz4, zstd and none"),
        (_, Some(how)) => Ok(how),
        (ExportFormat::Parquet, None) => Ok(ExportCompression::Zstd),
        (_, None) => Ok(ExportCompression::None),
    }
}

/// An export: what to write, and how.
struct Export<'a> {
    args: &'a ExportArgs,
    indexes: Indexes<'a>,
    snapshot: Snapshot,
    query: Query,
    /// The fields to read: one for each column of the output, then others that the order needs.
    fields: Vec<BatchField>,
    shapes: Vec<Shape>,
    order: Option<RowKeys>,
    /// The model, if hits must be scored.
    model: Option<Model>,
    format: ExportFormat,
    #[cfg_attr(not(feature = "arrow"), expect(dead_code, reason = "only Arrow and Parquet are compressed"))]
    compression: ExportCompression,
    /// What must be the same to resume an export.
    what: Map<String, Json>,
}

impl<'a> Export<'a> {
    fn new(args: &'a ExportArgs) -> Result<Self> {
        let format = args.format.map_or_else(|| format_of(&args.output), Ok)?;
        must_be_built(matches!(format, ExportFormat::Arrow | ExportFormat::Parquet))?;
        let compression = compression(args, format)?;
        let indexes = Indexes::new(&args.index, &args.query)?;
        let snapshot = indexes.open(&args.as_user)?;
        let operator = args.default_operator.into();
        let query = match indexes.words {
            [] => Query::All,
            words => snapshot.parse(&words.join(" "), operator)?,
        };
        let (mut fields, shapes) = columns(&snapshot, &args.fields)?;
        let order = args.sort.as_ref().map(|sort| row_order(&snapshot, sort)).transpose()?;
        let order = order
            .map(|order| RowKeys::new(&snapshot, &order, &mut fields))
            .transpose()
            .map_err(errors::told)?;
        let model = model(&args.model)?;
        let what = what(args, &snapshot, &query, &shapes, format, model)?;
        let model = order.as_ref().is_some_and(RowKeys::needs_scores).then_some(model);
        Ok(Export { args, indexes, snapshot, query, fields, shapes, order, model, format, compression, what })
    }
}

/// The requested order.
fn row_order(snapshot: &Snapshot, sort: &SortArg) -> Result<RowOrder> {
    Ok(match sort {
        SortArg::Score => RowOrder::Score,
        SortArg::Key => RowOrder::Key { descending: false },
        SortArg::KeyDown => RowOrder::Key { descending: true },
        SortArg::Fields(names) => RowOrder::Columns(order::keys(snapshot, names)?),
    })
}

/// Everything that determines the bytes of the output, by its name in errors.
fn what(
    args: &ExportArgs,
    snapshot: &Snapshot,
    query: &Query,
    shapes: &[Shape],
    format: ExportFormat,
    model: Model,
) -> Result<Map<String, Json>> {
    let names: Vec<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
    let segments = snapshot.segments().iter();
    let segments: Vec<_> = segments.map(|segment| format!("{} {}", segment.id, segment.deleted)).collect();
    let what = [
        ("the version of scanns", json!(env!("CARGO_PKG_VERSION"))),
        ("the index", json!([snapshot.fingerprint(), segments])),
        ("the query", json!(snapshot.query_json_in(&[], query)?)),
        ("--fields", json!(names)),
        ("--format", json!(format!("{format:?}"))),
        ("--sort", json!(format!("{:?}", args.sort))),
        ("--model", json!(format!("{model:?}"))),
    ];
    Ok(what.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The fields to read, and the columns of the output.
fn columns(snapshot: &Snapshot, names: &[String]) -> Result<(Vec<BatchField>, Vec<Shape>)> {
    let all = || {
        let kept = snapshot.schema().fields();
        let kept =
            kept.filter(|(field, entry)| (entry.column || entry.stored) && !snapshot.is_internal(*field));
        std::iter::once(KEY.into()).chain(kept.map(|(_, entry)| entry.name.clone())).collect()
    };
    let names: Vec<String> = if names.is_empty() { all() } else { names.to_vec() };
    let column = |name: String| {
        if name == KEY {
            return Ok((BatchField::Key, Shape::of_key()));
        }
        let field = kept(snapshot, &name)?;
        Ok((BatchField::Values(field), Shape::of_field(snapshot, field)))
    };
    Ok(names.into_iter().map(column).collect::<Result<Vec<_>>>()?.into_iter().unzip())
}
