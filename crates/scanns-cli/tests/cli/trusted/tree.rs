//! A tree of texts, some compressed, some in Latin-1, and some binary files, compared with grep.
//!
//! A word of grep -w is a run of letters, digits and `_`. The words of `standard` also contain `.`, `'` and
//! `:` between letters, so grep finds `don` in `don't` and scanns does not; the last test shows it.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use super::{any, skipped};
use crate::Place;

const WORDS: [&str; 24] = [
    "energy", "Energy", "ENERGY", "field", "fields", "run_7", "run", "7", "42", "x86_64", "größe", "GRÖSSE",
    "naïve", "café", "Café", "cafe", "état", "solver", "matrix", "Matrix", "über", "e2e", "a", "lattice",
];

const GAPS: [&str; 9] = [" ", "\n", ", ", "-", "/", " (", ") ", "; ", "\t"];

fn text(random: &mut fastrand::Rng, words: usize) -> String {
    (0..words).map(|_| any(random, &WORDS).to_owned() + any(random, &GAPS)).collect()
}

/// Writes the files.
fn tree(place: &Place, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    for number in 0..600 {
        let words = random.usize(..30);
        // Encodings are told apart by their letters, and a short text has too few of them to be sure.
        let words = if number % 6 == 1 { words + 100 } else { words };
        let text = text(&mut random, words);
        let name = format!("d{}/{number}", random.usize(..7));
        match number % 6 {
            0 => {
                place.write(format!("{name}.gz"), &gzip(text.as_bytes()));
            }
            1 => {
                let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
                place.write(format!("{name}.latin"), &bytes);
            }
            2 => {
                place.write(format!("{name}.bin"), &[b"\x7fELF\0\0", text.as_bytes(), b"\0"].concat());
            }
            _ => {
                place.write(format!("{name}.txt"), text.as_bytes());
            }
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut child =
        Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap().stdout
}

/// Copies the texts into a directory beside the files, as gzip and iconv decode them. `-I` leaves out binary
/// files, of which scanns indexes names only.
fn decode(place: &Place) {
    let script = "set -e -o pipefail
        find . -type d -exec mkdir -p ../plain/{} ';'
        for file in */*.gz; do zcat \"$file\" > \"../plain/$file\"; done
        for file in */*.latin; do iconv -f ISO-8859-1 -t UTF-8 \"$file\" > \"../plain/$file\"; done
        for file in */*.txt */*.bin; do ! grep -qI '' \"$file\" || cp \"$file\" \"../plain/$file\"; done";
    let out = Command::new("bash").args(["-c", script]).current_dir(place.files()).output().unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(!place.dir.path().join("plain/d0/2.bin").exists());
}

/// The files with a match of `pattern`, an extended regular expression that begins and ends with words. `-z`
/// takes a file as one line.
fn grepped(place: &Place, pattern: &str) -> BTreeSet<String> {
    let mut grep = Command::new("grep");
    let out = grep
        .args(["-rlzwiE", "-e", pattern])
        .env("LC_ALL", "C.UTF-8")
        .current_dir(place.dir.path().join("plain"));
    let out = out.output().unwrap();
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn found(place: &Place, query: &str) -> BTreeSet<String> {
    let hits = place.search(&["--all", "--json", query]).lines();
    let root = place.files();
    let relative = |key: &str| key.strip_prefix(root.to_str().unwrap()).unwrap()[1..].to_owned();
    hits.iter().map(|hit| relative(hit["key"].as_str().unwrap())).collect()
}

/// True if the tools that the tests compare with are there.
fn has_tools(test: &str) -> bool {
    let tool =
        |name: &str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let missing: Vec<&str> = ["bash", "find", "grep", "gzip", "zcat", "zgrep", "iconv"]
        .into_iter()
        .filter(|name| !tool(name))
        .collect();
    if !missing.is_empty() {
        skipped(test, &format!("there is no {}", missing.join(", ")));
    }
    missing.is_empty()
}

#[test]
fn words_phrases_and_their_combinations_are_found_in_the_files_that_grep_lists() {
    if !has_tools("words_phrases_and_their_combinations") {
        return;
    }
    let seed = fastrand::u64(..);
    let place = Place::new();
    tree(&place, seed);
    decode(&place);
    place.indexed(&["--positions"]);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut hits = 0;
    for word in WORDS {
        let other = any(&mut random, &WORDS);
        let (one, two) = (grepped(&place, word), grepped(&place, other));
        hits += one.len();
        assert_eq!(found(&place, word), one, "seed {seed:x} {word}");
        let expected: BTreeSet<String> = one.intersection(&two).cloned().collect();
        assert_eq!(
            found(&place, &format!("{word} AND {other}")),
            expected,
            "seed {seed:x} {word} AND {other}"
        );
        let expected: BTreeSet<String> = one.difference(&two).cloned().collect();
        assert_eq!(
            found(&place, &format!("{word} NOT {other}")),
            expected,
            "seed {seed:x} {word} NOT {other}"
        );
        let phrase = grepped(&place, &format!("{word}[^[:alnum:]_]+{other}"));
        assert_eq!(found(&place, &format!("\"{word} {other}\"")), phrase, "seed {seed:x} {word} {other}");
    }
    assert!(hits > 24 * 20, "seed {seed:x}: {hits}");
}

#[test]
fn zgrep_lists_the_same_files_where_all_are_text_or_compressed() {
    if !has_tools("zgrep_lists_the_same_files") {
        return;
    }
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let place = Place::new();
    for number in 0..60 {
        let words = random.usize(..30);
        let text = text(&mut random, words);
        match number % 2 {
            0 => place.write(format!("{number}.txt"), text.as_bytes()),
            _ => place.write(format!("{number}.gz"), &gzip(text.as_bytes())),
        };
    }
    place.indexed(&[]);
    for word in ["energy", "run_7", "größe", "42", "absent"] {
        let names: Vec<String> =
            (0..60).map(|n| format!("{n}.{}", if n % 2 == 0 { "txt" } else { "gz" })).collect();
        let out = Command::new("zgrep")
            .args(["-lwi", "-e", word])
            .args(&names)
            .env("LC_ALL", "C.UTF-8")
            .current_dir(place.files())
            .output()
            .unwrap();
        let expected: BTreeSet<String> =
            String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(found(&place, word), expected, "seed {seed:x} {word}");
    }
}

#[test]
fn words_with_apostrophes_and_dots_are_whole_where_grep_takes_them_apart() {
    let place =
        Place::with(&[("a", "don't"), ("b", "don and t"), ("c", "e.g. example.org"), ("d", "example org")]);
    place.indexed(&["--positions"]);
    let names = |query: &str| found(&place, query).into_iter().collect::<Vec<_>>().join(" ");
    // grep -lw don: a b
    assert_eq!((names("don"), names("don't")), ("b".into(), "a".into()));
    // grep -lw example: c d
    assert_eq!((names("example"), names("example.org")), ("d".into(), "c".into()));
}
