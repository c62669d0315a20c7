use fastrand::Rng;

use super::format::BLOCK;
use super::paths::{nth_path, read_path};
use super::write::FrontCoder;
use crate::codec::ByteReader;

/// Path `n` of a block, read from front to back.
fn slow(bytes: &[u8], n: usize) -> Option<Vec<u8>> {
    let (mut block, mut path) = (ByteReader::new(bytes), Vec::new());
    (0..=n).try_for_each(|_| read_path(&mut block, &mut path))?;
    Some(path)
}

#[test]
fn paths_are_read_from_back_to_front_as_from_front_to_back() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    for round in 0..2_000 {
        let mut coder = FrontCoder::default();
        let mut bytes = Vec::new();
        let mut paths: Vec<Vec<u8>> = Vec::new();
        for _ in 0..random.usize(1..=BLOCK) {
            let before = paths.last().map_or(&b""[..], Vec::as_slice);
            let mut path = before[..random.usize(..=before.len())].to_vec();
            let most = if random.u8(..) == 0 { 40_000 } else { 9 };
            path.extend((0..random.usize(..most)).map(|_| random.u8(b'a'..=b'c')));
            bytes.extend_from_slice(coder.code(&path));
            paths.push(path);
        }
        for (n, path) in paths.iter().enumerate() {
            let found = nth_path(ByteReader::new(&bytes), n);
            assert_eq!(found.as_ref(), Some(path), "seed {seed:#x} round {round}");
        }
        let at = random.usize(..bytes.len());
        bytes[at] = random.u8(..);
        bytes.truncate(random.usize(..=bytes.len()));
        for n in 0..=BLOCK {
            let expected = if n < BLOCK { slow(&bytes, n) } else { None };
            assert_eq!(nth_path(ByteReader::new(&bytes), n), expected, "seed {seed:#x} round {round}");
        }
    }
}
