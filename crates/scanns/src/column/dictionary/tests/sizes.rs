//! Measures sizes and times: `cargo test --release -p scanns --lib -- --ignored --nocapture dictionary`.

use std::hint::black_box;
use std::time::Instant;

use super::*;
use crate::codec::common_prefix;
use crate::codec::put_varint;

/// Bytes per term as other engines store them: blocks of 64 front-coded terms, each compressed by LZ4 with
/// its first term as dictionary, without an index over the blocks.
fn plain(terms: &[Vec<u8>]) -> (f64, f64) {
    let (mut raw, mut packed) = (0, 0);
    for block in terms.chunks(64) {
        let mut out = Vec::new();
        for pair in block.windows(2) {
            let shared = common_prefix(&pair[0], &pair[1]);
            let own = pair[1].len() - shared;
            out.push(u8::try_from(shared.min(15) | own.saturating_sub(1).min(15) << 4).unwrap());
            for (number, most) in [(shared, 15), (own - 1, 15)] {
                if let Some(over) = number.checked_sub(most) {
                    put_varint(&mut out, over as u64);
                }
            }
            out.extend_from_slice(&pair[1][shared..]);
        }
        let first = 2 + block[0].len();
        raw += first + out.len();
        packed += first + lz4_flex::block::compress_with_dict(&out, &block[0]).len().min(out.len());
    }
    (raw as f64 / terms.len() as f64, packed as f64 / terms.len() as f64)
}

fn measure(name: &str, terms: &[Vec<u8>]) {
    let count = terms.len() as f64;
    let text: usize = terms.iter().map(Vec::len).sum();
    let start = Instant::now();
    let bytes = write(terms);
    let wrote = start.elapsed().as_nanos() as f64 / count;
    let [all, index] = [0, 1].map(|section: usize| bytes[section].len() as f64 / count);
    let (raw, lz4) = plain(terms);
    println!(
        "{name}: {count} terms of {:.1} bytes; front-coded {raw:.2}, with LZ4 {lz4:.2}; here {all:.2} + \
         {index:.2} = {:.2}, {:.2} of it; written in {wrote:.0} ns",
        text as f64 / count,
        all + index,
        (all + index) / lz4
    );
    let reader = open(&bytes).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let ords: Vec<u32> = (0..1_000_000).map(|_| random.u32(..reader.len())).collect();
    let mut ascending = ords.clone();
    ascending.sort_unstable();
    // The look-ups are independent, so that memory accesses overlap.
    let wanted: Vec<u8> = ords.iter().flat_map(|&ord| terms[ord as usize].iter().copied()).collect();
    let lens: Vec<usize> = ords.iter().map(|&ord| terms[ord as usize].len()).collect();
    let mut term = Vec::new();
    for _ in 0..2 {
        let time = |what: &str, count: usize, work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            print!("  {what} {:.0} ns", start.elapsed().as_nanos() as f64 / count as f64);
        };
        time("term at random", ords.len(), &mut || {
            for &ord in &ords {
                term.clear();
                reader.term(ord, &mut term).unwrap();
                black_box(&term);
            }
        });
        time("of a thousand", ords.len(), &mut || {
            for &ord in &ords {
                term.clear();
                reader.term(ord % 1000, &mut term).unwrap();
                black_box(&term);
            }
        });
        time("cursor", terms.len(), &mut || {
            let mut cursor = reader.cursor_from(0);
            while let Some((_, term)) = cursor.next().unwrap() {
                black_box(term);
            }
        });
        time("ascending", ords.len(), &mut || {
            reader
                .terms_of(&ascending, |_, term| {
                    black_box(term);
                    Ok(())
                })
                .unwrap();
        });
        time("find", ords.len(), &mut || {
            let mut rest = wanted.as_slice();
            for (&ord, &len) in ords.iter().zip(&lens) {
                let (term, others) = rest.split_at(len);
                rest = others;
                assert_eq!(reader.find(term).unwrap(), Ok(ord));
            }
        });
        println!();
    }
}

/// A number below `most`; small numbers are more frequent.
fn few(random: &mut fastrand::Rng, most: usize) -> usize {
    let most = random.usize(1..=most);
    let most = random.usize(1..=most);
    random.usize(..most)
}

/// Addresses of pages: hosts of different frequencies, and paths of words and numbers.
fn addresses(count: usize) -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(0x5eed_0a11);
    let syllables = [
        "ba", "con", "de", "fer", "gi", "ho", "in", "ka", "lo", "man", "ne", "or", "pre", "qui", "ra", "ster",
    ];
    let words: Vec<String> =
        (0..4000).map(|_| (0..random.usize(1..5)).map(|_| syllables[random.usize(..16)]).collect()).collect();
    let word = |random: &mut fastrand::Rng| &words[few(random, 4000)];
    let hosts: Vec<String> = (0..2000)
        .map(|_| {
            let end = ["com", "org", "net", "de", "io"][random.usize(..5)];
            let scheme = ["https://www.", "https://", "http://"][random.usize(..3)];
            format!("{scheme}{}{}.{end}", word(&mut random), word(&mut random))
        })
        .collect();
    let mut all: Vec<Vec<u8>> = (0..count + count / 8)
        .map(|_| {
            let mut text = hosts[few(&mut random, 2000)].clone();
            for _ in 0..random.usize(1..4) {
                text = text + "/" + word(&mut random);
            }
            match random.u32(..4) {
                0 => text += &format!("/{}", random.u32(..1_000_000)),
                1 => text += &format!("?id={}&page={}", random.u32(..100_000), random.u32(..20)),
                2 => {
                    text += &format!(
                        "/20{:02}/{:02}/{}.html",
                        random.u32(..26),
                        random.u32(1..13),
                        word(&mut random)
                    )
                }
                _ => text += &format!("-{:x}", random.u32(..)),
            }
            text.into_bytes()
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    while all.len() > count {
        all.swap_remove(random.usize(..all.len()));
    }
    all.sort_unstable();
    all
}

#[test]
#[ignore = "measures, and takes a while"]
fn sizes_and_times_of_dictionaries() {
    measure("addresses", &addresses(1_000_000));
    let listed =
        std::process::Command::new("find").args(["/usr", "/work", "-type", "f"]).output().unwrap().stdout;
    let mut paths: Vec<Vec<u8>> = listed.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.truncate(200_000);
    measure("paths", &paths);
    let mut random = fastrand::Rng::with_seed(2);
    let mut numbers: Vec<Vec<u8>> =
        (0..300_000).map(|_| format!("{:016x}", random.u64(..)).into_bytes()).collect();
    numbers.sort_unstable();
    measure("random numbers", &numbers);
}
