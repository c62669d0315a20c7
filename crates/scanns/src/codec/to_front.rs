//! How to move the chosen ones of four to the front, on processors that shuffle vectors but do not compress
//! them.

#![expect(clippy::indexing_slicing, reason = "an index has four bits, and the compiler makes the tables")]

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

/// Returns the order of four doubles, as pairs of 32 bits, and of four integers, as bytes, in which the
/// chosen ones come first. The lowest four bits of `chosen` tell which these are.
#[inline]
pub fn to_front(chosen: u32) -> (&'static [u32; 8], &'static [u8; 16]) {
    let chosen = (chosen & 15) as usize;
    (&ORDERS.doubles[chosen], &ORDERS.integers[chosen])
}
