//! The terms of a field, merged by several threads: each takes the next piece of their range.
//!
//! The pieces of the file stand in the order of the terms. So a piece waits in memory until those before it are written;
//! one that grows too large waits for its turn and goes to the file as it comes. No more pieces are begun than a few
//! beyond the one whose turn it is, so memory is bounded, and whoever has the turn never waits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::reorder::{Order, TermsInOrder};
use super::terms::MergedTerms;
use super::{GoOn, MergeWork, Renumbering};
use crate::error::{Error, Result};
use crate::schema::Postings;
use crate::segment::reader::Segment;
use crate::segment::terms::{SPARSE_ENTRY, TermsOut, TermsWriter};
use crate::store::EnvelopeWriter;

/// Terms between two looks at whether the merge should go on.
const LOOK_EVERY: u64 = 1 << 12;

/// Bytes that are passed on at once.
const SEND: usize = 256 << 10;

/// Pieces that are begun beyond one for each thread.
const AHEAD: usize = 2;

/// What is to be merged.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) sources: &'a [Segment],
    pub(super) documents: &'a [Renumbering],
    /// The order that documents get, if it is not that of the sources.
    pub(super) order: Option<&'a Order>,
    /// Those of the new segment.
    pub(super) norms: &'a [u8],
    /// What all sources keep of a term.
    pub(super) kept: Postings,
    pub(super) work: &'a MergeWork,
}

/// What came of it.
#[derive(Default)]
pub(super) struct MergedField {
    /// The sparse index over the terms.
    pub(super) sparse: Vec<u8>,
    pub(super) terms: u64,
    /// Occurrences of all of them.
    pub(super) tokens: u64,
    /// Bytes of the runs of positions.
    pub(super) run_bytes: u64,
}

/// Writes the section of terms that `out` has begun.
pub(super) fn merge_terms(job: Job<'_>, out: &mut EnvelopeWriter, go_on: GoOn<'_>) -> Result<MergedField> {
    let work = job.work;
    let starts = if work.threads > 1 { cut(job.sources, work.piece)? } else { Vec::new() };
    let threads = work.threads.clamp(1, starts.len() + 1);
    let state = State {
        out,
        go_on,
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
                // The threads that there are do it all.
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

/// The first terms of all pieces but the first, so that each has about `bytes` of the sources.
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

/// What the threads share.
struct Pieces<'a> {
    job: Job<'a>,
    /// Where each piece but the first begins.
    starts: Vec<Vec<u8>>,
    /// Pieces that may be under way or wait, from the one whose turn it is on.
    window: usize,
    /// Whose turn it is, to be seen without the lock.
    turn: AtomicUsize,
    state: Mutex<State<'a>>,
    changed: Condvar,
}

struct State<'a> {
    out: &'a mut EnvelopeWriter,
    go_on: GoOn<'a>,
    /// The piece to begin next.
    next: usize,
    /// The piece that is written now.
    turn: usize,
    /// Where in the section it begins.
    base: u64,
    /// Pieces that have ended before their turn.
    ready: BTreeMap<usize, Piece>,
    merged: MergedField,
    failed: Option<Error>,
}

/// A piece that has ended.
struct Piece {
    /// What of it has not been written.
    bytes: Vec<u8>,
    merged: MergedField,
}

impl<'a> Pieces<'a> {
    fn state(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes.
    fn wait<'g>(&self, state: MutexGuard<'g, State<'a>>) -> MutexGuard<'g, State<'a>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Merges pieces until none is left or something fails.
    fn work(&self) {
        let _ended = Ended(self);
        while let Some(number) = self.claim() {
            let ended = self.merge(number).and_then(|piece| self.hand_in(number, piece));
            if let Err(error) = ended {
                self.fail(error);
            }
        }
    }

    /// The next piece to merge, as soon as it may be begun.
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

    fn merge(&self, number: usize) -> Result<Piece> {
        let Job { sources, documents, order, norms, kept, work } = self.job;
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
        Ok(Piece { bytes: out.bytes, merged: MergedField { sparse, terms, tokens, run_bytes } })
    }

    /// Takes a piece in; writes it, and those that waited for it, if it has its turn.
    fn hand_in(&self, number: usize, piece: Piece) -> Result<()> {
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

    /// Notes what went wrong first, and lets all threads end.
    fn fail(&self, error: Error) {
        self.state().failed.get_or_insert(error);
        self.changed.notify_all();
    }
}

impl State<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write(bytes)?;
        (self.go_on)(self.out.len())
    }

    /// Adds up figures, and the sparse index with places in the section instead of the piece.
    fn take_in(&mut self, piece: &MergedField) {
        self.merged.terms += piece.terms;
        self.merged.tokens += piece.tokens;
        self.merged.run_bytes += piece.run_bytes;
        let base = self.base;
        self.merged.sparse.extend(piece.sparse.as_chunks().0.iter().flat_map(|entry| moved(*entry, base)));
    }
}

/// An entry of the sparse index, its offset `base` farther on.
fn moved(mut entry: [u8; SPARSE_ENTRY], base: u64) -> [u8; SPARSE_ENTRY] {
    if let Some(offset) = entry.get_mut(8..).and_then(<[u8]>::first_chunk_mut) {
        *offset = (u64::from_le_bytes(*offset) + base).to_le_bytes();
    }
    entry
}

/// Says so if a thread ends by a panic: those that wait for its piece would wait for ever.
struct Ended<'p, 'a>(&'p Pieces<'a>);

impl Drop for Ended<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::Cancelled);
        }
    }
}

/// Takes what belongs to a piece.
struct PieceOut<'p, 'a> {
    pieces: &'p Pieces<'a>,
    number: usize,
    /// What has not been written to the file.
    bytes: Vec<u8>,
    /// Bytes before it.
    sent: u64,
}

impl PieceOut<'_, '_> {
    /// Whether to go on; whoever has the turn asks for all.
    fn look(&mut self) -> Result<()> {
        let mut state = self.pieces.state();
        match &state.failed {
            Some(_) => Err(Error::Cancelled),
            None if state.turn == self.number => state.write(&[]),
            None => Ok(()),
        }
    }

    /// Writes what there is, if it has its turn or must not get larger.
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
