//! The parameters that are tuned, and the grid of their values.

use super::search::{Axis, Point};
use crate::read::ReadOptions;
use crate::sys::PageSize;

/// The parameters of a build that depend on the machine, not on the content of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The number of threads that read.
    pub read_threads: usize,
    /// The number of threads that index.
    pub index_threads: usize,
    /// Bytes per read.
    pub block_bytes: usize,
    /// The number of blocks per index thread.
    pub blocks: usize,
    /// The number of reads in flight per index thread.
    pub queue_depth: usize,
    /// The page size of blocks, terms and postings.
    pub pages: PageSize,
}

impl Profile {
    /// Returns the parameters in `read`.
    pub fn of(read: &ReadOptions) -> Self {
        Profile {
            read_threads: read.read_threads.min(read.lanes),
            index_threads: read.lanes,
            block_bytes: read.block_bytes,
            blocks: read.blocks_per_lane,
            queue_depth: read.queue_depth,
            pages: read.pages,
        }
    }

    /// Returns `read` with these parameters.
    pub fn applied_to(&self, read: &ReadOptions) -> ReadOptions {
        ReadOptions {
            read_threads: self.read_threads,
            lanes: self.index_threads,
            block_bytes: self.block_bytes,
            blocks_per_lane: self.blocks,
            queue_depth: self.queue_depth,
            pages: self.pages,
            ..read.clone()
        }
    }
}

/// Block sizes and queue depths to try in addition to the starting ones.
const BLOCKS: [usize; 6] = [256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20];
const DEPTHS: [usize; 5] = [1, 2, 4, 8, 16];

/// The values of every parameter, the axis with the largest effect first.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    start: Profile,
    index_threads: Vec<usize>,
    /// Index threads per read thread. More index threads need more reading, so one ratio suits many numbers
    /// of index threads, but one number of read threads does not.
    per_reader: Vec<usize>,
    pages: Vec<PageSize>,
    blocks: Vec<usize>,
    depths: Vec<usize>,
}

impl Grid {
    /// The grid around `start`, whose number of index threads is the maximum to try. Without `deep`, the
    /// queue depth is fixed: it matters only if large files bypass the page cache.
    pub(super) fn around(start: Profile, deep: bool) -> Grid {
        let most = start.index_threads;
        let powers =
            || std::iter::successors(Some(1), |power| Some(power * 2)).take_while(|&power| power <= most);
        let sorted = |mut values: Vec<usize>| {
            values.sort_unstable();
            values.dedup();
            values
        };
        let with = |values: &[usize], own: usize| sorted(values.iter().copied().chain([own]).collect());
        Grid {
            start,
            index_threads: sorted(powers().chain([most]).collect()),
            per_reader: sorted(powers().chain([most.div_ceil(start.read_threads)]).collect()),
            pages: vec![PageSize::Auto, PageSize::Base, PageSize::Huge],
            blocks: with(&BLOCKS, start.block_bytes),
            depths: with(if deep { &DEPTHS } else { &[] }, start.queue_depth),
        }
    }

    pub(super) fn axes(&self) -> [Axis; 5] {
        let ordered = |values: &[usize]| Axis { values: values.len(), ordered: true };
        [
            ordered(&self.index_threads),
            Axis { values: self.pages.len(), ordered: false },
            ordered(&self.per_reader),
            ordered(&self.blocks),
            ordered(&self.depths),
        ]
    }

    /// The point of the starting parameters.
    pub(super) fn start(&self) -> Point {
        let place = |values: &[usize], own: usize| values.iter().position(|&value| value == own).unwrap_or(0);
        vec![
            place(&self.index_threads, self.start.index_threads),
            self.pages.iter().position(|&pages| pages == self.start.pages).unwrap_or(0),
            place(&self.per_reader, self.start.index_threads.div_ceil(self.start.read_threads)),
            place(&self.blocks, self.start.block_bytes),
            place(&self.depths, self.start.queue_depth),
        ]
    }

    /// The parameters at a point; `None` if it is off the grid.
    pub(super) fn profile(&self, point: &[usize]) -> Option<Profile> {
        let &[index, pages, readers, block, depth] = point else { return None };
        let index_threads = *self.index_threads.get(index)?;
        let wanted = index_threads / self.per_reader.get(readers)?;
        // Each read thread serves the same number of index threads.
        let read_threads = (1..=wanted).rev().find(|&read| index_threads.is_multiple_of(read)).unwrap_or(1);
        let queue_depth = *self.depths.get(depth)?;
        Some(Profile {
            read_threads,
            index_threads,
            block_bytes: *self.blocks.get(block)?,
            // Each read in flight needs a separate block.
            blocks: self.start.blocks.max(queue_depth),
            queue_depth,
            pages: *self.pages.get(pages)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_goes_into_options_and_comes_out_again() {
        let profile = Profile {
            read_threads: 2,
            index_threads: 6,
            block_bytes: 2 << 20,
            blocks: 8,
            queue_depth: 7,
            pages: PageSize::Huge,
        };
        assert_eq!(Profile::of(&profile.applied_to(&ReadOptions::default())), profile);
    }

    #[test]
    fn the_start_is_on_its_grid_and_every_point_can_be_built() {
        for (index, read) in [(1, 1), (2, 1), (2, 2), (6, 2), (7, 1), (10, 2), (64, 16), (192, 48)] {
            let options =
                ReadOptions { lanes: index, read_threads: read, queue_depth: 3, ..ReadOptions::default() };
            let deep = !index.is_multiple_of(5);
            let grid = Grid::around(Profile::of(&options), deep);
            assert_eq!(grid.axes()[4].values, if deep { DEPTHS.len() + 1 } else { 1 });
            assert_eq!(grid.profile(&grid.start()), Some(Profile::of(&options)), "{index} {read}");
            let lens = grid.axes().map(|axis| axis.values);
            for number in 0..lens.iter().product::<usize>() {
                let mut rest = number;
                let point: Point = lens.iter().map(|&len| (rest % len, rest /= len).0).collect();
                let profile = grid.profile(&point).unwrap();
                assert!(profile.index_threads <= index && profile.blocks >= profile.queue_depth);
                assert!(profile.index_threads.is_multiple_of(profile.read_threads), "{profile:?}");
            }
            assert_eq!(grid.profile(&[99, 0, 0, 0, 0]), None);
        }
    }
}
