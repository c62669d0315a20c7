//! Slices a listing into parts of about equal cost, in order.
//!
//! The cost of an input is its bytes, and a constant for opening it. The ideal boundaries are at equal
//! distances in the sum of all costs. A boundary in a large file of records cuts it; any other one moves to
//! an end of the file that it is in, or to the nearest place between two directories if that is near.
//!
//! The inputs are passed one after the other, and none is kept: only the last place between two directories,
//! and the boundaries that may still move to the next one.

/// What opening a file costs, as if it were this number of bytes.
const OPENING: u64 = 16 << 10;

/// A boundary moves to the next directory if less than one part in this number of a slice lies between.
const NEAR: u64 = 20;

/// Where a slice begins: in which input, and at which of its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SliceStart {
    pub(super) input: u64,
    /// 0 for the whole input; otherwise the ideal place of a cut.
    pub(super) offset: u64,
}

/// A place between two inputs.
#[derive(Clone, Copy, Debug, Default)]
struct PlaceBetween {
    /// The number of the input behind it.
    input: u64,
    /// The cost of all inputs before it.
    cost: u128,
}

/// A boundary within a directory that is not passed yet.
#[derive(Clone, Copy, Debug)]
struct OpenStart {
    /// Its number among the starts.
    number: usize,
    at: PlaceBetween,
    /// The last place between two directories before it.
    back: PlaceBetween,
}

/// Finds where slices begin.
#[derive(Debug)]
pub(super) struct SliceFinder {
    total: u128,
    slices: u128,
    /// The most that a boundary moves.
    near: u128,
    starts: Vec<SliceStart>,
    open: Vec<OpenStart>,
    /// The place behind the last input.
    place: PlaceBetween,
    /// The last place between two directories.
    between: PlaceBetween,
    /// The directory of the last input; `None` before the first.
    directory: Option<Vec<u8>>,
}

impl SliceFinder {
    /// For `count` inputs with this sum of bytes.
    pub(super) fn new(count: u64, bytes: u64, slices: u32) -> Self {
        let total = u128::from(bytes) + u128::from(count) * u128::from(OPENING);
        let slices = u128::from(slices.max(1));
        SliceFinder {
            total,
            slices,
            near: total / slices / u128::from(NEAR),
            starts: Vec::new(),
            open: Vec::new(),
            place: PlaceBetween::default(),
            between: PlaceBetween::default(),
            directory: None,
        }
    }

    /// Takes the next input: its path and its size. `may_cut` says whether it may be cut, and is called at
    /// most once.
    pub(super) fn take(&mut self, path: &[u8], bytes: u64, may_cut: &mut dyn FnMut() -> bool) {
        let cost = u128::from(bytes) + u128::from(OPENING);
        let directory = memchr::memrchr(b'/', path).and_then(|slash| path.get(..slash)).unwrap_or_default();
        let is_between = self.directory.as_deref() != Some(directory);
        self.pass(is_between);
        if is_between {
            let last = self.directory.get_or_insert_default();
            last.clear();
            last.extend_from_slice(directory);
        }
        let mut cuts: Option<bool> = None;
        let PlaceBetween { input, cost: before } = self.place;
        let behind = PlaceBetween { input: input + 1, cost: before + cost };
        while let Some(ideal) = self.next_ideal().filter(|&ideal| ideal < behind.cost) {
            let inside = ideal.saturating_sub(before);
            let offset = u64::try_from(inside.saturating_sub(OPENING.into())).unwrap_or(u64::MAX);
            if offset > 0 && *cuts.get_or_insert_with(&mut *may_cut) {
                self.starts.push(SliceStart { input, offset });
                continue;
            }
            let at = if inside * 2 > cost { behind } else { self.place };
            if at.input > input || !is_between {
                let (number, back) = (self.starts.len(), self.between);
                self.open.push(OpenStart { number, at, back });
            }
            self.starts.push(SliceStart { input: at.input, offset: 0 });
        }
        self.place = behind;
    }

    /// The starts of the slices after the first, in order; several may be equal.
    pub(super) fn finish(mut self) -> Vec<SliceStart> {
        self.pass(true);
        while self.next_ideal().is_some() {
            self.starts.push(SliceStart { input: self.place.input, offset: 0 });
        }
        // A boundary that moved may be behind the next one.
        let mut last = SliceStart::default();
        for start in &mut self.starts {
            last = last.max(*start);
            *start = last;
        }
        self.starts
    }

    /// The ideal boundary of the next start, if there is one more.
    fn next_ideal(&self) -> Option<u128> {
        let number = self.starts.len() as u128 + 1;
        (number < self.slices).then(|| self.total * number / self.slices)
    }

    /// Passes the place behind the last input, and settles the boundaries that can be settled.
    fn pass(&mut self, is_between: bool) {
        let (place, near, starts) = (self.place, self.near, &mut self.starts);
        self.open.retain(|open| {
            let ahead = Some(place.cost - open.at.cost).filter(|&cost| cost <= near);
            if !is_between && ahead.is_some() {
                return true;
            }
            let back = Some(open.at.cost - open.back.cost).filter(|&cost| cost <= near);
            let input = match (back, ahead.filter(|_| is_between)) {
                (_, Some(0)) => open.at.input,
                (Some(back), ahead) if ahead.is_none_or(|ahead| back <= ahead) => open.back.input,
                (_, Some(_)) => place.input,
                _ => open.at.input,
            };
            if let Some(start) = starts.get_mut(open.number) {
                start.input = input;
            }
            false
        });
        if is_between {
            self.between = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::source::Input;

    fn slice_starts(
        inputs: &[Input],
        slices: u32,
        may_cut: &mut dyn FnMut(&Input) -> bool,
    ) -> Vec<SliceStart> {
        let bytes = inputs.iter().map(|input| input.bytes).sum();
        let mut finder = SliceFinder::new(inputs.len() as u64, bytes, slices);
        for input in inputs {
            finder.take(input.path.as_os_str().as_encoded_bytes(), input.bytes, &mut || may_cut(input));
        }
        finder.finish()
    }

    fn input(path: &str, bytes: u64) -> Input {
        Input { path: path.into(), bytes, ..Input::default() }
    }

    fn starts(inputs: &[Input], slices: u32, cuts: bool) -> Vec<(u64, u64)> {
        let starts = slice_starts(inputs, slices, &mut |_| cuts);
        starts.iter().map(|start| (start.input, start.offset)).collect()
    }

    #[test]
    fn boundaries_are_where_half_of_the_cost_is_and_cut_only_what_may_be_cut() {
        let inputs = [input("a/1", 1 << 20), input("b/1", 1 << 20), input("c/1", 2 << 20)];
        assert_eq!(starts(&inputs, 1, true), []);
        assert_eq!(starts(&inputs, 2, false), [(2, 0)]);
        let cut = (4 << 20) / 4 * 3 - (2 << 20) - OPENING * 3 / 4;
        assert_eq!(starts(&inputs, 4, true).last(), Some(&(2, cut)));
        assert_eq!(starts(&[input("a", 1 << 30)], 3, false), [(0, 0), (1, 0)]);
        assert_eq!(starts(&[], 4, true), [(0, 0), (0, 0), (0, 0)]);
    }

    #[test]
    fn a_boundary_moves_to_a_near_end_of_a_directory() {
        let files =
            |directory: &'static str, count| (0..count).map(move |n| input(&format!("{directory}/{n}"), 0));
        let inputs: Vec<_> = files("/a", 1010).chain(files("/b", 990)).collect();
        assert_eq!(starts(&inputs, 2, false), [(1010, 0)]);
        let inputs: Vec<_> = files("/a", 990).chain(files("/b", 1010)).collect();
        assert_eq!(starts(&inputs, 2, false), [(990, 0)]);
        let inputs: Vec<_> = files("/a", 1200).chain(files("/b", 800)).collect();
        assert_eq!(starts(&inputs, 2, false), [(1000, 0)], "that would cost too much");
    }

    #[test]
    fn random_slices_are_in_order_and_about_equal() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..200 {
            let count = random.usize(..300);
            let inputs: Vec<_> = (0..count)
                .map(|n| input(&format!("/{}/{n}", n / (1 + random.usize(..9))), random.u64(..100_000)))
                .collect();
            let slices = random.u32(1..20);
            let starts = starts(&inputs, slices, random.bool());
            assert_eq!(starts.len(), slices as usize - 1, "seed {seed}");
            assert!(
                starts.is_sorted() && starts.iter().all(|&(input, _)| input <= count as u64),
                "seed {seed}"
            );
            let total: u128 = inputs.iter().map(cost).sum();
            let most = total / u128::from(slices) * 12 / 10 + 2 * u128::from(100_000 + OPENING);
            let mut from = 0;
            for to in starts.iter().map(|&(input, _)| usize::try_from(input).unwrap()).chain([count]) {
                let sum: u128 = inputs[from.min(to)..to].iter().map(cost).sum();
                assert!(sum <= most, "seed {seed}: {sum} of {total} in {slices}");
                from = to;
            }
        }
    }

    #[test]
    fn starts_are_those_that_are_found_with_all_inputs_in_memory() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..2000 {
            let (directories, most) = (random.usize(1..30), [1, 100, 100_000, 10_000_000][random.usize(..4)]);
            let mut inputs: Vec<_> = (0..random.usize(..200))
                .map(|n| input(&format!("/d{}/{n}", random.usize(..directories)), random.u64(..most)))
                .collect();
            if random.bool() {
                inputs.sort_by(|one, other| one.path.parent().cmp(&other.path.parent()));
            }
            let slices = random.u32(1..30);
            let cuts = random.u64(1..4);
            let mut may_cut = |input: &Input| input.bytes.is_multiple_of(cuts);
            let expected = slice_starts_in_memory(&inputs, slices, &mut may_cut);
            assert_eq!(slice_starts(&inputs, slices, &mut may_cut), expected, "seed {seed}");
        }
    }

    fn cost(input: &Input) -> u128 {
        u128::from(input.bytes) + u128::from(OPENING)
    }

    /// The same with all inputs in memory.
    fn slice_starts_in_memory(
        inputs: &[Input],
        slices: u32,
        may_cut: &mut dyn FnMut(&Input) -> bool,
    ) -> Vec<SliceStart> {
        let total: u128 = inputs.iter().map(cost).sum();
        let slices = u128::from(slices.max(1));
        let near = total / slices / u128::from(NEAR);
        let (mut starts, mut input, mut before) = (Vec::new(), 0, 0);
        // Whether this input may be cut, once it was asked.
        let mut cuts: Option<bool> = None;
        for number in 1..slices {
            let ideal = total * number / slices;
            while let Some(cost) = inputs.get(input).map(cost).filter(|cost| before + cost <= ideal) {
                before += cost;
                (input, cuts) = (input + 1, None);
            }
            let Some(found) = inputs.get(input) else {
                starts.push(SliceStart { input: inputs.len() as u64, offset: 0 });
                continue;
            };
            let inside = ideal - before;
            let offset = u64::try_from(inside.saturating_sub(OPENING.into())).unwrap_or(u64::MAX);
            if offset > 0 && *cuts.get_or_insert_with(|| may_cut(found)) {
                starts.push(SliceStart { input: input as u64, offset });
                continue;
            }
            let end = if inside * 2 > cost(found) { input + 1 } else { input };
            starts.push(SliceStart { input: nearest_directory(inputs, end, near) as u64, offset: 0 });
        }
        // A boundary that moved may be behind the next one.
        let mut last = SliceStart { input: 0, offset: 0 };
        for start in &mut starts {
            last = last.max(*start);
            *start = last;
        }
        starts
    }

    /// The nearest place between two directories, if the inputs between cost less than `near`.
    fn nearest_directory(inputs: &[Input], at: usize, near: u128) -> usize {
        let directory = |input: usize| inputs.get(input).and_then(|input| input.path.parent());
        let is_between = |at: usize| {
            let before: Option<&Path> = at.checked_sub(1).and_then(directory);
            before != directory(at)
        };
        if is_between(at) {
            return at;
        }
        let (mut back, mut cost_back, mut ahead, mut cost_ahead) = (at, 0, at, 0);
        loop {
            let less = back.checked_sub(1).and_then(|input| inputs.get(input)).map(cost);
            let more = inputs.get(ahead).map(cost);
            let costs_back = less.map(|less| cost_back + less).filter(|&cost| cost <= near);
            let costs_ahead = more.map(|more| cost_ahead + more).filter(|&cost| cost <= near);
            match (costs_back, costs_ahead) {
                (Some(cost), other) if other.is_none_or(|other| cost <= other) => {
                    (back, cost_back) = (back - 1, cost);
                    if is_between(back) {
                        return back;
                    }
                }
                (_, Some(cost)) => {
                    (ahead, cost_ahead) = (ahead + 1, cost);
                    if is_between(ahead) {
                        return ahead;
                    }
                }
                _ => return at,
            }
        }
    }
}
