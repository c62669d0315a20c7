//! Asynchronous reads into block memory through io_uring.
//!
//! The ring owns the memory and the file of every read until the kernel has finished it. A caller that stops
//! early, even by a panic, therefore cannot free memory that is still being written.

use std::io;
use std::mem;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use io_uring::{IoUring, Probe, opcode, types};

use crate::sys::BlockMemory;
use crate::sys::file::ReadFile;

/// A submission queue and the reads in progress.
pub struct Ring {
    ring: IoUring,
    flights: Vec<Option<Flight>>,
}

struct Flight {
    memory: BlockMemory,
    /// Holds the descriptor open until the kernel has taken the request.
    _file: Arc<ReadFile>,
    token: u64,
}

/// A completed read.
pub struct Landed {
    /// The token that the caller gave to the read.
    pub token: u64,
    /// The memory that the caller gave to the read.
    pub memory: BlockMemory,
    /// The number of bytes read, smaller than requested if the file ends.
    pub result: io::Result<usize>,
}

impl Ring {
    /// Creates a ring for `depth` reads at a time; `None` if the kernel is too old or forbids it.
    pub fn new(depth: usize) -> Option<Ring> {
        let ring = IoUring::new(u32::try_from(depth.clamp(1, 1024)).ok()?).ok()?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe).ok()?;
        let flights = (0..depth).map(|_| None).collect();
        probe.is_supported(opcode::Read::CODE).then_some(Ring { ring, flights })
    }

    /// The number of reads in progress.
    pub fn in_flight(&self) -> usize {
        self.flights.iter().flatten().count()
    }

    /// Starts reading `file` at `offset` into the bytes `into` of `memory`.
    ///
    /// # Errors
    /// Returns the memory if the ring is full or `into` is not within the block.
    pub fn read(
        &mut self,
        file: &Arc<ReadFile>,
        offset: u64,
        mut memory: BlockMemory,
        into: Range<usize>,
        token: u64,
    ) -> Result<(), BlockMemory> {
        let slot = self.flights.iter().position(Option::is_none);
        let (Some(slot), Ok(len), true) =
            (slot, u32::try_from(into.len()), into.start <= into.end && into.end <= memory.capacity())
        else {
            return Err(memory);
        };
        // SAFETY: `into` was checked to lie inside the block.
        let start = unsafe { memory.as_mut_ptr().add(into.start) };
        let entry = opcode::Read::new(types::Fd(file.as_fd().as_raw_fd()), start, len)
            .offset(offset)
            .build()
            .user_data(slot as u64);
        // SAFETY: the memory and the descriptor stay in `flights` until the completion has been seen.
        if unsafe { self.ring.submission().push(&entry) }.is_err() {
            return Err(memory);
        }
        self.flights[slot] = Some(Flight { memory, _file: Arc::clone(file), token });
        // A refusal (interrupted, busy) leaves the entry in the queue, and `wait` submits it again.
        let _ = self.ring.submit();
        Ok(())
    }

    /// Waits until a read completes; returns `None` if none is in progress.
    ///
    /// # Errors
    /// Any error of the kernel, if it no longer serves the ring.
    pub fn wait(&mut self) -> io::Result<Option<Landed>> {
        while self.in_flight() > 0 {
            let Some(entry) = self.ring.completion().next() else {
                match self.ring.submit_and_wait(1) {
                    Err(error) if !matches!(error.raw_os_error(), Some(EINTR | EAGAIN | EBUSY)) => {
                        return Err(error);
                    }
                    _ => continue,
                }
            };
            let slot = usize::try_from(entry.user_data()).unwrap_or(usize::MAX);
            if let Some(flight) = self.flights.get_mut(slot).and_then(Option::take) {
                let result = match entry.result() {
                    code if code < 0 => Err(io::Error::from_raw_os_error(-code)),
                    code => Ok(usize::try_from(code).unwrap_or(0)),
                };
                return Ok(Some(Landed { token: flight.token, memory: flight.memory, result }));
            }
        }
        Ok(None)
    }
}

const EINTR: i32 = rustix::io::Errno::INTR.raw_os_error();
const EAGAIN: i32 = rustix::io::Errno::AGAIN.raw_os_error();
const EBUSY: i32 = rustix::io::Errno::BUSY.raw_os_error();

impl Drop for Ring {
    fn drop(&mut self) {
        loop {
            match self.wait() {
                Ok(Some(_)) => {}
                Ok(None) => return,
                // The kernel may still write: this memory must never be used again.
                Err(_) => return self.flights.drain(..).for_each(mem::forget),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sys::PageSize;

    #[test]
    fn many_reads_at_once_land_with_the_right_bytes() {
        let Some(mut ring) = Ring::new(4) else {
            return; // this kernel has none
        };
        let dir = crate::sys::disk_dir();
        let path = dir.path().join("file");
        let bytes: Vec<u8> = (0..50_000u32).map(|i| (i / 7 % 251) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        let file = Arc::new(ReadFile::open(&path).unwrap());
        file.enter_direct();
        for (i, memory) in BlockMemory::carve(4, 16_384, PageSize::Base).unwrap().into_iter().enumerate() {
            ring.read(&file, i as u64 * 12_288, memory, 4096..16_384, i as u64).unwrap();
        }
        let more = BlockMemory::carve(1, 4096, PageSize::Base).unwrap().remove(0);
        assert!(ring.read(&file, 0, more, 0..4096, 9).is_err(), "the ring is full");
        drop(file);
        for _ in 0..4 {
            let mut landed = ring.wait().unwrap().unwrap();
            let start = usize::try_from(landed.token).unwrap() * 12_288;
            let want = &bytes[start..(start + 12_288).min(bytes.len())];
            assert_eq!(landed.result.unwrap(), want.len());
            assert_eq!(&landed.memory.as_mut_slice()[4096..4096 + want.len()], want);
        }
        assert!(ring.wait().unwrap().is_none());
    }

    #[test]
    fn a_ring_that_is_dropped_waits_for_its_reads_and_bad_ranges_are_refused() {
        let Some(mut ring) = Ring::new(2) else {
            return; // this kernel has none
        };
        let file = Arc::new(ReadFile::open(&std::env::current_exe().unwrap()).unwrap());
        let mut blocks = BlockMemory::carve(2, 4096, PageSize::Base).unwrap();
        assert!(ring.read(&file, 0, blocks.remove(0), 0..8192, 0).is_err());
        ring.read(&file, 0, blocks.remove(0), 0..4096, 0).unwrap();
        drop(ring);
    }
}
