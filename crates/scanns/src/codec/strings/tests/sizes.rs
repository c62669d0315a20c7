//! Measures sizes and times of blocks: `cargo test --release -p scanns --lib -- --ignored --nocapture
//! blocks_of_strings`.

use std::hint::black_box;
use std::time::Instant;

use super::super::super::fsst::{SAMPLE, SymbolTable, sample};
use super::*;

/// Returns strings of some kinds, in random order.
fn kinds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let mut random = fastrand::Rng::with_seed(3);
    let listed = std::process::Command::new("find").args(["/usr", "-type", "f"]).output().unwrap().stdout;
    let mut paths: Vec<Vec<u8>> = listed.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    paths.truncate(65_536);
    let listed = paths.clone();
    random.shuffle(&mut paths);
    let mut of = |make: fn(&mut fastrand::Rng) -> String| {
        (0..65_536).map(|_| make(&mut random).into_bytes()).collect()
    };
    vec![
        ("paths", paths),
        ("paths as found", listed),
        ("random ids", of(|random| format!("{:016x}-{:04x}", random.u64(..), random.u16(..)))),
        (
            "status lines",
            of(|random| {
                let (code, page) = ([200, 200, 200, 304, 404, 500][random.usize(..6)], random.u32(..900));
                format!(
                    "GET /articles/{page}/comments HTTP/1.1 {code} {} Mozilla/5.0 (X11; Linux)",
                    random.u32(..90_000)
                )
            }),
        ),
    ]
}

#[test]
#[ignore = "measures, and takes a while"]
fn sizes_and_times_of_blocks_of_strings() {
    for (name, strings) in kinds() {
        let all: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
        let text: usize = all.iter().map(|string| string.len()).sum();
        for in_block in [1024, 8192, 65_536] {
            let start = Instant::now();
            let blocks: Vec<Vec<u8>> = strings.chunks(in_block).map(encode).collect();
            let wrote = start.elapsed();
            let len: usize = blocks.iter().map(Vec::len).sum();
            let opened: Vec<StringBlock> =
                blocks.iter().map(|bytes| StringBlock::open(bytes).unwrap()).collect();
            let packed = opened.iter().filter(|block| block.is_packed()).count();
            let mut random = fastrand::Rng::with_seed(4);
            let wanted: Vec<usize> = (0..200_000).map(|_| random.usize(..strings.len())).collect();
            let (mut out, mut scratch) = (Vec::new(), Vec::new());
            let start = Instant::now();
            for &i in wanted.iter().filter(|_| packed == 0) {
                out.clear();
                opened[i / in_block].get_from(&[], i % in_block, &mut out).unwrap();
                black_box(&out);
            }
            let one = start.elapsed().as_nanos() as f64 / wanted.len() as f64;
            let start = Instant::now();
            for block in &opened {
                let each = |string: &[u8]| {
                    black_box(string);
                    ControlFlow::Continue(())
                };
                block.each(0..block.len() as usize, &mut scratch, each).unwrap();
            }
            let every = start.elapsed();
            let rate = |time: std::time::Duration| text as f64 / 1e6 / time.as_secs_f64();
            println!(
                "{name}, {in_block} to a block: {:.1} bytes in {:.2}, {packed} of {} packed; written {:.0} \
                 MB/s, one {one:.0} ns, all {:.0} MB/s",
                text as f64 / all.len() as f64,
                len as f64 / all.len() as f64,
                blocks.len(),
                rate(wrote),
                rate(every)
            );
        }
        let start = Instant::now();
        let table = SymbolTable::train(&sample(all.iter().copied(), text, SAMPLE));
        let trained = start.elapsed();
        let (matcher, mut codes) = (table.matcher(), Vec::new());
        let start = Instant::now();
        all.iter().for_each(|string| matcher.compress(string, &mut codes));
        let compressed = start.elapsed();
        let mut out = Vec::new();
        let start = Instant::now();
        table.decompress(&codes, usize::MAX, &mut out).unwrap();
        let rates = [compressed, start.elapsed()].map(|time| text as f64 / 1e6 / time.as_secs_f64());
        println!(
            "{name}: {:.2} times, trained in {trained:?}, {rates:.0?} MB/s",
            text as f64 / codes.len() as f64
        );
    }
}
