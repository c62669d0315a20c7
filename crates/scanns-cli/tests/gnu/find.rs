//! Generated expressions of find, over the index and over the tree.
//!
//! Expressions of tests alone run together in GNU find: one walk evaluates forty of them, each with a file
//! for its answer. Each is a command of its own for scanns. Whole commands, which have options and actions,
//! run alone on both sides. The order of answers differs, so answers are compared as sorted records.

use std::collections::BTreeSet;
use std::process::Output;

use crate::generate::{FILES, Generator, in_order};
use crate::live::path_of;
use crate::scene::{Scene, Side};

/// What became of generated expressions.
#[derive(Debug, Default)]
pub struct Tally {
    /// Answers that are the same, and their records.
    pub same: usize,
    records: usize,
    /// Both refuse it, or we do with a reason: back references, and what the index does not have.
    refused: usize,
    unsupported: usize,
    /// We say that a value is unknown, such as the target of a link that leads out of the index.
    unknown: usize,
    /// GNU find 4.9 evaluates a cheap test of a whole command first by mistake.
    reordered: usize,
    /// Only entries differ that changed after they were indexed.
    changed: usize,
    pub differences: usize,
}

impl Tally {
    fn judged(&self) -> usize {
        self.same + self.differences + self.changed + self.reordered
    }
}

/// The time zones of commands.
const ZONES: [&str; 5] = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kolkata", "Australia/Lord_Howe"];

/// Expressions that GNU find evaluates in one walk.
const TOGETHER: usize = 40;

/// An expression of tests, and what is printed after the path of an entry.
struct Case {
    words: Vec<Vec<u8>>,
    format: Vec<u8>,
}

fn words(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// Whether an expression has tests and operators alone, so that others can be evaluated in the same walk. The
/// generator puts a `-quit` that is never reached into lists.
fn is_pure(expression: &[Vec<u8>]) -> bool {
    const OTHERS: [&str; 17] = [
        "-maxdepth",
        "-mindepth",
        "-depth",
        "-d",
        "-xdev",
        "-mount",
        "-daystart",
        "-print",
        "-print0",
        "-ls",
        "-prune",
        "-fprint",
        "-fprint0",
        "-fls",
        "-fprintf",
        "-printf",
        "-quit",
    ];
    let is_other = |(at, word): (usize, &Vec<u8>)| {
        let is_reached =
            at.checked_sub(1).and_then(|at| expression.get(at)).is_none_or(|word| word != b"-false");
        OTHERS.iter().any(|other| other.as_bytes() == word) && (word != b"-quit" || is_reached)
    };
    !expression.is_empty() && !expression.iter().enumerate().any(is_other)
}

impl Case {
    /// A random one.
    fn make(generator: &mut Generator) -> Case {
        loop {
            let mut words = Vec::new();
            generator.expression(&mut words, 3);
            let mut format = if generator.random.u8(..3) == 0 { generator.format() } else { Vec::new() };
            // A NUL byte ends a record.
            if format.windows(2).any(|two| two == b"\\0") {
                format.clear();
            }
            if is_pure(&words) {
                return Case { words, format };
            }
        }
    }

    /// The words that print the records of the case.
    fn alone(&self, start: &[u8]) -> Vec<Vec<u8>> {
        let format = [b"%p\\0", self.format.as_slice(), b"\\0"].concat();
        let mut all = vec![start.to_vec(), b"(".to_vec()];
        all.extend(self.words.iter().cloned());
        all.extend([b")".to_vec(), b"-printf".to_vec(), format]);
        all
    }

    /// The same in a list of many, into a file.
    fn together(&self, number: usize, all: &mut Vec<Vec<u8>>) {
        if number > 0 {
            all.push(b",".to_vec());
        }
        all.extend(words(&["(", "-regextype", "findutils-default", "("]));
        all.extend(self.words.iter().cloned());
        all.extend(words(&[")", "-fprintf", &number.to_string()]));
        all.extend([[b"%p\\0", self.format.as_slice(), b"\\0"].concat(), b")".to_vec()]);
    }
}

/// A path and what is printed for it.
type Record<'t> = (&'t [u8], &'t [u8]);

/// The records of an answer, sorted.
fn records(text: &[u8]) -> Vec<Record<'_>> {
    let Some(text) = text.strip_suffix(b"\0") else { return Vec::new() };
    let parts: Vec<&[u8]> = text.split(|&byte| byte == 0).collect();
    let mut records: Vec<Record<'_>> =
        parts.chunks(2).map(|two| (two[0], two.get(1).map_or(&b""[..], |text| text))).collect();
    records.sort_unstable();
    records
}

fn owned(record: Record<'_>) -> (Vec<u8>, Vec<u8>) {
    (record.0.to_vec(), record.1.to_vec())
}

/// Compares expressions of tests until `count` of them were judged, or much more were made.
pub fn expressions(scene: &Scene, seed: u64, count: usize) -> Tally {
    let (mut tally, mut made) = (Tally::default(), 0);
    let random = fastrand::Rng::with_seed(seed);
    let mut generator = Generator { random, tree: &scene.tree, start_points: &[], mistakes: false };
    while tally.judged() < count && made < 3 * count {
        made += TOGETHER.min(count);
        let start = scene.start(&mut generator.random);
        let zone = ZONES[generator.random.usize(..ZONES.len())];
        let mut cases = Vec::new();
        while cases.len() < TOGETHER.min(count) {
            let case = Case::make(&mut generator);
            if is_accepted(scene, &case, &mut tally) {
                cases.push(case);
            }
        }
        let mut together = vec![start.clone()];
        cases.iter().enumerate().for_each(|(number, case)| case.together(number, &mut together));
        let ran = scene.find(Side::Theirs, &together, zone);
        assert!(only_loops(&ran), "find says: {}", String::from_utf8_lossy(&ran.stderr));
        let read = |number: usize| std::fs::read(scene.room(Side::Theirs).join(number.to_string())).unwrap();
        let answers: Vec<Vec<u8>> = (0..cases.len()).map(read).collect();
        for (case, theirs) in cases.iter().zip(answers) {
            compare(scene, &Asked { case, start: &start, zone }, theirs, &mut tally);
        }
        if crate::is_long() {
            println!("{tally:?}");
        }
    }
    tally
}

/// Whether find accepts the expression of a case; if not, neither may we.
fn is_accepted(scene: &Scene, case: &Case, tally: &mut Tally) -> bool {
    let file = scene.file().into_os_string().into_encoded_bytes();
    if scene.find(Side::Theirs, &case.alone(&file), "UTC").status.success() {
        return true;
    }
    let root = scene.tree.entries[0].path.clone();
    let ours = scene.find(Side::Ours, &case.alone(&root), "UTC");
    match ours.status.code() {
        Some(2) => tally.refused += 1,
        _ => differ(tally, &case.alone(&root), "only find refuses it"),
    }
    false
}

/// Whether find complains of nothing but links to themselves.
fn only_loops(ran: &Output) -> bool {
    let is_loop =
        |line: &str| line.contains("Too many levels of symbolic links") || line.contains("warning: ");
    ran.status.success() || String::from_utf8_lossy(&ran.stderr).lines().all(is_loop)
}

fn differ(tally: &mut Tally, words: &[Vec<u8>], what: &str) {
    tally.differences += 1;
    let words: Vec<String> = words.iter().map(|word| format!("$'{}'", word.escape_ascii())).collect();
    println!("DIFFERENCE: find {}\n  {what}", words.join(" "));
}

/// A case, where it starts, and in which zone.
#[derive(Clone, Copy)]
struct Asked<'a> {
    case: &'a Case,
    start: &'a [u8],
    zone: &'a str,
}

/// Judges the code of our answer. True if the answer can be compared.
fn is_known(ours: &Output, words: &[Vec<u8>], tally: &mut Tally) -> bool {
    let errors = String::from_utf8_lossy(&ours.stderr);
    let reasons = ["back references", "no entry '", "no entry of the index has this name"];
    match ours.status.code() {
        Some(0) => return true,
        Some(1) if errors.contains("that lead to themselves") && errors.lines().count() == 1 => return true,
        Some(1) => tally.unknown += 1,
        _ if reasons.iter().any(|reason| errors.contains(reason)) => tally.unsupported += 1,
        _ => differ(tally, words, &format!("only we refuse it: {errors}")),
    }
    false
}

/// Compares the answers to a case. Ages depend on the moment, so answers that differ are asked for again, one
/// right after the other; then find may differ from us where our answers before and after it do.
fn compare(scene: &Scene, asked: &Asked<'_>, mut theirs: Vec<u8>, tally: &mut Tally) {
    let words = asked.case.alone(asked.start);
    let (mut paths, mut before) = (BTreeSet::new(), None::<Vec<u8>>);
    for _ in 0..3 {
        let ours = scene.find(Side::Ours, &words, asked.zone);
        if !is_known(&ours, &words, tally) {
            return;
        }
        let (one, other) = (records(&ours.stdout), records(&theirs));
        if one == other {
            tally.same += 1;
            tally.records += one.len();
            return;
        }
        let set = |records: Vec<Record<'_>>| records.into_iter().map(owned).collect::<BTreeSet<_>>();
        let [one, other] = [one, other].map(set);
        if let Some(before) = before.as_deref().map(|text| set(records(text))) {
            let is_aging = |record: &(Vec<u8>, Vec<u8>)| before.contains(record) != one.contains(record);
            if one.symmetric_difference(&other).all(is_aging) {
                tally.same += 1;
                return;
            }
        }
        paths = one.symmetric_difference(&other).map(|record| record.0.clone()).collect();
        theirs = scene.find(Side::Theirs, &words, asked.zone).stdout;
        before = Some(ours.stdout);
    }
    let changed = scene.changed();
    if paths.iter().all(|path| changed.iter().any(|other| is_about(path, other))) && !paths.is_empty() {
        tally.changed += 1;
        return;
    }
    let first = paths.first().map(|path| path.escape_ascii().to_string());
    differ(tally, &words, &format!("{} paths in zone {}, the first is {first:?}", paths.len(), asked.zone));
}

/// Whether a path, as find prints it, is the one that changed, or the directory that holds it.
fn is_about(path: &[u8], changed: &[u8]) -> bool {
    path_of(path) == path_of(changed) || path_of(changed).parent() == Some(path_of(path))
}

/// Compares whole commands until `count` of them were judged, or much more were made.
pub fn commands(scene: &Scene, seed: u64, count: usize) -> Tally {
    let (mut tally, mut made) = (Tally::default(), 0);
    let mut random = fastrand::Rng::with_seed(seed ^ 1);
    while tally.judged() < count && made < 10 * count {
        made += 1;
        let start = scene.start(&mut random);
        let points = [start.as_slice()];
        let (random, tree) = (random.fork(), &scene.tree);
        let words = Generator { random, tree, start_points: &points, mistakes: false }.command();
        // The order of the answers decides what these print.
        let is_ordered = |word: &Vec<u8>| matches!(word.as_slice(), b"-quit" | b"-ls" | b"-fls");
        if words.iter().any(is_ordered) {
            continue;
        }
        command(scene, &start, &words, &mut tally);
    }
    tally
}

/// The texts that a command wrote, in no order: lines and parts that end with NUL, by output.
fn pieces(scene: &Scene, side: Side, ran: &Output) -> Vec<(usize, Vec<u8>)> {
    let files = FILES.map(|name| std::fs::read(scene.room(side).join(name)).unwrap_or_default());
    let mut pieces = Vec::new();
    for (output, text) in files.iter().chain([&ran.stdout]).enumerate() {
        let parts = text.split(|byte| matches!(byte, 0 | b'\n'));
        pieces.extend(parts.map(|part| (output, part.to_vec())));
    }
    pieces.sort_unstable();
    pieces
}

/// Compares one command.
fn command(scene: &Scene, start: &[u8], words: &[Vec<u8>], tally: &mut Tally) {
    let zone = ZONES[words.len() % ZONES.len()];
    let mut difference = String::new();
    for attempt in 0..4 {
        let theirs = scene.find(Side::Theirs, words, zone);
        let ours = scene.find(Side::Ours, words, zone);
        if !only_loops(&theirs) {
            match ours.status.code() {
                Some(0) => differ(tally, words, "only find refuses it"),
                _ => tally.refused += 1,
            }
            return;
        }
        if !is_known(&ours, words, tally) {
            return;
        }
        let (one, other) = (pieces(scene, Side::Ours, &ours), pieces(scene, Side::Theirs, &theirs));
        if one == other {
            tally.same += 1;
            tally.records += one.len();
            return;
        }
        if attempt == 2 {
            let ordered = in_order(words);
            let theirs = scene.find(Side::Theirs, &ordered, zone);
            if pieces(scene, Side::Theirs, &theirs) == one {
                tally.reordered += 1;
                return;
            }
        }
        let [one, other] = [one, other].map(|pieces| pieces.into_iter().collect::<BTreeSet<_>>());
        let mut only = one.symmetric_difference(&other);
        difference =
            format!("{:?}", only.next().map(|(output, text)| (output, text.escape_ascii().to_string())));
    }
    match scene.changed().iter().any(|changed| path_of(changed).starts_with(path_of(start))) {
        true => tally.changed += 1,
        false => differ(tally, words, &difference),
    }
}
