//! `DualQueue`: one queue of empty blocks for a reader, one queue of full blocks for each lane it serves.
//!
//! An empty block belongs to a lane, so the reader learns from the block it takes which lane needs data next,
//! and no lane can starve while another is slow. All waiting is on condition variables. Either side may leave
//! at any time: a reader that leaves ends its lanes after they have taken their full blocks, and a lane that
//! leaves takes its blocks out of circulation.

use std::collections::VecDeque;

#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

/// The queues between one reader and its lanes; `T` is a block.
#[derive(Debug)]
pub(super) struct DualQueue<T> {
    state: Mutex<QueueState<T>>,
    /// Tells the reader that an empty block came or a lane left.
    for_reader: Condvar,
    /// Tells each lane that a full block came or that none will come.
    for_lanes: Vec<Condvar>,
}

/// The next action of a reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Demand<T> {
    /// Fill this block for this lane.
    Fill(usize, T),
    /// This lane has left: abandon the blocks in flight for it.
    GiveUp(usize),
    /// No lane wants data any more.
    Nothing,
}

#[derive(Debug)]
struct QueueState<T> {
    empty: VecDeque<(usize, T)>,
    /// Lanes that have left and that the reader does not know about yet.
    left: Vec<usize>,
    lanes: Vec<LaneQueue<T>>,
}

#[derive(Debug)]
struct LaneQueue<T> {
    full: VecDeque<T>,
    /// No more full blocks will come.
    ended: bool,
    /// The lane has left and takes no more full blocks.
    gone: bool,
}

impl<T> QueueState<T> {
    fn demand(&mut self) -> Option<Demand<T>> {
        let left = self.left.pop().map(Demand::GiveUp);
        left.or_else(|| self.empty.pop_front().map(|(lane, block)| Demand::Fill(lane, block)))
    }
}

impl<T> DualQueue<T> {
    pub(super) fn new(lanes: usize) -> Self {
        let queue = || LaneQueue { full: VecDeque::new(), ended: false, gone: false };
        DualQueue {
            state: Mutex::new(QueueState {
                empty: VecDeque::new(),
                left: Vec::new(),
                lanes: (0..lanes).map(|_| queue()).collect(),
            }),
            for_reader: Condvar::new(),
            for_lanes: (0..lanes).map(|_| Condvar::new()).collect(),
        }
    }

    /// Reader: takes an empty block, waiting for one as long as a lane may return one.
    pub(super) fn take_empty(&self) -> Demand<T> {
        let mut state = self.lock();
        loop {
            if let Some(demand) = state.demand() {
                return demand;
            }
            if state.lanes.iter().all(|lane| lane.ended || lane.gone) {
                return Demand::Nothing;
            }
            state = self.for_reader.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reader: takes an empty block if there is one.
    pub(super) fn try_take_empty(&self) -> Option<Demand<T>> {
        self.lock().demand()
    }

    /// Reader: passes a full block to a lane.
    ///
    /// # Errors
    /// Returns the block if the lane has left.
    pub(super) fn put_full(&self, lane: usize, block: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.lanes[lane].gone {
            return Err(block);
        }
        state.lanes[lane].full.push_back(block);
        drop(state);
        self.for_lanes[lane].notify_one();
        Ok(())
    }

    /// Reader: no more full blocks will come for this lane.
    pub(super) fn end_lane(&self, lane: usize) {
        self.retire(lane, |state| state.lanes[lane].ended = true);
        self.for_lanes[lane].notify_all();
    }

    /// Reader: ends all lanes; its last act in every case.
    pub(super) fn end_all(&self) {
        (0..self.for_lanes.len()).for_each(|lane| self.end_lane(lane));
    }

    /// Lane: takes a full block, waiting for one; `None` after the last.
    pub(super) fn take_full(&self, lane: usize) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(block) = state.lanes[lane].full.pop_front() {
                return Some(block);
            }
            if state.lanes[lane].ended {
                return None;
            }
            state = self.for_lanes[lane].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lane: returns a block to be filled again.
    pub(super) fn put_empty(&self, lane: usize, block: T) {
        let mut state = self.lock();
        if state.lanes[lane].ended || state.lanes[lane].gone {
            drop(state);
            return drop(block);
        }
        state.empty.push_back((lane, block));
        drop(state);
        self.for_reader.notify_one();
    }

    /// Lane: leaves; takes no more blocks.
    pub(super) fn leave(&self, lane: usize) {
        let full = self.retire(lane, |state| {
            state.left.push(lane);
            state.lanes[lane].gone = true;
            std::mem::take(&mut state.lanes[lane].full)
        });
        self.for_reader.notify_one();
        drop(full);
    }

    /// Changes a lane's state and takes its empty blocks out; they are dropped outside the lock.
    fn retire<R>(&self, lane: usize, change: impl FnOnce(&mut QueueState<T>) -> R) -> R {
        let mut state = self.lock();
        let changed = change(&mut state);
        let (out, keep) = std::mem::take(&mut state.empty).into_iter().partition(|(of, _)| *of == lane);
        state.empty = keep;
        drop(state);
        drop::<VecDeque<(usize, T)>>(out);
        changed
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// Serves every empty block with the lane's next number up to `count`, then ends the lane.
    fn serve(queue: &DualQueue<u32>, lanes: usize, count: u32) {
        let mut next = vec![0; lanes];
        loop {
            match queue.take_empty() {
                Demand::Fill(lane, _) if next[lane] == count => queue.end_lane(lane),
                Demand::Fill(lane, _) => next[lane] += queue.put_full(lane, next[lane]).is_ok() as u32,
                Demand::GiveUp(_) => {}
                Demand::Nothing => return,
            }
        }
    }

    fn consume(queue: &DualQueue<u32>, lane: usize) -> Vec<u32> {
        let mut got = Vec::new();
        while let Some(block) = queue.take_full(lane) {
            got.push(block);
            queue.put_empty(lane, block);
        }
        got
    }

    #[test]
    fn loom_every_lane_gets_its_blocks_in_order_and_its_end() {
        // All schedules of three threads would take hours; schedules with few preemptions find the faults.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let queue = Arc::new(DualQueue::new(2));
            (0..2).for_each(|lane| queue.put_empty(lane, 0));
            let reader = thread::spawn({
                let queue = Arc::clone(&queue);
                move || serve(&queue, 2, 1)
            });
            let other = thread::spawn({
                let queue = Arc::clone(&queue);
                move || consume(&queue, 1)
            });
            assert_eq!(consume(&queue, 0), [0]);
            assert_eq!(other.join().unwrap(), [0]);
            reader.join().unwrap();
        });
    }

    #[test]
    fn loom_a_lane_that_leaves_blocks_no_thread() {
        loom::model(|| {
            let queue = Arc::new(DualQueue::new(1));
            (0..2).for_each(|_| queue.put_empty(0, 0));
            let reader = thread::spawn({
                let queue = Arc::clone(&queue);
                move || serve(&queue, 1, 9)
            });
            let first = queue.take_full(0);
            assert_eq!(first, Some(0));
            queue.leave(0);
            queue.put_empty(0, 0);
            reader.join().unwrap();
        });
    }

    #[test]
    fn loom_a_reader_that_leaves_ends_its_lanes_after_the_full_blocks() {
        loom::model(|| {
            let queue = Arc::new(DualQueue::new(1));
            queue.put_empty(0, 0);
            let reader = thread::spawn({
                let queue = Arc::clone(&queue);
                move || {
                    queue.take_empty();
                    let _ = queue.put_full(0, 7);
                    queue.end_all();
                }
            });
            assert_eq!(consume(&queue, 0), [7]);
            reader.join().unwrap();
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    #[cfg_attr(loom, ignore = "loom's types need its model")]
    fn blocks_of_a_lane_that_left_are_dropped_and_the_reader_ends() {
        let queue = DualQueue::new(2);
        let token = Arc::new(());
        for lane in [0, 1, 0] {
            queue.put_empty(lane, Arc::clone(&token));
        }
        queue.leave(0);
        assert_eq!(Arc::strong_count(&token), 2);
        assert!(queue.put_full(0, Arc::clone(&token)).is_err());
        assert_eq!(queue.take_empty(), Demand::GiveUp(0));
        assert_eq!(queue.take_empty(), Demand::Fill(1, token));
        assert!(queue.try_take_empty().is_none());
        queue.end_lane(1);
        assert_eq!(queue.take_empty(), Demand::Nothing);
        assert!(queue.take_full(1).is_none());
    }
}
