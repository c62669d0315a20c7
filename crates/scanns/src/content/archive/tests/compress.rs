//! Files of Unix compress, against ncompress.

use std::io::{BufReader, Read, Write};
use std::process::{Command, Stdio};

use super::super::Uncompress;
use super::{has_tool, random};

/// What a tool gives for an input.
fn pipe(command: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool starts");
    let mut to = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || to.write_all(&input));
    let output = child.wait_with_output().expect("the tool ends").stdout;
    // A tool that refuses its input closes the pipe.
    let _closed = writer.join().expect("no panic");
    output
}

fn expand(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    Uncompress::new(bytes).read_to_end(&mut content).map(|_| content)
}

/// Data that changes its character, so that the compressor clears its table.
fn samples(random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let noise = |length: usize, random: &mut fastrand::Rng| -> Vec<u8> {
        (0..length).map(|_| random.u8(..)).collect()
    };
    let words: Vec<Vec<u8>> =
        (0..400).map(|_| (0..random.usize(1..9)).map(|_| random.u8(b'a'..=b'z')).collect()).collect();
    let text = |length: usize, random: &mut fastrand::Rng| {
        let mut text = Vec::new();
        while text.len() < length {
            text.extend(random.choice(&words).expect("words"));
            text.push(b' ');
        }
        text
    };
    let mut samples = vec![b"".to_vec(), b"a".to_vec(), b"aaaa".to_vec(), vec![b'z'; 3_000_000]];
    for length in [10, 1000, 5000, 100_000, 700_000] {
        samples.push(noise(length, random));
        samples.push(text(length, random));
    }
    samples.push(
        [text(400_000, random), noise(400_000, random), text(600_000, random), vec![0; 500_000]].concat(),
    );
    for _ in 0..6 {
        let letters = random.u8(2..200);
        samples.push((0..random.usize(1..60_000)).map(|_| random.u8(..letters)).collect());
    }
    samples
}

#[test]
fn the_output_of_compress_is_expanded_at_every_width() {
    if !has_tool("compress") {
        return;
    }
    let mut random = random("compress");
    for sample in samples(&mut random) {
        for width in ["9", "10", "11", "12", "13", "14", "15", "16"] {
            let packed = pipe(&["compress", "-c", "-f", "-b", width], &sample);
            // ncompress cannot read what it writes with 9 bits once the table is full.
            if width != "9" || pipe(&["uncompress", "-c"], &packed) == sample {
                let context = format!("-b {width}, {} bytes", sample.len());
                let back = expand(&packed).unwrap_or_else(|error| panic!("{context}: {error}"));
                assert!(back == sample, "{context}");
            }
        }
    }
}

#[test]
fn changed_files_give_what_uncompress_gives_or_an_error() {
    // The package gzip has an uncompress, too, but nothing that compresses.
    if !has_tool("compress") || !has_tool("uncompress") {
        return;
    }
    let mut random = random("changed .Z");
    let mut agreed = 0;
    for sample in samples(&mut random).into_iter().filter(|sample| (10..70_000).contains(&sample.len())) {
        let packed = pipe(&["compress", "-c", "-f", "-b", "12"], &sample);
        for _ in 0..10 {
            let mut changed = packed.clone();
            let at = random.usize(3..changed.len());
            changed[at] ^= 1 << random.u8(0..8);
            if let Ok(ours) = expand(&changed) {
                assert!(ours == pipe(&["uncompress", "-c"], &changed), "byte {at} of {}", changed.len());
                agreed += 1;
            }
        }
    }
    println!("{agreed} changed files were still valid");
}

#[test]
fn damaged_files_never_panic_and_give_what_came_before() {
    let mut random = random("damaged .Z");
    for _ in 0..20_000 {
        let mut bytes = vec![0x1f, 0x9d, 0x80 | random.u8(8..18)];
        let mask = if random.bool() { 0xff } else { 0x11 };
        bytes.extend((0..random.usize(0..300)).map(|_| random.u8(..) & mask));
        let _either = expand(&bytes);
    }
    // 'a', 'b', then a code that is not defined.
    let codes = u32::from(b'a') | u32::from(b'b') << 9 | 400 << 18;
    let bytes = [&b"\x1f\x9d\x90"[..], &codes.to_le_bytes()].concat();
    let mut reader = Uncompress::new(&bytes[..]).take(100);
    let mut content = Vec::new();
    let error = reader.read_to_end(&mut content).expect_err("a bad code");
    assert_eq!(content, b"ab");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    for header in [&b""[..], b"\x1f", b"\x1f\x9d", b"\x1f\x8b\x90", b"\x1f\x9d\x08", b"\x1f\x9d\x91"] {
        expand(header).expect_err("no header");
    }
    assert_eq!(expand(b"\x1f\x9d\x90").expect("empty"), b"");
}

#[test]
fn a_source_that_gives_single_bytes_is_read_as_well() {
    if !has_tool("compress") {
        return;
    }
    let text = b"some text that repeats itself, ".repeat(300);
    let packed = pipe(&["compress", "-c", "-f"], &text);
    let mut content = Vec::new();
    Uncompress::new(BufReader::with_capacity(1, &packed[..])).read_to_end(&mut content).expect("valid");
    assert_eq!(content, text);
}
