//! Chooses the best fragments of a text, and cuts them between words.

use std::ops::Range;

use super::scan::SnippetMatch;
use super::snippet::{Snippet, SnippetOptions};

/// Maximum number of fragments of a text.
const MAX_FRAGMENTS: usize = 64;

/// The worth of a stretch of text: first the worth of the terms that no fragment shows yet, then of all
/// terms; each term counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    new: u64,
    all: u64,
}

/// The best fragments of `text`, in the order of the text. Its first `len` bytes were scanned; `found` is
/// sorted by beginnings.
pub(super) fn choose(
    text: &[u8],
    len: usize,
    found: &[SnippetMatch],
    weights: &[u64],
    options: &SnippetOptions,
) -> Vec<Snippet> {
    let length = options.fragment_bytes();
    let mut shown = vec![false; weights.len()];
    // The gaps between the fragments, with the matches inside.
    let mut gaps = vec![(0..len, found)];
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for _ in 0..options.fragments.min(MAX_FRAGMENTS) {
        let best = gaps.iter().enumerate().filter_map(|(at, (_, inside))| {
            best_window(inside, length, weights, &shown).map(|(worth, window)| (at, worth, window))
        });
        // Of equally good windows the first.
        let best = best.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let Some((at, _, window)) = best else { break };
        let (gap, inside) = gaps.remove(at);
        let (first, last) =
            (&inside[window.start], inside[window.clone()].iter().map(|one| one.range.end).max());
        let core = first.range.start..last.unwrap_or(first.range.end).min(first.range.start + length);
        inside[window].iter().for_each(|one| shown[one.number] = true);
        let range = cut(text, &gap, core, length);
        let before = inside.partition_point(|one| one.range.start < range.start);
        let after = inside.partition_point(|one| one.range.start < range.end);
        gaps.insert(at, (range.end..gap.end, &inside[after..]));
        // A match across the beginning of a fragment belongs to neither gap.
        let ends_before = inside[..before].iter().rposition(|one| one.range.end <= range.start);
        gaps.insert(at, (gap.start..range.start, &inside[..ends_before.map_or(0, |at| at + 1)]));
        ranges.push(range);
    }
    if ranges.is_empty() && options.fragments > 0 && len > 0 {
        ranges.push(cut(text, &(0..len), 0..0, length));
    }
    ranges.sort_by_key(|range| range.start);
    ranges.into_iter().filter(|range| !range.is_empty()).map(|range| snippet(text, range, found)).collect()
}

/// The indexes in `found` of the best stretch of at most `length` bytes, and its worth; of equally good ones
/// the first.
fn best_window(
    found: &[SnippetMatch],
    length: usize,
    weights: &[u64],
    shown: &[bool],
) -> Option<(Worth, Range<usize>)> {
    let mut there = vec![0usize; weights.len()];
    let worth_of =
        |number: usize| Worth { new: if shown[number] { 0 } else { weights[number] }, all: weights[number] };
    let (mut worth, mut best, mut end) = (Worth::default(), None, 0);
    for (first, one) in found.iter().enumerate() {
        let limit = one.range.start.saturating_add(length);
        // A match that is longer than a fragment is shown in part.
        while end <= first || found.get(end).is_some_and(|next| next.range.end <= limit) {
            let number = found[end].number;
            if there[number] == 0 {
                worth.new += worth_of(number).new;
                worth.all += worth_of(number).all;
            }
            there[number] += 1;
            end += 1;
        }
        if best.as_ref().is_none_or(|(before, _)| worth > *before) {
            best = Some((worth, first..end));
        }
        there[one.number] -= 1;
        if there[one.number] == 0 {
            worth.new -= worth_of(one.number).new;
            worth.all -= worth_of(one.number).all;
        }
    }
    best
}

/// A stretch of at most `length` bytes around `core`, inside `gap`, that begins and ends between words if
/// possible.
fn cut(text: &[u8], gap: &Range<usize>, core: Range<usize>, length: usize) -> Range<usize> {
    let spare = length.saturating_sub(core.len());
    let wanted = core.start.saturating_sub(spare / 3).max(gap.start);
    let end = wanted.saturating_add(length).min(gap.end);
    // At the end of the text, more is shown before.
    let mut start = end.saturating_sub(length).max(gap.start).min(wanted);
    let is_space = |at: usize| text.get(at).is_some_and(u8::is_ascii_whitespace);
    if start > 0 && !is_space(start - 1) {
        let border = (start..core.start).find(|&at| is_space(at));
        start = border.unwrap_or_else(|| next_char(text, start).min(core.start));
    }
    while start < core.start.min(end) && is_space(start) {
        start += 1;
    }
    // The length that was cut off at the front is added at the end.
    let mut end = start.saturating_add(length).min(gap.end);
    if end < text.len() && !is_space(end) {
        let border = (core.end.max(start + 1)..end).rev().find(|&at| is_space(at));
        end = border.unwrap_or_else(|| char_before(text, end));
    }
    while end > core.end.max(start) && is_space(end - 1) {
        end -= 1;
    }
    start..end.max(start)
}

/// Whether the byte at `at` continues a UTF-8 character.
fn continues_char(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80)
}

/// `at`, or the end of the character that `at` is inside of. A byte that is not UTF-8 counts as a character.
fn next_char(text: &[u8], at: usize) -> usize {
    (at..at + 4).find(|&at| !continues_char(text, at)).unwrap_or(at)
}

/// `at`, or the beginning of the character that `at` is inside of.
pub(super) fn char_before(text: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|&at| !continues_char(text, at)).unwrap_or(at)
}

fn snippet(text: &[u8], range: Range<usize>, found: &[SnippetMatch]) -> Snippet {
    let mut marks: Vec<Range<usize>> = Vec::new();
    for one in found {
        let (start, end) = (one.range.start.max(range.start), one.range.end.min(range.end));
        if start >= end {
            continue;
        }
        match marks.last_mut() {
            Some(last) if start - range.start < last.end => last.end = last.end.max(end - range.start),
            _ => marks.push(start - range.start..end - range.start),
        }
    }
    let goes_on = !text[range.end..].iter().all(u8::is_ascii_whitespace);
    Snippet { text: text[range.clone()].to_vec(), start: range.start, marks, goes_on }
}
