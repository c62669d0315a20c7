//! Integers of one width, each of which can be read alone.
//!
//! Integer `i` begins at bit `i * width` of the bytes, counted from the lowest bit of the first byte. So
//! eight integers take `width` bytes, and reading one takes a single load, a shift and a mask. The load is of
//! eight bytes, so widths are 0 to 56, and 64. After the integers there are [`TAIL`] bytes, which may be
//! loaded and are meaningless.
//!
//! `pick.rs` reads many integers at chosen places.

mod pick;

/// Number of bytes after the integers.
pub const TAIL: usize = 8;

/// Calls `$function::<W>` for the constant `W` that equals `$width`.
macro_rules! with_width {
    ($width:expr, $function:ident ($($argument:expr),*)) => {
        with_width!(@ $width, $function ($($argument),*)
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56)
    };
    (@ $width:expr, $function:ident $arguments:tt $($value:literal)*) => {
        match $width {
            $($value => with_width!(! $function $value $arguments),)*
            _ => with_width!(! $function 64 $arguments),
        }
    };
    (! $function:ident $value:literal ($($argument:expr),*)) => {
        $function::<$value>($($argument),*)
    };
}

/// Returns the width of integers, where `all` is their maximum or their bitwise OR.
#[inline]
pub fn packed_width(all: u64) -> u8 {
    let bits = u8::try_from(64 - all.leading_zeros()).unwrap_or(64);
    if bits > 56 { 64 } else { bits }
}

/// Returns the number of bytes of `count` integers of `width` bits, without the bytes after them.
#[inline]
pub fn packed_bytes(count: usize, width: u8) -> usize {
    (count * usize::from(width)).div_ceil(8)
}

/// Appends `values` and the bytes after them; no value may need more than `width` bits.
pub fn pack_all(values: impl IntoIterator<Item = u64>, width: u8, out: &mut Vec<u8>) {
    let width = u32::from(width);
    let (mut word, mut used) = (0u64, 0u32);
    for value in values {
        word |= value.checked_shl(used).unwrap_or(0);
        used += width;
        if used >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            used -= 64;
            word = value.checked_shr(width - used).unwrap_or(0);
        }
    }
    out.extend_from_slice(word.to_le_bytes().get(..used.div_ceil(8) as usize).unwrap_or_default());
    out.extend_from_slice(&[0; TAIL]);
}

/// Returns the index of the first of the eight bytes to load for integer `i`, and a function that extracts
/// the integer from them. `width` must be valid.
#[inline]
pub fn place_in_packed(i: usize, width: u8) -> (usize, impl Fn([u8; TAIL]) -> u64) {
    let bit = i * usize::from(width);
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    (bit / 8, move |word| u64::from_le_bytes(word) >> (bit % 8) & mask)
}

/// A sequence of packed integers.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    bytes: &'a [u8],
    count: usize,
    width: u8,
}

impl<'a> Packed<'a> {
    /// Opens the `count` integers of `width` bits at the front of `bytes`. Returns `None` if there are fewer,
    /// or if the width is invalid.
    #[inline]
    pub fn new(bytes: &'a [u8], count: usize, width: u8) -> Option<Self> {
        let fits = width <= 56 || width == 64;
        let bytes = bytes.get(..count.checked_mul(width.into())?.div_ceil(8).checked_add(TAIL)?)?;
        fits.then_some(Packed { bytes, count, width })
    }

    /// Returns the size in bytes, including the bytes after the integers.
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns integer `i`; `None` after the last one.
    #[inline]
    pub fn get(&self, i: usize) -> Option<u64> {
        if i >= self.count {
            return None;
        }
        let (at, read) = place_in_packed(i, self.width);
        Some(read(*self.bytes.get(at..)?.first_chunk()?))
    }

    /// Fills `out` with the integers from `from` on.
    ///
    /// This takes about a third of a nanosecond per integer. If there are too few integers, the rest of `out`
    /// is unchanged.
    #[inline]
    pub fn unpack(&self, from: usize, out: &mut [u64]) {
        let wanted = self.count.saturating_sub(from).min(out.len());
        let out = out.get_mut(..wanted).unwrap_or_default();
        // Whole groups begin at whole bytes.
        let (first, rest) = out.split_at_mut((from.next_multiple_of(8) - from).min(wanted));
        for (value, i) in first.iter_mut().zip(from..) {
            *value = self.get(i).unwrap_or(0);
        }
        let at = from.div_ceil(8) * usize::from(self.width);
        with_width!(self.width, unpack_groups(self.bytes.get(at..).unwrap_or_default(), rest));
    }
}

/// Unpacks groups of eight integers from the front of `bytes`, and the remaining integers.
#[inline(never)]
fn unpack_groups<const W: usize>(bytes: &[u8], out: &mut [u64]) {
    let mask = if W == 64 { u64::MAX } else { (1u64 << (W % 64)) - 1 };
    let load = |bytes: &[u8], k: usize| match bytes.get(k * W / 8..).and_then(|bytes| bytes.first_chunk()) {
        Some(word) => u64::from_le_bytes(*word) >> (k * W % 8) & mask,
        None => 0,
    };
    let (groups, rest) = out.as_chunks_mut::<8>();
    let mut at = 0;
    for group in groups {
        let Some(source) = bytes.get(at..at + W + TAIL) else { return };
        *group = std::array::from_fn(|k| load(source, k));
        at += W;
    }
    let source = bytes.get(at..).unwrap_or_default();
    for (value, k) in rest.iter_mut().zip(0..) {
        *value = load(source, k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_width_read_back_alone_and_together() {
        let seed = 0x5eed_0601;
        let mut random = fastrand::Rng::with_seed(seed);
        for width in (0..=56).chain([64]) {
            for count in [0, 1, 7, 8, 9, 63, 64, 65, 300] {
                let limit = if width == 64 { u64::MAX } else { (1 << width) - 1 };
                let values: Vec<u64> = (0..count).map(|_| random.u64(..=limit)).collect();
                let mut bytes = Vec::new();
                pack_all(values.iter().copied(), width, &mut bytes);
                assert_eq!(bytes.len(), packed_bytes(count, width) + TAIL, "seed {seed:x} {width} {count}");
                let packed = Packed::new(&bytes, count, width).unwrap();
                assert!(
                    (0..count).all(|i| packed.get(i) == Some(values[i])),
                    "seed {seed:x} {width} {count}"
                );
                assert_eq!(packed.get(count), None);
                for from in 0..count.min(20) {
                    let mut out = vec![7; count - from + 3];
                    packed.unpack(from, &mut out);
                    assert_eq!(out[..count - from], values[from..], "seed {seed:x} {width} {count} {from}");
                    assert_eq!(out[count - from..], [7; 3]);
                }
                assert!(Packed::new(&bytes[..bytes.len() - 1], count, width).is_none());
            }
        }
        assert!([57, 63, 65, 255].iter().all(|&width| Packed::new(&[0; 4096], 8, width).is_none()));
        assert!(Packed::new(&[0; 64], usize::MAX, 64).is_none());
    }

    #[test]
    fn widths_are_those_that_one_load_reads() {
        assert_eq!(
            [0, 1, 2, 255, 256, (1 << 56) - 1, 1 << 56, u64::MAX].map(packed_width),
            [0, 1, 2, 8, 9, 56, 64, 64]
        );
    }
}
