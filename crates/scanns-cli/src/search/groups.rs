//! Hits by the values of a column.

use anyhow::{Context, Result, bail};
use scanns::aggregate::{GroupBy, Groups};
use scanns::schema::Value;

use super::fields;
use super::order;
use super::page::Asked;
use crate::args::SortArg;

/// The group that a hit is shown in.
#[derive(Clone, Copy)]
pub(super) struct Grouped<'a> {
    pub(super) value: Option<&'a Value>,
    /// Documents of the group.
    pub(super) count: u64,
    /// True of its first hit.
    pub(super) is_head: bool,
}

/// The groups that `text` asks for: a field, and how many hits of each.
pub(super) fn groups(asked: &Asked<'_>, text: &str) -> Result<Groups> {
    let (name, hits) = text.split_once(':').unwrap_or((text, "1"));
    let hits = hits.parse::<usize>().ok().filter(|hits| *hits > 0);
    let hits =
        hits.with_context(|| format!("--group {text}: write FIELD, or FIELD:3 for three hits of each"))?;
    let keys = match &asked.args.page.sort {
        SortArg::Score => Vec::new(),
        SortArg::Fields(fields) => order::keys(asked.snapshot, fields)?,
        SortArg::Key | SortArg::KeyDown => bail!("--group: hits of groups are sorted by score or by columns"),
    };
    let field = fields::column(asked.snapshot, name)?.0;
    let by = GroupBy { field, keys, groups: asked.args.top, hits, missing: asked.args.columns.group_missing };
    Ok(asked.prepared.top_groups(asked.model, &by)?)
}
