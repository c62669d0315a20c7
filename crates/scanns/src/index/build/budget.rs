//! Divides memory among the index threads so that a build stays within its cap.
//!
//! The cap covers everything resident: the program, the list of inputs, the blocks of the readers, and what
//! each index thread holds, including the buffers of a flush. What is left after the fixed parts is divided
//! equally among the index threads, and a thread flushes when its share is full.

use super::options::{IndexOptions, SEGMENT_MEMORY};
use crate::error::{Error, Result};
use crate::index::commit::merge_budget::merging_bytes;
use crate::invert::{CHECK_EVERY, reserved_bytes};
use crate::schema::{Analyzer, FieldKind, Postings, Records, Schema, Stored};
use crate::segment::{FLUSH_BYTES, StoredCollector};
use crate::source::Input;
use crate::sys::{address_space_left, out_of_memory};

/// Bytes of text that are indexed between two checks of memory.
pub(crate) const PART_BYTES: usize = CHECK_EVERY / 4;

/// The program itself: code, stacks, allocator.
const BASE: usize = 32 << 20;

/// The maximum number of bytes by which a share may exceed its limit between two checks, while it indexes
/// [`CHECK_EVERY`] bytes of text: 16 bytes per byte of text, the same again for positions, and half of it for
/// offsets.
fn overshoot(postings: Postings) -> usize {
    match postings {
        Postings::Frequencies | Postings::Documents => CHECK_EVERY * 16,
        Postings::Positions => CHECK_EVERY * 32,
        Postings::Offsets => CHECK_EVERY * 40,
    }
}

/// The maximum memory for one segment: chains of postings reach 32 GiB.
const MOST: usize = 30 << 30;

/// The smallest share that makes sense.
const LEAST: usize = 16 << 20;

/// The minimum for each searched field.
pub(crate) const LEAST_PER_FIELD: usize = 2 << 20;

/// Later segments may use up to this multiple of the memory of the first.
const GROWTH: usize = 8;

/// Segments of a thread after which the memory of the next ones doubles.
const GROW_AFTER: usize = 8;

/// Bytes of term table, postings, keys and stored documents that an index thread may hold before it writes a
/// segment.
///
/// The first segments are small, because fresh memory is costly, and because more look-ups hit the caches and
/// translation tables when memory is small. Later segments grow, or a large index would have too many of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneBudget {
    /// For the first segments.
    pub(crate) first: usize,
    /// For any segment.
    pub(crate) most: usize,
}

impl LaneBudget {
    /// Bytes for the segment that follows `written` others.
    pub(crate) fn after(&self, written: usize) -> usize {
        let doublings = u32::try_from(written / GROW_AFTER).unwrap_or(u32::MAX);
        self.first.saturating_mul(1usize.checked_shl(doublings).unwrap_or(usize::MAX)).min(self.most)
    }
}

/// The memory of each index thread: at most its share of the cap. The first segments use the memory that the
/// options give for them.
pub(crate) fn lane_budget(
    options: &IndexOptions,
    schema: &Schema,
    stored: &Stored,
    inputs: &[Input],
) -> Result<LaneBudget> {
    let least = LEAST.max(LEAST_PER_FIELD * schema.searched().count());
    let overshoot = schema.searched().map(|(_, postings)| overshoot(postings)).max().unwrap_or(0);
    let (cap, read) = (options.memory, &options.read);
    let segment = options.segment_memory.unwrap_or_else(|| default_segment_memory(options.records, schema));
    let flush_bytes = FLUSH_BYTES + options.buffers.extra_bytes() + StoredCollector::fixed_bytes(stored);
    // Twice, because two lists exist while the inputs are collected and sorted.
    let status = |input: &Input| input.status.as_ref().map_or(0, |status| status.bytes() + 16);
    let each = |input: &Input| 2 * (input.path.as_os_str().len() + size_of::<Input>() + 32) + status(input);
    let listed: usize = inputs.iter().map(each).sum();
    let merging = if options.merge.is_some() { merging_bytes(cap) } else { 0 };
    let merging = usize::try_from(merging).unwrap_or(usize::MAX / 2);
    let fixed = BASE + listed + merging + read.memory_bytes();
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    let share = cap.saturating_sub(fixed) / read.lanes;
    match share.checked_sub(flush_bytes + overshoot) {
        Some(budget) if budget >= least => {
            let budget = within_address_space(budget, least, options, schema)?;
            let first = usize::try_from(segment).unwrap_or(usize::MAX).min(budget).clamp(least, MOST);
            Ok(LaneBudget { first, most: first.saturating_mul(GROWTH).min(budget).min(MOST) })
        }
        _ => {
            let needed = fixed + read.lanes * (least + flush_bytes + overshoot);
            Err(Error::InvalidValue {
                what: "memory".into(),
                found: format!("{} MiB", cap >> 20),
                expected: format!(
                    "at least {} MiB for {} index threads, or fewer threads",
                    (needed >> 20) + 1,
                    read.lanes
                ),
            })
        }
    }
}

/// See [`IndexOptions::segment_memory`].
pub(crate) fn default_segment_memory(records: Records, schema: &Schema) -> u64 {
    let finds_words = |analyzer: &Analyzer| {
        matches!(analyzer, Analyzer::Standard | Analyzer::English | Analyzer::Snowball(_) | Analyzer::Code)
    };
    let has_words = schema.fields().any(|(_, entry)| match &entry.kind {
        FieldKind::Text { analyzer, .. } => entry.searched && finds_words(analyzer),
        _ => false,
    });
    if records == Records::File && has_words { 2 * SEGMENT_MEMORY } else { SEGMENT_MEMORY }
}

/// The memory of an index thread, or less if the address space is limited: what inverters reserve must fit
/// into it.
fn within_address_space(
    budget: usize,
    least: usize,
    options: &IndexOptions,
    schema: &Schema,
) -> Result<usize> {
    let Some(left) = address_space_left() else { return Ok(budget) };
    let lanes = options.read.lanes;
    let reserved = |budget| {
        let each = reserved_bytes(budget, schema.searched().map(|(_, postings)| postings));
        // Half of the base is for stacks and small allocations.
        each.saturating_mul(lanes).saturating_add(options.read.memory_bytes() + BASE / 2)
    };
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let mut fitting = (0..).map_while(|halvings| Some(budget.checked_shr(halvings)?.max(least)));
    match fitting.find(|&budget| reserved(budget) <= left || budget == least) {
        Some(budget) if reserved(budget) <= left => Ok(budget),
        _ => {
            let threads =
                if lanes == 1 { "an index thread".into() } else { format!("{lanes} index threads") };
            let needed = reserved(least) as u64;
            Err(out_of_memory(format!("start {threads}"), needed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ReadOptions;
    use crate::schema::Analyzer;
    use crate::segment::FlushBuffers;

    #[test]
    fn segments_grow_with_their_number_up_to_the_share_of_the_cap() {
        let lane_budget = |cap, segment: Option<u64>, buffers| {
            let options = IndexOptions {
                read: ReadOptions { lanes: 2, ..ReadOptions::default() },
                memory: cap,
                segment_memory: segment,
                buffers,
                merge: None,
                ..IndexOptions::default()
            };
            let schema = Schema::of_files(Analyzer::Standard, Postings::Frequencies);
            super::lane_budget(&options, &schema, &Stored::default(), &[])
        };
        let budget = |cap, segment| lane_budget(cap, Some(segment), FlushBuffers::default()).unwrap();
        let roomy = budget(64 << 30, 64 << 20);
        let sizes = [0, 7, 8, 15, 16, 24, 1_000_000].map(|written| roomy.after(written) >> 20);
        assert_eq!(sizes, [64, 64, 128, 128, 256, 512, 512]);
        let tight = budget(600 << 20, 64 << 20);
        assert!(tight.first == 64 << 20 && tight.most < 300 << 20, "{tight:?}");
        assert_eq!(tight.after(100), tight.most);
        let least = budget(200 << 20, 1 << 40);
        assert!(least.first == least.most && least.most < 100 << 20, "{least:?}");
        assert!(lane_budget(64 << 20, Some(64 << 20), FlushBuffers::default()).is_err());
        let buffers = FlushBuffers { write: 9 << 20, lists: 256 << 10 };
        let larger = lane_budget(200 << 20, Some(1 << 40), buffers).unwrap();
        assert_eq!(least.most - larger.most, 8 << 20, "buffers are part of the memory");
    }

    #[test]
    fn files_of_words_get_larger_segments_than_paths_and_records() {
        let first = |analyzer: &str, records, segment_memory| {
            let options =
                IndexOptions { memory: 64 << 30, records, segment_memory, ..IndexOptions::default() };
            let schema = Schema::of_files(Analyzer::parse(analyzer).unwrap(), Postings::Frequencies);
            lane_budget(&options, &schema, &Stored::default(), &[]).unwrap().first >> 20
        };
        for words in ["standard", "english", "snowball:german", "code"] {
            assert_eq!(first(words, Records::File, None), 128, "{words}");
            assert_eq!(first(words, Records::Lines, None), 64, "{words}");
            assert_eq!(first(words, Records::File, Some(32 << 20)), 32, "{words}");
        }
        for others in ["paths", "whitespace", "ancestors", "keyword"] {
            assert_eq!(first(others, Records::File, None), 64, "{others}");
        }
    }
}
