//! The common prefix of two strings of bytes.

/// Length of the common prefix.
#[inline]
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let (wide_a, wide_b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let mut at = 0;
    for (a, b) in wide_a.iter().zip(wide_b) {
        let different = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if different != 0 {
            return at + different.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = |all| <[u8]>::get(all, at..).unwrap_or_default().iter();
    at + rest(a).zip(rest(b)).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_prefixes_equal_a_byte_by_byte_comparison() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..10_000 {
            let len = random.usize(..40);
            let one: Vec<u8> = (0..len).map(|_| random.u8(..)).collect();
            let mut other = one.clone();
            other.truncate(random.usize(..=len));
            if let Some(byte) = other.last_mut() {
                *byte ^= random.u8(..2) << random.u8(..8);
            }
            other.extend((0..random.usize(..10)).map(|_| b'x'));
            let expected = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
            assert_eq!(common_prefix(&one, &other), expected, "{one:?} {other:?}");
        }
    }
}
