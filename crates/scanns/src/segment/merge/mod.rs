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

use std::collections::BTreeSet;

use super::flush::{FlushBuffers, Flushed, write_rest};
use super::reader::Segment;
use super::stats::{FieldStats, SegmentStats};
use super::terms::TermsWriter;
use super::{SEGMENT, STATS, TERMS, file_name, keys, of_field, positions, stored};
use crate::error::{Error, Result};
use crate::schema::Field;
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
    let documents = renumber(sources)?;
    let mut out = EnvelopeWriter::create(directory, &file_name(id), SEGMENT, id)?.with_buffer(buffers.write);
    let max_doc = documents.last().map_or(0, Renumbering::end);
    let of_sources = sources.iter().flat_map(|source| &source.stats().fields);
    let fields: BTreeSet<Field> = of_sources.map(|stats| stats.field).collect();
    let mut stats =
        SegmentStats { documents: u64::from(max_doc), max_doc, fields: Vec::new(), void: Vec::new() };
    for field in fields {
        let sources: Vec<Segment> = sources.iter().map(|source| source.in_field(field)).collect();
        stats.fields.push(write_field(&sources, &documents, buffers, &mut out, go_on)?);
    }
    let readers = sources.iter().map(|source| source.keys()).collect::<Result<Vec<_>>>()?;
    keys::merge(&readers.into_iter().zip(&documents).collect::<Vec<_>>(), &mut out)?;
    stored::merge(sources, &documents, &mut out, go_on)?;
    out.begin(STATS)?;
    out.write(&stats.encode())?;
    let unsynced = out.finish()?;
    Ok((Merged { segment: Flushed { id, stats, bytes: unsynced.len() }, documents }, unsynced))
}

/// Writes the sections of the field that all `sources` are seen through.
fn write_field(
    sources: &[Segment],
    documents: &[Renumbering],
    buffers: &FlushBuffers,
    out: &mut EnvelopeWriter,
    go_on: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<FieldStats> {
    let field = sources.first().map(|source| source.field_stats().field).unwrap_or_default();
    let norms = merge_norms(sources, documents)?;
    let mut stats = FieldStats {
        field,
        kept: positions::in_common(sources)?,
        documents_with_terms: norms.iter().filter(|&&norm| norm > 0).count() as u64,
        ..FieldStats::default()
    };
    out.begin(of_field(TERMS, field))?;
    let mut writer = TermsWriter::new(buffers.lists, stats.kept);
    let mut terms = MergedTerms::new(sources, documents)?;
    let (mut looked_at, mut look_again_at) = (0, 0);
    while terms.step()? {
        stats.tokens += terms.write(&norms, &mut writer, out)?;
        looked_at += 1;
        if looked_at % LOOK_EVERY == 0 || out.len() >= look_again_at {
            look_again_at = out.len() + LOOK_AFTER;
            go_on(out.len())?;
        }
    }
    stats.terms = writer.terms();
    stats.run_bytes = writer.run_bytes().unwrap_or(0);
    write_rest(field, writer, &norms, out)?;
    Ok(stats)
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
