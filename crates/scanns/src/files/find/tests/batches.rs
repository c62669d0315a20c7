//! Single pieces against GNU find in large numbers: shell patterns, regular expressions, modes, formats.

use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::super::Setting;
use super::generate::Generator;
use super::live::{LiveTree, has_find, ours, theirs};
use super::texts::{DIALECTS, PIECES};

/// A directory with entries for patterns.
struct Scene {
    _keeper: tempfile::TempDir,
    tree: LiveTree,
    seed: u64,
}

/// Makes a directory `t`, fills it and reads it; none where there is no find.
fn scene(fill: impl FnOnce(&Path, &mut fastrand::Rng)) -> Option<Scene> {
    if !has_find() {
        return None;
    }
    let seed =
        std::env::var("FIND_SEED").ok().map_or_else(|| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("seed: FIND_SEED={seed}");
    let keeper = tempfile::tempdir().unwrap();
    let directory: PathBuf = keeper.path().canonicalize().unwrap();
    let root = directory.join("t");
    fs::create_dir(&root).unwrap();
    fill(&root, &mut fastrand::Rng::with_seed(seed));
    LiveTree::read(&root, &directory);
    let tree = LiveTree::read(&root, &directory);
    Some(Scene { _keeper: keeper, tree, seed })
}

impl Scene {
    /// Compares a command: whether it is accepted, and what it prints. True where it is accepted.
    fn check(&self, words: &[&[u8]]) -> bool {
        let words: Vec<Vec<u8>> = [b"t"]
            .into_iter()
            .map(|word| word.to_vec())
            .chain(words.iter().map(|word| word.to_vec()))
            .collect();
        let expected = theirs(&self.tree, &words, &[], "UTC0");
        let setting = Setting { zone: jiff::tz::TimeZone::UTC, ..Setting::current() };
        let shown = || words.iter().map(|word| format!("$'{}' ", word.escape_ascii())).collect::<String>();
        match ours(&self.tree, &words, &setting) {
            Ok((outputs, _)) => {
                assert!(expected.is_success, "only find refuses: find {} {}", shown(), expected.errors);
                let [ours, theirs] = [&outputs, &expected.outputs]
                    .map(|outputs| outputs[&b"/dev/stdout"[..]].escape_ascii().to_string());
                assert_eq!(ours, theirs, "find {} seed {}", shown(), self.seed);
            }
            Err(error) if error.to_string().contains("back references") => {}
            Err(error) => assert!(!expected.is_success, "only we refuse: find {} {error}", shown()),
        }
        expected.is_success
    }
}

/// A text of letters that mean something to patterns.
fn text(random: &mut fastrand::Rng, alphabet: &[u8], longest: usize) -> Vec<u8> {
    (0..random.usize(1..=longest)).map(|_| alphabet[random.usize(..alphabet.len())]).collect()
}

#[test]
fn shell_patterns_match_as_fnmatch_does() {
    const TEXT: &[u8] = b"abAB-]![^.:=\\*?z\xe9/ ";
    const PATTERN: &[u8] = b"abAB-]]![[[^.:=\\*?z\xe9aab ";
    const PIECES: [&str; 14] = [
        "[a-b]",
        "[!a]",
        "[[:alpha:]]",
        "[[:upper:]]",
        "[[=a=]",
        "[[.a.]-b]",
        "[A-b]",
        "[^]a]",
        "[]-a]",
        "[[:",
        ":]",
        "[a\\]]",
        "*",
        "[--A]",
    ];
    let scene = scene(|root, random| {
        for number in 0..150 {
            let target = text(random, TEXT, 6);
            symlink(std::ffi::OsStr::from_bytes(&target), root.join(number.to_string())).unwrap();
        }
    });
    let Some(scene) = scene else { return };
    let mut random = fastrand::Rng::with_seed(scene.seed);
    for _ in 0..40 {
        let mut words: Vec<Vec<u8>> = Vec::new();
        for number in 0..100 {
            let mut pattern = text(&mut random, PATTERN, 5);
            if random.bool() {
                let piece = PIECES[random.usize(..PIECES.len())];
                let at = random.usize(..=pattern.len());
                pattern.splice(at..at, piece.bytes());
            }
            let test = [&b"-lname"[..], b"-ilname"][random.usize(..2)];
            let format = format!("{number}:%f\\n").into_bytes();
            words.extend([test, &pattern, b"-printf", &format, b","].map(<[u8]>::to_vec));
        }
        words.pop();
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        assert!(scene.check(&words));
    }
}

/// Whether an expression may repeat a group with an anchor: the GNU C library then forgets the anchor in the
/// copies, so `t(^a){,3}` matches `taa`.
fn repeats_anchor(expression: &[u8]) -> bool {
    let has_anchor = expression.iter().any(|byte| b"^$<>bB`'".contains(byte));
    let repeats = expression.windows(3).any(|part| part[0] == b')' && b"*+?{\\".contains(&part[1]));
    has_anchor
        && (repeats
            || expression.ends_with(b")*")
            || expression.ends_with(b")+")
            || expression.ends_with(b")?"))
}

/// Compares regular expressions of all dialects.
fn check_regexes(count: usize) {
    let scene = scene(|root, random| {
        for _ in 0..80 {
            let name = text(random, b"aabbAB01_-.+*?(){}|^$\\[] \n\xe9,", 6);
            let _ = File::create(root.join(std::ffi::OsStr::from_bytes(&name)));
        }
    });
    let Some(scene) = scene else { return };
    let mut random = fastrand::Rng::with_seed(scene.seed);
    let mut accepted = 0;
    for _ in 0..count {
        let dialect = DIALECTS[random.usize(..DIALECTS.len())].as_bytes();
        let mut expression = [&b"t/"[..], b".*", b".*/", b"", b"t."][random.usize(..5)].to_vec();
        for _ in 0..random.usize(1..6) {
            match random.u8(..4) {
                0 => expression.extend(text(&mut random, b"abAB01.*", 2)),
                1 => expression.extend(text(&mut random, b"ab.*+?(){}|^$\\[],1", 2)),
                _ => expression.extend(PIECES[random.usize(..PIECES.len())].bytes()),
            }
        }
        if repeats_anchor(&expression) {
            continue;
        }
        let test = [&b"-regex"[..], b"-iregex"][random.usize(..2)];
        accepted += usize::from(scene.check(&[b"-regextype", dialect, test, &expression, b"-print0"]));
    }
    println!("{accepted} of {count} regular expressions are accepted");
    assert!(accepted > count / 3);
}

#[test]
fn regular_expressions_match_as_in_every_regextype() {
    check_regexes(300);
}

#[test]
#[ignore = "takes half a minute"]
fn many_regular_expressions_match_as_in_every_regextype() {
    check_regexes(10_000);
}

#[test]
fn modes_match_as_chmod_reads_them() {
    let scene = scene(|root, random| {
        for number in 0..120 {
            let path = root.join(number.to_string());
            if number % 3 == 0 {
                fs::create_dir(&path).unwrap();
            } else {
                File::create(&path).unwrap();
            }
            let mode = random.u32(..0o10_000) & [0o7777, 0o755, 0o7000, 0o111][random.usize(..4)];
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
    });
    let Some(scene) = scene else { return };
    let mut generator = Generator {
        random: fastrand::Rng::with_seed(scene.seed),
        tree: &scene.tree,
        start_points: &[b"t"],
        mistakes: true,
    };
    let mut accepted = 0;
    for _ in 0..400 {
        let argument = generator.permission();
        accepted += usize::from(scene.check(&[b"-perm", &argument]));
    }
    assert!(accepted > 100, "{accepted} accepted");
}

#[test]
fn formats_print_as_in_find() {
    let scene = scene(|root, random| super::tree::build(&root.join("tree"), random.u64(..)));
    let Some(scene) = scene else { return };
    let mut generator = Generator {
        random: fastrand::Rng::with_seed(scene.seed),
        tree: &scene.tree,
        start_points: &[b"t"],
        mistakes: true,
    };
    let mut accepted = 0;
    for _ in 0..300 {
        let format = generator.format();
        accepted += usize::from(scene.check(&[b"-printf", &format]));
    }
    assert!(accepted > 100, "{accepted} accepted");
}
