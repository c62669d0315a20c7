//! Merges the terms of a field in several threads. Each thread takes the next piece of the range of terms.
//!
//! The pieces are written in the order of the terms. A finished piece waits in memory until all pieces before
//! it are written. A piece that grows too large waits for its turn and is then written while it is merged.
//! Only a few pieces after the current one are started, so memory is bounded. The thread that has the turn
//! never waits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::reorder::TermsInOrder;
use super::terms::MergedTerms;
use super::work::MergeWork;
use crate::error::{Error, Result};
use crate::schema::Postings;
use crate::segment::order::DocumentOrder;
use crate::segment::progress::MergeProgress;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;
use crate::segment::terms::{SPARSE_ENTRY, TermsOut, TermsWriter};
use crate::store::EnvelopeWriter;
use crate::sys::{lock, wait};

/// Terms between two checks for cancellation.
const LOOK_EVERY: u64 = 1 << 12;

/// Bytes to collect before they are passed on.
const SEND: usize = 256 << 10;

/// Number of pieces that may be started in addition to one per thread.
const AHEAD: usize = 2;

/// The merge of the terms of one field.
#[derive(Clone, Copy)]
pub(super) struct FieldMerge<'a> {
    /// The segments, seen through the field.
    pub(super) sources: &'a [Segment],
    pub(super) documents: &'a [Renumbering],
    /// The new order of the documents, if it is not the order of the sources.
    pub(super) order: Option<&'a DocumentOrder>,
    /// The norms of the new segment.
    pub(super) norms: &'a [u8],
    /// The postings format of all sources.
    pub(super) kept: Postings,
    pub(super) work: &'a MergeWork,
}

/// The result of merging the terms of a field, or a piece of them.
#[derive(Default)]
pub(super) struct MergedField {
    /// The sparse index over the terms.
    pub(super) sparse: Vec<u8>,
    pub(super) terms: u64,
    /// Occurrences of all terms.
    pub(super) tokens: u64,
    /// Bytes of the runs of positions.
    pub(super) run_bytes: u64,
}

/// Writes the section of terms, which must be open in `out`.
pub(super) fn merge_terms(
    job: FieldMerge<'_>,
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<MergedField> {
    let work = job.work;
    let starts = if work.threads > 1 { cut(job.sources, work.piece)? } else { Vec::new() };
    let threads = work.threads.clamp(1, starts.len() + 1);
    let state = PiecesState {
        out,
        progress,
        next: 0,
        turn: 0,
        base: 0,
        ready: BTreeMap::new(),
        merged: MergedField::default(),
        failed: None,
    };
    let pieces = Pieces {
        job,
        starts,
        window: threads + AHEAD,
        turn: AtomicUsize::new(0),
        state: Mutex::new(state),
        changed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let spawned =
                std::thread::Builder::new().name("merge".into()).spawn_scoped(scope, || pieces.work());
            if spawned.is_err() {
                // The threads that were started do all the work.
                break;
            }
        }
        pieces.work();
    });
    let state = pieces.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.failed {
        Some(error) => Err(error),
        None => Ok(state.merged),
    }
}

/// The first terms of all pieces but the first. Each piece covers about `bytes` of the sources.
fn cut(sources: &[Segment], bytes: u64) -> Result<Vec<Vec<u8>>> {
    let mut samples = Vec::new();
    for source in sources {
        samples.extend(source.term_samples(bytes / sources.len().max(4) as u64)?);
    }
    samples.sort_unstable();
    let (mut starts, mut since) = (Vec::<Vec<u8>>::new(), 0);
    for (term, between) in samples {
        since = u64::saturating_add(since, between);
        if since >= bytes && starts.last().is_none_or(|last| *last < term) {
            starts.push(term);
            since = 0;
        }
    }
    Ok(starts)
}

/// The work that the threads share.
struct Pieces<'a> {
    job: FieldMerge<'a>,
    /// The first term of each piece but the first.
    starts: Vec<Vec<u8>>,
    /// Number of pieces, from the one whose turn it is, that may have been begun.
    window: usize,
    /// Copy of the turn that can be read without the lock.
    turn: AtomicUsize,
    state: Mutex<PiecesState<'a>>,
    changed: Condvar,
}

struct PiecesState<'a> {
    out: &'a mut EnvelopeWriter,
    progress: MergeProgress<'a>,
    /// The piece to begin next.
    next: usize,
    /// The piece that is being written.
    turn: usize,
    /// Its offset in the section.
    base: u64,
    /// Pieces that were finished before their turn.
    ready: BTreeMap<usize, MergedPiece>,
    merged: MergedField,
    failed: Option<Error>,
}

/// A finished piece.
struct MergedPiece {
    /// The bytes that have not been written yet.
    bytes: Vec<u8>,
    merged: MergedField,
}

impl<'a> Pieces<'a> {
    fn state(&self) -> MutexGuard<'_, PiecesState<'a>> {
        lock(&self.state)
    }

    /// Waits until something changes.
    fn wait<'g>(&self, state: MutexGuard<'g, PiecesState<'a>>) -> MutexGuard<'g, PiecesState<'a>> {
        wait(&self.changed, state)
    }

    /// Merges pieces until none is left or something fails.
    fn work(&self) {
        let _guard = PanicGuard(self);
        while let Some(number) = self.claim() {
            let ended = self.merge(number).and_then(|piece| self.hand_in(number, piece));
            if let Err(error) = ended {
                self.fail(error);
            }
        }
    }

    /// Waits until the next piece may be begun, and returns its number; `None` at the end or after a failure.
    fn claim(&self) -> Option<usize> {
        let mut state = self.state();
        while state.failed.is_none() && state.next <= self.starts.len() {
            if state.next < state.turn + self.window {
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.wait(state);
        }
        None
    }

    fn merge(&self, number: usize) -> Result<MergedPiece> {
        let FieldMerge { sources, documents, order, norms, kept, work } = self.job;
        let start = number.checked_sub(1).and_then(|before| self.starts.get(before));
        let end = self.starts.get(number).map(Vec::as_slice);
        let mut terms = MergedTerms::new(sources, documents, start.map_or(&[], Vec::as_slice), end)?;
        let mut writer = TermsWriter::new(work.buffers.lists, kept);
        let mut out = PieceOut { pieces: self, number, bytes: Vec::new(), sent: 0 };
        let mut in_order = order.map(|order| TermsInOrder::new(order, work.threads));
        let (mut tokens, mut looked_at) = (0, 0);
        while terms.step()? {
            tokens += match &mut in_order {
                None => terms.write(norms, &mut writer, &mut out)?,
                Some(in_order) => in_order.write(&terms, norms, &mut writer, &mut out)?,
            };
            looked_at += 1;
            if looked_at % LOOK_EVERY == 0 {
                out.look()?;
            }
        }
        let (terms, run_bytes) = (writer.terms(), writer.run_bytes().unwrap_or(0));
        let sparse = writer.finish(&mut out)?;
        Ok(MergedPiece { bytes: out.bytes, merged: MergedField { sparse, terms, tokens, run_bytes } })
    }

    /// Hands in a finished piece. If it has its turn, writes it and the pieces that waited for it.
    fn hand_in(&self, number: usize, piece: MergedPiece) -> Result<()> {
        let mut state = self.state();
        state.ready.insert(number, piece);
        loop {
            let turn = state.turn;
            let Some(piece) = state.ready.remove(&turn) else { break };
            state.write(&piece.bytes)?;
            state.take_in(&piece.merged);
            state.turn += 1;
            state.base = state.out.section_len();
        }
        self.turn.store(state.turn, Ordering::Relaxed);
        self.changed.notify_all();
        Ok(())
    }

    /// Stores the first error, and makes all threads end.
    fn fail(&self, error: Error) {
        self.state().failed.get_or_insert(error);
        self.changed.notify_all();
    }
}

impl PiecesState<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write(bytes)?;
        (self.progress)(self.out.len())
    }

    /// Adds the figures of a piece, and its sparse index with offsets in the section instead of in the piece.
    fn take_in(&mut self, piece: &MergedField) {
        self.merged.terms += piece.terms;
        self.merged.tokens += piece.tokens;
        self.merged.run_bytes += piece.run_bytes;
        let base = self.base;
        self.merged.sparse.extend(piece.sparse.as_chunks().0.iter().flat_map(|entry| moved(*entry, base)));
    }
}

/// An entry of the sparse index with `base` added to its offset.
fn moved(mut entry: [u8; SPARSE_ENTRY], base: u64) -> [u8; SPARSE_ENTRY] {
    if let Some(offset) = entry.get_mut(8..).and_then(<[u8]>::first_chunk_mut) {
        *offset = (u64::from_le_bytes(*offset) + base).to_le_bytes();
    }
    entry
}

/// Reports a failure if its thread panics, because other threads would wait for its piece forever.
struct PanicGuard<'p, 'a>(&'p Pieces<'a>);

impl Drop for PanicGuard<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::Cancelled);
        }
    }
}

/// The output of a piece.
struct PieceOut<'p, 'a> {
    pieces: &'p Pieces<'a>,
    number: usize,
    /// Bytes that have not been written to the file.
    bytes: Vec<u8>,
    /// Number of bytes that have been written to the file.
    sent: u64,
}

impl PieceOut<'_, '_> {
    /// Fails if the merge should stop. The thread that has the turn reports the progress of all.
    fn look(&mut self) -> Result<()> {
        let mut state = self.pieces.state();
        match &state.failed {
            Some(_) => Err(Error::Cancelled),
            None if state.turn == self.number => state.write(&[]),
            None => Ok(()),
        }
    }

    /// Writes the bytes if the piece has its turn; waits for the turn if the piece must not grow.
    #[inline(never)]
    fn send(&mut self) -> Result<()> {
        let has_turn = || self.pieces.turn.load(Ordering::Relaxed) == self.number;
        let most = usize::try_from(self.pieces.job.work.piece.saturating_mul(2)).unwrap_or(usize::MAX);
        if !has_turn() && self.bytes.len() < most {
            return Ok(());
        }
        let mut state = self.pieces.state();
        while state.turn != self.number {
            if state.failed.is_some() {
                return Err(Error::Cancelled);
            }
            state = self.pieces.wait(state);
        }
        state.write(&self.bytes)?;
        self.sent += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }
}

impl TermsOut for PieceOut<'_, '_> {
    fn place(&self) -> u64 {
        self.sent + self.bytes.len() as u64
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= SEND { self.send() } else { Ok(()) }
    }
}
