//! Holds compressed blocks in memory until their segment is written. The memory is kept for the next segment.

use std::collections::VecDeque;

use crate::column::BlockSink;
use crate::error::Result;
use crate::store::EnvelopeWriter;

/// Bytes of a chunk.
const CHUNK: usize = 1 << 20;

/// A queue of bytes, in chunks of [`CHUNK`] bytes.
#[derive(Debug, Default)]
pub(super) struct ByteQueue {
    chunks: VecDeque<Vec<u8>>,
    /// Bytes of the first chunk that have been written.
    front: usize,
    /// Empty chunks. They are kept because getting fresh memory costs more than filling it.
    spare: Vec<Vec<u8>>,
}

impl BlockSink for ByteQueue {
    fn take(&mut self, mut block: &[u8]) -> Result<()> {
        while !block.is_empty() {
            let room = self.chunks.back().map_or(0, |chunk| CHUNK - chunk.len());
            if room == 0 {
                self.chunks.push_back(self.spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK)));
                continue;
            }
            let (now, rest) = block.split_at(block.len().min(room));
            self.chunks.iter_mut().next_back().into_iter().for_each(|chunk| chunk.extend_from_slice(now));
            block = rest;
        }
        Ok(())
    }
}

impl ByteQueue {
    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        (self.chunks.len() + self.spare.len()) * CHUNK
    }

    /// Bytes of empty memory that is kept for the next segment.
    pub(super) fn spare_bytes(&self) -> usize {
        self.spare.len() * CHUNK
    }

    /// Releases empty memory.
    pub(super) fn give_back(&mut self) {
        self.spare.clear();
    }

    /// Writes the first `count` bytes and removes them.
    pub(super) fn drain(&mut self, mut count: usize, out: &mut EnvelopeWriter) -> Result<()> {
        // Memory that this segment did not need is not kept for the next one.
        self.spare.clear();
        while count > 0 {
            let Some(chunk) = self.chunks.front() else { break };
            let rest = chunk.get(self.front..).unwrap_or_default();
            let now = rest.get(..count).unwrap_or(rest);
            out.write(now)?;
            count -= now.len();
            self.front += now.len();
            if self.front >= CHUNK {
                self.recycle_front();
            }
        }
        if self.chunks.len() == 1 && self.chunks.front().is_some_and(|chunk| chunk.len() == self.front) {
            self.recycle_front();
        }
        Ok(())
    }

    fn recycle_front(&mut self) {
        self.front = 0;
        if let Some(mut chunk) = self.chunks.pop_front() {
            chunk.clear();
            self.spare.push(chunk);
        }
    }

    /// Removes all but the first `len` bytes.
    pub(super) fn truncate(&mut self, len: usize) {
        let mut left = len + self.front;
        for chunk in &mut self.chunks {
            chunk.truncate(left);
            left -= chunk.len();
        }
        while self.chunks.back().is_some_and(Vec::is_empty) {
            self.chunks.pop_back();
        }
        if self.chunks.is_empty() {
            self.front = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Directory, Envelope, FileKind, RamDirectory};

    const KIND: FileKind = FileKind { magic: *b"SCANTEST", format: 1, oldest: 1 };

    #[test]
    fn bytes_come_out_in_the_order_in_which_they_went_in() {
        let seed = 0x5eed_0701;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..20 {
            let directory = RamDirectory::new();
            let mut out = EnvelopeWriter::create(&directory, "file", KIND, 1).unwrap();
            out.begin(1).unwrap();
            let (mut queue, mut expected, mut written) = (ByteQueue::default(), Vec::new(), Vec::new());
            for _ in 0..60 {
                match random.u8(..10) {
                    0..6 => {
                        let block: Vec<u8> = (0..random.usize(..300_000)).map(|_| random.u8(..)).collect();
                        queue.take(&block).unwrap();
                        expected.extend_from_slice(&block);
                    }
                    6..8 => {
                        let count = random.usize(..=expected.len());
                        queue.drain(count, &mut out).unwrap();
                        written.extend(expected.drain(..count));
                    }
                    _ => {
                        let len = random.usize(..=expected.len());
                        queue.truncate(len);
                        expected.truncate(len);
                    }
                }
            }
            queue.drain(expected.len(), &mut out).unwrap();
            written.append(&mut expected);
            out.finish().unwrap().sync().unwrap();
            assert!(directory.list().unwrap().contains(&"file".to_string()));
            let file = Envelope::open(&directory, "file", KIND).unwrap();
            assert!(file.section(1).unwrap().all().unwrap() == written, "seed {seed:x} round {round}");
        }
    }
}
