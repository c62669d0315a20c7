//! Several segments become one: terms are merged in order, deleted documents fall out, the rest is renumbered.
//!
//! Documents keep their order: those of the first source come first. Blocks of postings and of positions are copied where
//! a source lost no document, see `codec/postings/carry.rs`.
//!
//! Everything streams from the sources to the one new file; what is held in memory are the norms, a byte for every
//! document of all sources, a bit and a half for every document of a source that lost some, the sparse index of the new
//! segment, 20 bytes for 64 terms, and the list of the term at hand. `terms.rs` steps through the terms, in the order that
//! `tournament.rs` finds, `renumber.rs` says what becomes of a document.

mod renumber;
mod terms;
mod tournament;

pub use renumber::Renumbering;

use super::flush::{FlushBuffers, Flushed};
use super::reader::Segment;
use super::stats::SegmentStats;
use super::terms::TermsWriter;
use super::{NORMS, SEGMENT, SPARSE, STATS, TERMS, file_name, keys, positions};
use crate::error::{Error, Result};
use crate::store::{Directory, EnvelopeWriter, Unsynced};
use terms::MergedTerms;

/// Document numbers in a segment.
const MOST_DOCUMENTS: u64 = 1 << 31;

/// Terms between two looks at whether the merge should go on.
const LOOK_EVERY: u64 = 1 << 12;

/// Bytes after which one looks at that in any case.
const LOOK_AFTER: u64 = 1 << 20;

/// A merge that is written and not yet part of a commit.
#[derive(Debug)]
pub struct Merged {
    /// The new segment.
    pub segment: Flushed,
    /// By source: what became of its documents.
    pub documents: Vec<Renumbering>,
}

/// Writes the live documents of `sources` to a new segment `id`, which must be synced before a commit.
///
/// `go_on` is called now and then with the bytes written so far; its error ends the merge.
///
/// # Errors
/// Whatever the directory and `go_on` say, and damage in a source; the new file is then removed. More than 2³¹ documents
/// are refused.
pub fn merge(
    directory: &dyn Directory,
    id: u128,
    sources: &[Segment],
    buffers: &FlushBuffers,
    go_on: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<(Merged, Unsynced)> {
    let written = write(directory, id, sources, buffers, go_on);
    if written.is_err() {
        // The first error is the one to tell; a file that cannot be removed now is swept at the next commit.
        let _ = directory.remove(&file_name(id));
    }
    written
}

fn write(
    directory: &dyn Directory,
    id: u128,
    sources: &[Segment],
    buffers: &FlushBuffers,
    go_on: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<(Merged, Unsynced)> {
    let kept = positions::in_common(sources)?;
    let documents = renumber(sources)?;
    let norms = merge_norms(sources, &documents)?;
    let mut out = EnvelopeWriter::create(directory, &file_name(id), SEGMENT, id)?.with_buffer(buffers.write);
    let max_doc = documents.last().map_or(0, Renumbering::end);
    let mut stats = SegmentStats {
        documents: u64::from(max_doc),
        documents_with_terms: norms.iter().filter(|&&norm| norm > 0).count() as u64,
        tokens: 0,
        terms: 0,
        max_doc,
        void: Vec::new(),
    };
    out.begin(TERMS)?;
    let mut writer = TermsWriter::new(buffers.lists, kept);
    let mut terms = MergedTerms::new(sources, &documents)?;
    let (mut looked_at, mut look_again_at) = (0, 0);
    while terms.step()? {
        stats.tokens += terms.write(&norms, &mut writer, &mut out)?;
        looked_at += 1;
        if looked_at % LOOK_EVERY == 0 || out.section_len() >= look_again_at {
            look_again_at = out.section_len() + LOOK_AFTER;
            go_on(out.section_len())?;
        }
    }
    stats.terms = writer.terms();
    let run_bytes = writer.run_bytes();
    let sparse = writer.finish(&mut out)?;
    for (kind, bytes) in [(SPARSE, sparse), (NORMS, norms)] {
        out.begin(kind)?;
        out.write(&bytes)?;
    }
    positions::write(run_bytes, &mut out)?;
    let readers = sources.iter().map(|source| source.keys()).collect::<Result<Vec<_>>>()?;
    keys::merge(&readers.into_iter().zip(&documents).collect::<Vec<_>>(), &mut out)?;
    out.begin(STATS)?;
    out.write(&stats.encode())?;
    let unsynced = out.finish()?;
    Ok((Merged { segment: Flushed { id, stats, bytes: unsynced.len() }, documents }, unsynced))
}

/// New numbers for the live documents of all sources.
fn renumber(sources: &[Segment]) -> Result<Vec<Renumbering>> {
    let live: u64 = sources.iter().map(|source| source.live_documents()).sum();
    if live > MOST_DOCUMENTS {
        return Err(Error::Options(format!(
            "{live} documents are more than the 2^31 that one segment holds"
        )));
    }
    let mut base = 0;
    Ok(sources
        .iter()
        .map(|source| {
            let old = source.stats().max_doc;
            let numbers = match source.live_documents() == u64::from(old) {
                true => Renumbering::of_all(base, old),
                false => Renumbering::new(base, old, |doc| source.is_live(doc)),
            };
            base = numbers.end();
            numbers
        })
        .collect())
}

fn merge_norms(sources: &[Segment], documents: &[Renumbering]) -> Result<Vec<u8>> {
    let mut all = Vec::with_capacity(documents.last().map_or(0, |numbers| numbers.end() as usize));
    for (source, numbers) in sources.iter().zip(documents) {
        let norms = source.norms()?;
        match numbers.shift() {
            Some(_) => all.extend_from_slice(norms),
            None => {
                all.extend(
                    (0..).zip(norms).filter(|(doc, _)| numbers.get(*doc).is_some()).map(|(_, norm)| norm),
                );
            }
        }
    }
    Ok(all)
}
