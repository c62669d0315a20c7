//! The two numbers of a device, as Linux keeps them in one.

/// The major number.
pub(super) fn major(device: u64) -> u64 {
    device >> 8 & 0xfff | device >> 32 & 0xffff_f000
}

/// The minor number.
pub(super) fn minor(device: u64) -> u64 {
    device & 0xff | device >> 12 & 0xffff_ff00
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_numbers_come_back() {
        for (one, other) in [(1, 3), (259, 70_000), (4000, 5), (u32::MAX, u32::MAX), (0, 0)] {
            let device = rustix::fs::makedev(one, other);
            assert_eq!((major(device), minor(device)), (one.into(), other.into()));
        }
    }
}
