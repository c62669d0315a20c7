//! Moves the chosen ones of four to the front, on processors that shuffle vectors but do not compress
//! them.

#![expect(clippy::indexing_slicing, reason = "an index has four bits, and the compiler makes the tables")]

use std::arch::x86_64::{
    __m128i, __m256d, _mm_loadu_si128, _mm_shuffle_epi8, _mm256_castpd_si256, _mm256_castsi256_pd,
    _mm256_loadu_si256, _mm256_permutevar8x32_epi32,
};

/// The orders of four doubles, as pairs of 32 bits, and of four integers of 32 bits, as bytes.
struct Orders {
    doubles: [[u32; 8]; 16],
    integers: [[u8; 16]; 16],
}

static ORDERS: Orders = {
    let (mut doubles, mut integers) = ([[0; 8]; 16], [[0; 16]; 16]);
    let mut chosen = 0;
    while chosen < 16 {
        let (mut from, mut to) = (0u8, 0);
        while from < 4 {
            if chosen >> from & 1 == 1 {
                let mut byte = 0;
                while byte < 4 {
                    integers[chosen][4 * to + byte as usize] = 4 * from + byte;
                    byte += 1;
                }
                doubles[chosen][2 * to] = 2 * from as u32;
                doubles[chosen][2 * to + 1] = 2 * from as u32 + 1;
                to += 1;
            }
            from += 1;
        }
        chosen += 1;
    }
    Orders { doubles, integers }
};

/// Moves the chosen ones of four doubles to the front. The lowest four bits of `chosen` tell which these are.
#[inline]
#[target_feature(enable = "avx2")]
pub fn doubles_to_front(doubles: __m256d, chosen: u32) -> __m256d {
    let order: &[u32; 8] = &ORDERS.doubles[(chosen & 15) as usize];
    // SAFETY: the load is of the whole order.
    let order = unsafe { _mm256_loadu_si256(order.as_ptr().cast()) };
    _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(doubles), order))
}

/// Does the same with four integers.
#[inline]
#[target_feature(enable = "avx2")]
pub fn integers_to_front(integers: __m128i, chosen: u32) -> __m128i {
    let order: &[u8; 16] = &ORDERS.integers[(chosen & 15) as usize];
    // SAFETY: the load is of the whole order.
    let order = unsafe { _mm_loadu_si128(order.as_ptr().cast()) };
    _mm_shuffle_epi8(integers, order)
}
