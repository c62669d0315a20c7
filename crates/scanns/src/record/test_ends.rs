//! How tests cut bytes into records: all at once, or in pieces, which must give the same.

/// A call of `next_end`.
pub(super) type NextEnd<'a> = dyn FnMut(&[u8], bool) -> Option<usize> + 'a;

/// A seed that the test prints.
pub(super) fn seed() -> u64 {
    let seed =
        std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    println!("SEED={seed}");
    seed
}

/// The ends of the records in bytes that come in pieces, whose lengths `next_len` gives.
pub(super) fn ends_in_pieces(
    bytes: &[u8],
    next_len: &mut dyn FnMut() -> usize,
    next_end: &mut NextEnd<'_>,
) -> Vec<usize> {
    let (mut start, mut given, mut found) = (0, 0, Vec::new());
    while start < bytes.len() {
        match next_end(&bytes[start..given], given == bytes.len()) {
            Some(end) => {
                assert!(end > 0 && start + end <= given, "an end at {end} of {}", given - start);
                start += end;
                found.push(start);
            }
            None => {
                assert!(given < bytes.len(), "{} bytes are in no record", bytes.len() - start);
                given = bytes.len().min(given + next_len());
            }
        }
    }
    found
}

/// The ends of the records in bytes that come all at once.
pub(super) fn ends_at_once(bytes: &[u8], next_end: &mut NextEnd<'_>) -> Vec<usize> {
    ends_in_pieces(bytes, &mut || bytes.len(), next_end)
}

/// The parts of bytes between ends.
pub(super) fn split_at_ends<'a>(bytes: &'a [u8], ends: &[usize]) -> Vec<&'a [u8]> {
    let starts = std::iter::once(&0).chain(ends);
    starts.zip(ends).map(|(&start, &end)| &bytes[start..end]).collect()
}

/// The records in bytes that come all at once.
pub(super) fn records<'a>(bytes: &'a [u8], next_end: &mut NextEnd<'_>) -> Vec<&'a [u8]> {
    split_at_ends(bytes, &ends_at_once(bytes, next_end))
}

/// Checks that bytes have the same records when they come in pieces of random lengths. `next_end` works on a
/// state, which begins anew for each time. Returns the records.
pub(super) fn records_of_any_pieces<'a, State: Default>(
    bytes: &'a [u8],
    random: &mut fastrand::Rng,
    next_end: fn(&mut State, &[u8], bool) -> Option<usize>,
) -> Vec<&'a [u8]> {
    let (mut one, mut two) = (State::default(), State::default());
    let whole = ends_at_once(bytes, &mut |bytes, is_end| next_end(&mut one, bytes, is_end));
    let greatest = [1, 12, 100, 10_000][random.usize(..4)];
    let next_len = &mut || random.usize(1..=greatest);
    let pieces = ends_in_pieces(bytes, next_len, &mut |bytes, is_end| next_end(&mut two, bytes, is_end));
    assert_eq!(pieces, whole, "pieces have other ends: {}", bytes[..bytes.len().min(4096)].escape_ascii());
    split_at_ends(bytes, &whole)
}

/// Ends at the last line break that is there, and not at the first.
fn last_line_end(_: &mut (), bytes: &[u8], _: bool) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1)
}

#[test]
#[should_panic(expected = "pieces have other ends")]
fn ends_that_depend_on_the_pieces_are_found() {
    let mut random = fastrand::Rng::with_seed(seed());
    for _ in 0..20 {
        records_of_any_pieces(&b"line\n".repeat(100), &mut random, last_line_end);
    }
}
