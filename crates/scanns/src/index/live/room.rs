//! How much memory a writer takes, so that the cap given is kept: who is to be written next, and who has to wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Memory of all lanes, and of what left them and is not on the medium yet.
pub(super) struct Room {
    /// By lane.
    lanes: Vec<AtomicUsize>,
    away: Mutex<Away>,
    changed: Condvar,
    /// Bytes of lanes from which on the largest is written.
    flush_at: usize,
    /// Bytes of all from which on nobody adds anything while something is being written.
    most: usize,
}

#[derive(Default)]
struct Away {
    /// Epoch and bytes of each part that is being written.
    writing: Vec<(u64, usize)>,
    /// Bytes of empty parts that are kept for their memory, and of what waits for the next commit.
    kept: usize,
}

impl Room {
    pub(super) fn new(lanes: usize, most: usize) -> Self {
        Room {
            lanes: (0..lanes).map(|_| AtomicUsize::new(0)).collect(),
            away: Mutex::default(),
            changed: Condvar::new(),
            flush_at: most / 2,
            most,
        }
    }

    fn away(&self) -> MutexGuard<'_, Away> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a lane takes now.
    pub(super) fn lane_takes(&self, lane: usize, bytes: usize) {
        if let Some(now) = self.lanes.get(lane) {
            now.store(bytes, Ordering::Relaxed);
        }
    }

    fn in_lanes(&self) -> usize {
        self.lanes.iter().map(|lane| lane.load(Ordering::Relaxed)).sum()
    }

    /// The lane that should be written now, if one should: the largest.
    pub(super) fn lane_to_write(&self) -> Option<usize> {
        if self.in_lanes() < self.flush_at {
            return None;
        }
        let largest = self.lanes.iter().enumerate().max_by_key(|(_, bytes)| bytes.load(Ordering::Relaxed));
        largest.map(|(lane, _)| lane)
    }

    /// Waits while memory is short and something is being written that will free some.
    pub(super) fn wait_for_room(&self) {
        let mut away = self.away();
        while !away.writing.is_empty() {
            let writing: usize = away.writing.iter().map(|(_, bytes)| bytes).sum();
            if self.in_lanes() + writing + away.kept < self.most {
                return;
            }
            away = self.changed.wait(away).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A part of so many bytes leaves a lane to be written.
    pub(super) fn begin_writing(&self, epoch: u64, bytes: usize) {
        self.away().writing.push((epoch, bytes));
    }

    /// It is written, or that failed.
    pub(super) fn end_writing(&self, epoch: u64, bytes: usize) {
        let mut away = self.away();
        if let Some(place) = away.writing.iter().position(|part| *part == (epoch, bytes)) {
            away.writing.swap_remove(place);
        }
        drop(away);
        self.changed.notify_all();
    }

    /// Waits until nothing is being written that left its lane before `epoch`.
    pub(super) fn wait_for_older(&self, epoch: u64) {
        let older = |away: &mut Away| away.writing.iter().any(|(of, _)| *of < epoch);
        drop(self.changed.wait_while(self.away(), older).unwrap_or_else(PoisonError::into_inner));
    }

    /// So much more is kept, or less.
    pub(super) fn keep(&self, more: usize, less: usize) {
        let mut away = self.away();
        away.kept = (away.kept + more).saturating_sub(less);
        drop(away);
        self.changed.notify_all();
    }

    /// True if so much more can be kept for later.
    pub(super) fn has_room_for(&self, bytes: usize) -> bool {
        let away = self.away();
        let writing: usize = away.writing.iter().map(|(_, bytes)| bytes).sum();
        self.in_lanes() + writing + away.kept + bytes < self.most / 4 * 3
    }

    /// True if what is kept takes more than its share.
    pub(super) fn keeps_too_much(&self) -> bool {
        self.away().kept > self.most / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_lane_is_written_once_half_of_the_memory_is_used() {
        let room = Room::new(3, 100);
        room.lane_takes(0, 10);
        room.lane_takes(1, 30);
        assert_eq!(room.lane_to_write(), None);
        room.lane_takes(2, 15);
        assert_eq!(room.lane_to_write(), Some(1));
    }

    #[test]
    fn who_adds_waits_until_something_is_written() {
        let room = Room::new(1, 100);
        room.begin_writing(1, 60);
        room.begin_writing(2, 20);
        room.lane_takes(0, 30);
        let added = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                room.wait_for_room();
                added.store(1, Ordering::SeqCst);
            });
            scope.spawn(|| {
                room.wait_for_older(2);
                assert_eq!(added.load(Ordering::SeqCst), 0);
                room.end_writing(2, 20);
            });
            assert_eq!(added.load(Ordering::SeqCst), 0, "110 of 100 bytes are taken");
            room.keep(60, 0);
            room.end_writing(1, 60);
        });
        assert_eq!(added.load(Ordering::SeqCst), 1);
        assert!(room.keeps_too_much());
    }
}
