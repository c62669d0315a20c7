//! Groups hits by the values of a column.

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
    /// The number of documents of the group.
    pub(super) count: u64,
    /// True for the first hit of the group.
    pub(super) is_head: bool,
}

/// The groups of `text`, which is a field and the number of hits of each group.
pub(super) fn groups(asked: &Asked<'_>, text: &str) -> Result<Groups> {
    let (name, hits) = text.split_once(':').unwrap_or((text, "1"));
    let hits = hits.parse::<usize>().ok().filter(|hits| *hits > 0);
    let hits =
        hits.with_context(|| format!("--group {text}: write FIELD, or FIELD:3 for three hits of each"))?;
    let keys = match &asked.args.page.sort {
        SortArg::Score => Vec::new(),
        SortArg::Fields(fields) => order::keys(asked.snapshot, fields)?,
        SortArg::Key | SortArg::KeyDown => {
            bail!("--group: the hits of groups can be sorted by score or columns")
        }
    };
    let field = fields::column(asked.snapshot, name)?.0;
    let by = GroupBy { field, keys, groups: asked.args.top, hits, missing: asked.args.columns.group_missing };
    Ok(asked.prepared.top_groups(asked.model, &by)?)
}
