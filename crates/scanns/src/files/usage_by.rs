//! The space that entries take, summed up by a value instead of by directory.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::entries::EntryReader;
use super::indexed_path::indexed_path;
use super::order::walk_order;
use super::report::{AGE_CLASSES, LinkedKey, age_class, extension, linked_key};
use super::select::below;
use super::usage::{UsageReport, device_of, lacks_sizes, measured};
use super::usage_exclude::ExcludedPaths;
use super::usage_sum::UsageOptions;
use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::source::{Entry, EntryKind, is_at_or_below};

/// A value by which entries are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageKey {
    /// The name of the owner, or its number.
    Owner,
    /// The name of the group, or its number.
    Group,
    /// The extension of a file, in lower case. Other entries have none.
    Extension,
    /// The class of the time since the last modification, see [`AGE_CLASSES`].
    Age {
        /// The current time in nanoseconds since 1970.
        now: i64,
    },
    /// The type.
    Type,
}

/// The sum of the entries with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageSumOf {
    /// The value; `None` for entries without one.
    pub value: Option<Vec<u8>>,
    /// The sum, in bytes or entries.
    pub sum: u64,
}

/// Sums up what is at and below `paths` by a value, the greatest sum first. An entry below several of the
/// paths counts once. Of the options, those about lines do not matter.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if the documents are not files with metadata; the errors
/// of reading.
pub fn usage_by(
    snapshot: &Snapshot,
    paths: &[Vec<u8>],
    options: UsageOptions,
    key: UsageKey,
) -> Result<(Vec<UsageSumOf>, UsageReport)> {
    let reader = EntryReader::new(snapshot)?;
    let measure = options.measure;
    let mut usage = UsageByValue::new(options, key);
    if lacks_sizes(&reader, measure)? {
        usage.report.has_no_sizes = true;
        return Ok(usage.end());
    }
    for path in paths {
        usage.start_point(&reader, path)?;
    }
    Ok(usage.end())
}

/// A file with several names: the first of them, the value and the sum.
#[derive(Debug)]
struct LinkedUsage {
    path: Vec<u8>,
    value: Option<Vec<u8>>,
    sum: u64,
}

/// Sums up entries.
#[derive(Debug)]
struct UsageByValue {
    options: UsageOptions,
    key: UsageKey,
    report: UsageReport,
    sums: HashMap<Vec<u8>, u64>,
    /// The sum of entries without a value, if there are any.
    without: Option<u64>,
    linked: HashMap<LinkedKey, LinkedUsage>,
    /// Start points before the current one.
    done: Vec<Vec<u8>>,
    excluded: ExcludedPaths,
    /// The value of the current entry.
    value: Vec<u8>,
}

impl UsageByValue {
    fn new(options: UsageOptions, key: UsageKey) -> Self {
        UsageByValue {
            excluded: ExcludedPaths::new(&options.exclude),
            options,
            key,
            report: UsageReport::default(),
            sums: HashMap::new(),
            without: None,
            linked: HashMap::new(),
            done: Vec::new(),
            value: Vec::new(),
        }
    }

    fn start_point(&mut self, reader: &EntryReader<'_>, written: &[u8]) -> Result<()> {
        let start = indexed_path(reader.snapshot, written);
        let start = start.as_slice();
        let query = below(reader, start);
        let device = if self.options.one_device { device_of(reader, &query, start)? } else { None };
        let common = ["type", "size", "blocks", "inode", "links", "device"];
        let columns: &[&str] = match self.key {
            UsageKey::Owner => &["owner", "uid"],
            UsageKey::Group => &["group", "gid"],
            UsageKey::Age { .. } => &["mtime"],
            UsageKey::Extension | UsageKey::Type => &[],
        };
        let mut found = false;
        reader.for_each(&query, &[&common, columns].concat(), &mut |entry| {
            found = true;
            let is_other = device.is_some() && entry.device.is_some() && entry.device != device;
            let is_done = self.done.iter().any(|done| is_at_or_below(entry.path, done));
            if !is_other && !is_done && !self.excluded.has(entry.path, start, written) {
                self.entry(entry);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match found {
            true => self.done.push(start.to_vec()),
            false => self.report.missing.push(written.to_vec()),
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        let sum = measured(entry, self.options.measure, &mut self.report);
        let has_value = self.read_value(entry);
        let Some(key) = linked_key(entry).filter(|_| !self.options.count_links) else {
            return self.add(has_value, sum);
        };
        let is_first = self.linked.get(&key).is_none_or(|known| walk_order(entry.path, &known.path).is_lt());
        if is_first {
            let value = has_value.then(|| self.value.clone());
            self.linked.insert(key, LinkedUsage { path: entry.path.to_vec(), value, sum });
        }
    }

    /// Reads the value of an entry; false if it has none.
    fn read_value(&mut self, entry: &Entry<'_>) -> bool {
        self.value.clear();
        let named = |name: Option<&[u8]>, id: Option<u32>, value: &mut Vec<u8>| match (name, id) {
            (Some(name), _) => value.extend_from_slice(name),
            (None, Some(id)) => value.extend_from_slice(id.to_string().as_bytes()),
            (None, None) => {}
        };
        match self.key {
            UsageKey::Owner => named(entry.owner, entry.uid, &mut self.value),
            UsageKey::Group => named(entry.group, entry.gid, &mut self.value),
            UsageKey::Type => named(entry.kind.map(|kind| kind.name().as_bytes()), None, &mut self.value),
            UsageKey::Age { now } => {
                let class = entry.mtime.and_then(|_| AGE_CLASSES.get(age_class(entry.mtime, now)));
                named(class.map(|class| class.as_bytes()), None, &mut self.value);
            }
            UsageKey::Extension if matches!(entry.kind, None | Some(EntryKind::File)) => {
                let name = entry.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
                named(extension(name), None, &mut self.value);
                self.value.make_ascii_lowercase();
            }
            UsageKey::Extension => {}
        }
        !self.value.is_empty()
    }

    /// Adds to the sum of the current value.
    fn add(&mut self, has_value: bool, sum: u64) {
        self.report.total = self.report.total.saturating_add(sum);
        if !has_value {
            self.without = Some(self.without.unwrap_or(0).saturating_add(sum));
            return;
        }
        match self.sums.get_mut(&self.value) {
            Some(known) => *known = known.saturating_add(sum),
            None => drop(self.sums.insert(self.value.clone(), sum)),
        }
    }

    fn end(mut self) -> (Vec<UsageSumOf>, UsageReport) {
        for LinkedUsage { value, sum, .. } in std::mem::take(&mut self.linked).into_values() {
            let has_value = value.is_some();
            self.value = value.unwrap_or_default();
            self.add(has_value, sum);
        }
        let named = self.sums.into_iter().map(|(value, sum)| UsageSumOf { value: Some(value), sum });
        let without = self.without.map(|sum| UsageSumOf { value: None, sum });
        let mut sums: Vec<UsageSumOf> = named.chain(without).collect();
        sums.sort_unstable_by(|one, other| other.sum.cmp(&one.sum).then_with(|| one.value.cmp(&other.value)));
        (sums, self.report)
    }
}
