//! Sums in units that people read, as du and ls print them.

/// A sum of bytes with a unit that suits it, in powers of `base` (1024 or 1000), rounded up.
pub fn human_size(sum: u64, base: u64) -> String {
    let letters =
        if base == 1000 { ["", "k", "M", "G", "T", "P", "E"] } else { ["", "K", "M", "G", "T", "P", "E"] };
    let (sum, base, mut unit, mut power) = (u128::from(sum), u128::from(base), 1, 0);
    while sum.div_ceil(unit) >= base && power < 6 {
        unit *= base;
        power += 1;
    }
    let letter = letters.get(power).copied().unwrap_or_default();
    let tenths = (sum * 10).div_ceil(unit);
    if power > 0 && tenths < 100 {
        format!("{}.{}{letter}", tenths / 10, tenths % 10)
    } else {
        format!("{}{letter}", sum.div_ceil(unit))
    }
}
